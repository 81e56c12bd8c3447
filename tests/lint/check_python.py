#!/usr/bin/env python3
"""Checks that ruff finds nothing in Python, by the rules of ruff.toml; scripts without a suffix included.

    check_python.py SOURCE_ROOT

tools/fetch-ruff names the ruff: a program, or its WebAssembly module, which node runs. Neither here: skipped (status 77).
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import tree

# The module has no command line: it takes the settings as an object, and one file's text at a time.
ASK_MODULE = '''
const fs = require('fs');
const {Workspace, PositionEncoding} = require(process.argv[1]);
const {settings, files} = JSON.parse(fs.readFileSync(0, 'utf8'));
const workspace = new Workspace(settings, PositionEncoding.Utf32);
for (const file of files)
  for (const {code, message, start_location: at} of workspace.check(fs.readFileSync(file, 'utf8')))
    console.log(`${file}:${at.row}:${at.column}: ${code ?? 'syntax'} ${message}`);
'''


def find_ruff(root):
    found = subprocess.run([root / 'tools/fetch-ruff', '--cached'], capture_output=True, text=True)
    return found.stdout.strip() if found.returncode == 0 else None


def settings(root):
    try:
        import tomllib
    except ImportError:
        tree.skip('the settings of ruff are read by Python 3.11 or newer')
    return tomllib.loads((root / 'ruff.toml').read_text())


def findings(ruff, root, paths):
    """The lines `file:line:column: code message` that ruff prints."""
    if ruff.endswith('.js'):
        asked = json.dumps({'settings': settings(root), 'files': [str(path) for path in paths]})
        done = subprocess.run([shutil.which('node') or 'nodejs', '-e', ASK_MODULE, ruff], input=asked, capture_output=True, text=True)
        failed = done.returncode != 0
    else:
        done = subprocess.run([ruff, 'check', '--quiet', '--no-cache', '--output-format=concise', '--config', root / 'ruff.toml', *paths],
                              capture_output=True, text=True)
        failed = done.returncode > 1
    if failed:
        raise SystemExit(f'{ruff} failed: {done.stderr[:2000]}')
    return done.stdout.splitlines()


def self_test(ruff, root):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, text in {'good.py': 'print(1)\n', 'unused.py': 'import os\n', 'script': '#!/usr/bin/env python3\nprint(nowhere)\n',
                           'torn.py': 'def f(:\n', 'data.txt': 'import os\n', 'shell': '#!/bin/sh\n'}.items():
            (folder / file).write_text(text)
        lines = findings(ruff, root, tree.python(folder))
        found = {(line.split(':')[0].rsplit('/', 1)[-1], line.split()[1].rstrip(':')) for line in lines}
        assert {('unused.py', 'F401'), ('script', 'F821')} <= found and {file for file, _ in found} == {'unused.py', 'script', 'torn.py'}, lines


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    ruff = find_ruff(root)
    if not ruff:
        tree.skip('no ruff here (tools/fetch-ruff fetches it where npm and node are)')
    self_test(ruff, root)
    paths = tree.python(root)
    lines = findings(ruff, root, paths)
    print('\n'.join(lines).replace(f'{root}/', '') or f'{len(paths)} files')
    sys.exit(bool(lines) or not paths)


main()
