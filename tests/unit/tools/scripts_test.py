#!/usr/bin/env python3
"""Every shell script parses, is executable, and passes shellcheck where that is installed."""
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
FOLDERS = ['tools', '.ci', 'bench', 'workloads', 'tests/fixtures/probe', 'tests/integration', 'tests/manual']


def shell_scripts():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob('*')) if (ROOT / folder).is_dir() else []:
            if path.is_file():
                with path.open('rb') as file:
                    first = file.readline()
                if first.startswith(b'#!') and (b'bash' in first or first.rstrip().endswith(b'/sh')):
                    yield path


def main():
    scripts = list(shell_scripts())
    assert len(scripts) >= 5, scripts
    bad = [f'{path} is not executable' for path in scripts if not os.access(path, os.X_OK)]
    bad += [f'{path} does not parse' for path in scripts if subprocess.run(['bash', '-n', path]).returncode]
    if shutil.which('shellcheck'):
        bad += [f'{path}: shellcheck' for path in scripts if subprocess.run(['shellcheck', path]).returncode]
    print('\n'.join(bad) or f'{len(scripts)} scripts')
    sys.exit(bool(bad))


main()
