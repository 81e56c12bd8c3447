#!/usr/bin/env python3
"""The documentation does not drift: every configuration key is described, every relative link leads somewhere, pages, rules, help and
comments use the words of docs/glossary.md, and what keeps each promise of a number is known."""
import pathlib
import re
import sys

import comments
import promises

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGES = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', ROOT / 'tests/fixtures/README.md', *sorted((ROOT / 'docs').rglob('*.md'))]


def undocumented_keys():
    # Sample: {NL_KEY(run, mode), …    {NL_KEY_AS("nsys.export.sqlite", nsys, sqlite), …    {"model.layers", …
    source = (ROOT / 'orchestrator/config/keys.cpp').read_text()
    keys = [f'{section}.{field}' for section, field in re.findall(r'NL_KEY\((\w+), (\w+)\),\s', source)]
    keys += re.findall(r'(?:NL_KEY_AS|text|whole|number|numbers)\(\s*"([\w.]+)"', source) + re.findall(r'"(model\.[\w.]+)"', source)
    keys = list(dict.fromkeys(keys))
    assert len(keys) > 50, keys
    page = (ROOT / 'docs/configuration.md').read_text()
    documented = set(re.findall(r'^\| `([a-z_]+\.[\w.]+)` \|', page, re.MULTILINE))
    yield from (f'docs/configuration.md lacks {key}' for key in keys if key not in documented)
    yield from (f'docs/configuration.md describes {key}, which is gone' for key in sorted(documented - set(keys)))


def undocumented_formats():
    # Sample: extern const Format kOrtFormat = {.name = "ort",
    names = [name for source in sorted((ROOT / 'parsers').glob('*/*.cpp')) for name in re.findall(r'\.name = "(\w+)"', source.read_text())]
    assert len(names) > 5, names
    pages = ''.join(page.read_text() for page in PAGES)
    yield from (f'no page describes import --{name}' for name in names if not re.search(rf'--{name}\b', pages))


def dead_links():
    # Sample: [the bundle](docs/bundle.md#files)
    for page in PAGES:
        for target in re.findall(r'\]\(([^)#\s]+)[^)]*\)', page.read_text()):
            if '://' not in target and not (page.parent / target).exists():
                yield f'{page.relative_to(ROOT)}: no such file: {target}'


# What nl-stage does not say -> what it says instead.
FOREIGN_WORDS = {
    r'\bmend(s|ed|ing)?\b': 'fix: one word for the remedy of errors, doctor lines and findings',
    r'^ *hint:': 'fix: the same',
    r'\bas wholes\b|\btraced as a whole\b|\bthe graph as a whole\b': 'captured at graph level (kernels inside not visible)',
    r'\bspoke up\b|\brules? speaks?\b': 'finding: "No findings"',
    r'\bby the middle\b|\bin the middle; between\b': 'median',
    r'\bpric(e|es|ed)\b': 'overhead',
    r'\bwhat (it|tracing|profiling|each profiler) costs?\b|\btells? (its|the) cost\b': 'overhead',
    r'\bfitted to the tools\b': 'adjustments for this machine',
    r'\b(a|no) (window|pass|stream|range) of its own\b|\bpasses of their own\b': 'separate',
    r'\bweigh(s|ed|ing)?\b': 'compare; weight stays the name of a number',
    r'\bstopwatch\b': 'timing of stages',
    r'\bbare (run|runs|pass|passes)\b(?! \|)': 'unprofiled run',
    r'\b(could|can) ?not be told\b|\bnothing can be (told|said)\b': 'a range, or "not known" with the key that gives it',
    r'\bstood still\b|\bstands still\b': 'idle',
    r'\bgets? the word\b|\bat its word\b': 'plain words',
    r'\bno figure\b': 'no estimate',
    r'\bnobody\b|\bwhoever\b|\banybody\b': 'name who or what',
    r'\bhas nothing to do\b': 'idle',
    r'\bwill do\b|\bwould do\b': 'is enough, works',
}

# Comments refuse one more.
FOREIGN_IN_COMMENTS = {**FOREIGN_WORDS, r'\blikewise\b': 'the fact again, or "the same for …"'}


def quoted_names_removed(lines):
    """The (number, text) pairs without `names` of files, keys and fields."""
    return ((number, re.sub(r'`[^`]*`', '', line)) for number, line in lines)


def said(path):
    """The lines of a file that users read: all of a page and of a YAML file, of a source its string literals."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if path.suffix == '.cpp':
            line = ' '.join(re.findall(r'"((?:[^"\\]|\\.)*)"', line)) if not line.startswith('#include') else ''
        yield number, line


def refused(words, lines, path):
    """A line for each foreign word in the (number, text) pairs of a file."""
    for number, line in lines:
        for word, instead in words.items():
            if found := re.search(word, line, re.IGNORECASE):
                yield f'{path.relative_to(ROOT)}:{number}: "{found.group().strip()}": say {instead}'


def foreign_words():
    for path in [*PAGES, ROOT / 'CHANGELOG.md', *sorted((ROOT / 'conf').rglob('*.yaml')), *sorted((ROOT / 'cli').glob('*.cpp'))]:
        yield from refused(FOREIGN_WORDS, quoted_names_removed(said(path)), path)


def foreign_words_in_comments():
    comments.self_test()
    planted = list(comments.comments('auto a = "likewise";  // likewise\nint b;  // `nobody` said it\n// Nobody did.\n', '.cpp'))
    assert len(list(refused(FOREIGN_IN_COMMENTS, quoted_names_removed(planted), ROOT))) == 2, planted
    sources = list(comments.sources(ROOT))
    assert len(sources) > 1000, len(sources)
    for path, kind in sources:
        lines = quoted_names_removed(comments.comments(path.read_text(), kind))
        yield from refused(FOREIGN_IN_COMMENTS, lines, path)


def commands_in_rules():
    # A fixed text cannot know whether that very command was just tried; abstentions build theirs from the run.
    for path in sorted((ROOT / 'conf/rules').glob('*.yaml')):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if re.search(r'nl-stage (run|import|report)\b', line):
                yield f'{path.relative_to(ROOT)}:{number}: names a command; say what to look at'


def unkept_promises():
    promises.self_test(ROOT)
    yield from promises.faults(ROOT, PAGES)


def main():
    faults = [*undocumented_keys(), *undocumented_formats(), *dead_links(), *foreign_words(), *foreign_words_in_comments(), *commands_in_rules(),
              *unkept_promises()]
    print('\n'.join(faults) or f'{len(PAGES)} pages')
    sys.exit(bool(faults))


main()
