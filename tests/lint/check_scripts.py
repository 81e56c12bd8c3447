#!/usr/bin/env python3
"""Checks that every shell script parses, is executable, and passes shellcheck.

    check_scripts.py SOURCE_ROOT

Without shellcheck the rest is checked, and that part counts as skipped.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import tree


def faults(path, shellcheck):
    """What is wrong with one script."""
    if not os.access(path, os.X_OK):
        yield 'is not executable'
    parsed = subprocess.run(['bash', '-n', path], capture_output=True, text=True)
    if parsed.returncode:
        yield f'does not parse: {parsed.stderr.strip()}'
    if shellcheck:
        done = subprocess.run([shellcheck, '--format=gcc', path], capture_output=True, text=True)
        yield from (done.stdout or done.stderr).splitlines() if done.returncode else []


def self_test(shellcheck):
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for file, text, mode in (('good', '#!/bin/sh\necho "$1"\n', 0o755), ('plain', '#!/usr/bin/env bash\ntrue\n', 0o644),
                                 ('torn', '#!/bin/bash\nif true\n', 0o755), ('unquoted', '#!/bin/bash\nrm $1\n', 0o755),
                                 ('other', '#!/usr/bin/env python3\n', 0o644), ('data', 'no script\n', 0o644)):
            (root / file).write_text(text)
            (root / file).chmod(mode)
        bad = [path.name for path in tree.shell(root) if list(faults(path, shellcheck))]
        assert bad == ['plain', 'torn'] + ['unquoted'] * bool(shellcheck), bad


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    shellcheck = shutil.which('shellcheck')
    self_test(shellcheck)
    scripts = tree.shell(root)
    bad = [f'{path.relative_to(root)}: {fault}' for path in scripts for fault in faults(path, shellcheck)]
    print('\n'.join(bad) or f'{len(scripts)} scripts')
    if not shellcheck:
        print('SKIPPED: no shellcheck here (package shellcheck; tools/setup --lint installs it)')
    failed = bool(bad) or len(scripts) < 5
    print(f'nl-tests: {int(not failed)} passed, {int(failed)} failed, {int(not shellcheck)} skipped')
    sys.exit(failed)


main()
