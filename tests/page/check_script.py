#!/usr/bin/env python3
"""Checks the modules of report.html's script: their types, their lint, their unit tests.

    check_script.py types|lint|unit

Run by Meson. tsc and eslint are those that tools/fetch-page-tools has fetched, tsc also one in PATH.
Where node or a tool is missing the check is skipped: it says why and ends with status 77. Else the last line is
`nl-tests: N passed, N failed, N skipped`, as tools/tally wants it.
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / 'exporters/report/html'
OLDEST_NODE = (18, 15)  # the first whose test runner has reporters


def skip(reason):
    print(f'SKIPPED: {reason}')
    sys.exit(77)


def finish(passed, failed, skipped=0):
    print(f'nl-tests: {passed} passed, {failed} failed, {skipped} skipped')
    sys.exit(1 if failed else 0)


def node():
    program = shutil.which('node') or shutil.which('nodejs')
    if not program:
        skip('no node; tools/setup --lint installs it')
    said = subprocess.check_output([program, '--version'], text=True).strip()
    version = tuple(int(part) for part in re.match(r'v(\d+)\.(\d+)', said).groups())
    if version < OLDEST_NODE:
        skip(f'node {said} is older than {OLDEST_NODE[0]}.{OLDEST_NODE[1]}')
    return program


def tool(path):
    """node's command line for a tool that was fetched; None: there is none."""
    folder = subprocess.run([ROOT / 'tools/fetch-page-tools', '--cached'], capture_output=True, text=True, check=False).stdout.strip()
    return [node(), f'{folder}/node_modules/{path}'] if folder else None


def run(command):
    return subprocess.run(command, cwd=PAGE, check=False).returncode == 0


def check_types():
    command = tool('typescript/bin/tsc') or [shutil.which('tsc') or skip('no tsc; tools/fetch-page-tools fetches it')]
    finish(*((1, 0) if run([*command, '--project', '.']) else (0, 1)))


def check_lint():
    command = tool('eslint/bin/eslint.js') or skip('no eslint; tools/fetch-page-tools fetches it')
    finish(*((1, 0) if run([*command, '--max-warnings', '0', '.']) else (0, 1)))


def check_unit():
    files = sorted(str(path.relative_to(PAGE)) for path in PAGE.glob('js/**/*.test.js'))
    assert len(files) > 5, files
    done = subprocess.run([node(), '--conditions=test', '--test', '--test-reporter=tap', *files], cwd=PAGE, capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr, sep='')
    # Sample: # pass 78
    counts = {name: int(number) for name, number in re.findall(r'^# (pass|fail|cancelled|skipped) (\d+)$', done.stdout, re.MULTILINE)}
    failed = counts.get('fail', 0) + counts.get('cancelled', 0)
    finish(counts.get('pass', 0), failed or int(done.returncode != 0), counts.get('skipped', 0))


{'types': check_types, 'lint': check_lint, 'unit': check_unit}[sys.argv[1]]()
