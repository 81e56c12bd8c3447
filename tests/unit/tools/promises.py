"""Promises of a number in the documentation ("at most 2 %", "within 2 s"), each with what keeps it in docs/promises.json:

    kept_by, there    a source or test, and the text in it that holds the number: code enforces it
    measured, limit   what was measured (a number, or both ends of its interval), by which program (by), on what and when

A promise that has no entry, an entry whose text is gone on either side, and a measurement above its limit are faults."""
import json
import re

NUMBER = r'\d[\d,.]*\d|\d'
PROMISE = re.compile(rf'\b(?:(?:at|no|not|never) (?:most|more than)|within|stays (?:under|below)) (?:{NUMBER}) ?(?:%|[mµn]?s\b|[kMG]B\b)', re.IGNORECASE)


def lines_of(page):
    """The (number, text) pairs of the lines that are not the output of a program."""
    fenced = False
    for number, line in enumerate(page.splitlines(), 1):
        if line.startswith('```'):
            fenced = not fenced
        elif not fenced and not line.startswith('    '):
            yield number, line


def fault_of(entry, root):
    """What is wrong with an entry; empty: nothing."""
    if not PROMISE.search(entry['says']):
        return 'is no promise of a number'
    if entry['says'] not in (root / entry['page']).read_text():
        return f'is not in {entry["page"]} any more'
    keeper = root / entry.get('kept_by', entry.get('by', ''))
    if not keeper.exists():
        return f'has no {keeper.relative_to(root)}'
    if 'kept_by' in entry:
        return '' if entry['there'] in keeper.read_text() else f'is not kept by {entry["kept_by"]}: no "{entry["there"]}" there'
    measured = entry['measured'] if isinstance(entry['measured'], list) else [entry['measured']]
    if not re.search(rf'\b{entry["limit"]:g}\b', entry['says']) or not entry['on'] or not re.fullmatch(r'\d{4}-\d\d-\d\d', entry['date']):
        return 'names another limit, or no machine and day'
    return '' if max(measured) <= entry['limit'] else f'is broken: {max(measured)} {entry["unit"]} was measured'


def faults(root, pages):
    entries = json.loads((root / 'docs/promises.json').read_text())
    for entry in entries:
        if fault := fault_of(entry, root):
            yield f'docs/promises.json: "{entry["says"]}" {fault}'
    for page in pages:
        kept = [entry['says'] for entry in entries if root / entry['page'] == page]
        for number, line in lines_of(page.read_text()):
            for found in PROMISE.finditer(line):
                if not any(found.group() in says and says in line for says in kept):
                    yield f'{page.relative_to(root)}:{number}: "{found.group()}" has no entry in docs/promises.json that says what keeps it'


def self_test(root):
    entry = {'page': 'docs/marks.md', 'says': 'samples at most 2 %', 'measured': [0.7, 2.0], 'limit': 2, 'unit': '%', 'by': 'bench/overhead', 'on': 'x',
             'date': '2026-11-16'}
    assert fault_of(entry, root) == '', fault_of(entry, root)
    assert 'broken' in fault_of({**entry, 'measured': [0.7, 2.1]}, root)
    assert 'any more' in fault_of({**entry, 'says': 'samples at most 7 %'}, root)
    assert 'another limit' in fault_of({**entry, 'limit': 3}, root)
    kept = {'page': 'docs/marks.md', 'says': 'samples at most 2 %', 'kept_by': 'bench/overhead', 'there': 'LIMIT_SAMPLES = 1.02'}
    assert fault_of(kept, root) == '' and 'not kept' in fault_of({**kept, 'there': 'LIMIT_SAMPLES = 1.03'}, root)
    assert [line for _, line in lines_of('a\n```\nat most 1 s\n```\n    at most 2 s\nb')] == ['a', 'b']
