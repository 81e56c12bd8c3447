#!/usr/bin/env python3
"""Reads tables of facts with the readers that others publish: crafted ones, and those that `nl-stage facts` makes of the fixtures.

    check_readers.py NL_STAGE CRAFTED_TABLES SOURCE_ROOT

SQLite and CSV are read with Python's own modules. Parquet and Arrow need what tools/fetch-table-readers has fetched; where node or they are missing the
test is skipped after that: it says why and ends with status 77.
"""

import csv
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

NL_STAGE, CRAFTED, ROOT = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
RUNS = ('h200-llama', 'h200-llava', 'every_value', 'kineto', 'onnxruntime')
MOST_KIB = 300 * 1024  # a million rows are 130 MB


def skip(reason):
    print(f'SKIPPED: {reason}')
    sys.exit(77)


def check(found, expected, what):
    if found != expected:
        sys.exit(f'{what}: found {str(found)[:300]}, expected {str(expected)[:300]}')


def number(text):
    return None if text == '' else int(text)


def check_crafted(folder):
    done = subprocess.run([CRAFTED, folder], check=True, capture_output=True, text=True)
    if int(done.stdout) > MOST_KIB:
        sys.exit(f'writing a million rows took {int(done.stdout) // 1024} MiB')
    expected = json.loads((folder / 'hard.json').read_text())
    database = sqlite3.connect(folder / 'facts.sqlite')
    for name in ('words', 'real', 'never'):
        check([row[0] for row in database.execute(f'SELECT {name} FROM hard ORDER BY rowid')], expected[name], f'SQLite: {name}')
    check([row[0] if row[0] is None else str(row[0]) for row in database.execute('SELECT whole FROM hard ORDER BY rowid')], expected['whole'], 'SQLite: whole')
    check(database.execute('SELECT count(*), count(half), sum(number) FROM large').fetchone(), (1000000, 500000, 499999500000), 'SQLite: large')
    check(database.execute('SELECT count(*) FROM empty').fetchone(), (0,), 'SQLite: empty')
    csv.field_size_limit(1 << 24)
    with open(folder / 'hard.csv', newline='', encoding='utf-8') as file:
        rows = list(csv.DictReader(file))
    check([row['words'] or None for row in rows], [text or None for text in expected['words']], 'CSV: words')
    check([row['whole'] or None for row in rows], expected['whole'], 'CSV: whole')


# With an id of its own: those of goldens are the same.
def run_named(name, folder):
    run = json.loads((ROOT / 'tests/fixtures/golden' / name / 'run.json').read_text())
    file = folder / f'{name}.json'
    file.write_text(json.dumps(run | {'run_id': name}))
    return file


def check_of_runs(folder):
    runs = [run_named(name, folder) for name in RUNS]
    environment = os.environ | {'NL_STAGE_LEDGER': 'off'}
    for table_format in ('csv', 'arrow', 'sqlite', 'parquet'):
        words = [NL_STAGE, 'facts', *runs, '--format', table_format, '--out', folder, '--json']
        done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
        check(done.returncode, 0, f'facts --format {table_format}: {done.stderr}')
        facts = json.loads(done.stdout)
        check(facts['runs'], len(RUNS), 'runs')
        (folder / 'facts.json').write_text(done.stdout)
    database = sqlite3.connect(folder / 'facts.sqlite')
    for table in facts['tables']:
        with open(folder / f'{table["name"]}.csv', newline='', encoding='utf-8') as file:
            rows = list(csv.DictReader(file))
        check(database.execute(f'SELECT count(*) FROM {table["name"]}').fetchone(), (table['rows'],), f'SQLite: rows of {table["name"]}')
        check(len(rows), table['rows'], f'CSV: rows of {table["name"]}')
        for column in table['columns']:
            if column['type'] == 'integer':
                values = [row[0] for row in database.execute(f'SELECT "{column["name"]}" FROM {table["name"]} ORDER BY rowid')]
                check([number(row[column['name']]) for row in rows], values, f'{table["name"]}.{column["name"]}')


def main():
    with tempfile.TemporaryDirectory(prefix='nl-stage-tables-') as name:
        crafted, of_runs = pathlib.Path(name) / 'crafted', pathlib.Path(name) / 'runs'
        crafted.mkdir()
        of_runs.mkdir()
        check_crafted(crafted)
        check_of_runs(of_runs)
        node = shutil.which('node') or skip('no node; tools/setup --lint installs it')
        fetched = subprocess.run([ROOT / 'tools/fetch-table-readers', '--cached'], capture_output=True, text=True, check=False).stdout.strip()
        readers = fetched or skip('no readers of Parquet and Arrow; tools/fetch-table-readers fetches them')
        sys.exit(subprocess.run([node, pathlib.Path(__file__).parent / 'readers.mjs', readers, crafted, of_runs], check=False).returncode)


if __name__ == '__main__':
    main()
