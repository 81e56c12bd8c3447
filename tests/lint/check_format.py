#!/usr/bin/env python3
"""Checks that clang-format 19 would change no file of ours.

    check_format.py SOURCE_ROOT          prints the files that it would change; status 1 if there is one
    check_format.py SOURCE_ROOT --fix    formats them

Versions differ in what they do, so only 19 is asked: clang-format-19, or a clang-format of that version. Where neither is
here the check is skipped (status 77).
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import tree

VERSION = '19'
# Sample: model/run.h:31:2: error: code should be clang-formatted [-Wclang-format-violations]
FAULT = re.compile(r'^(.+?):\d+:\d+: error: code should be clang-formatted', re.MULTILINE)


def find_formatter():
    for name in (f'clang-format-{VERSION}', 'clang-format'):
        program = shutil.which(name)
        # Sample: Debian clang-format version 19.1.7 (3+b1)
        said = subprocess.run([program, '--version'], capture_output=True, text=True).stdout if program else ''
        if re.search(rf'version {VERSION}\.', said):
            return program
    return None


def unformatted(formatter, paths):
    """Those of the paths that the formatter would change."""
    jobs = os.cpu_count() or 1
    parts = [part for part in (paths[start::jobs] for start in range(jobs)) if part]

    def ask(part):
        done = subprocess.run([formatter, '--dry-run', '-Werror', *part], capture_output=True, text=True)
        found = FAULT.findall(done.stderr)
        if done.returncode and not found:
            raise SystemExit(f'{formatter} failed: {done.stderr[:2000]}')
        return found

    with concurrent.futures.ThreadPoolExecutor() as pool:
        return sorted({pathlib.Path(name) for names in pool.map(ask, parts) for name in names})


def self_test(formatter, root):
    """A check that finds nothing, or that --fix does not satisfy, would be worth nothing."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copy(root / '.clang-format', folder)
        good, bad = folder / 'good.cpp', folder / 'bad.h'
        good.write_text('int f(int a) { return a; }\n')
        bad.write_text('int  f( int a )\n{\n        return a;\n}\n')
        assert unformatted(formatter, [good, bad]) == [bad]
        subprocess.run([formatter, '-i', bad], check=True)
        assert unformatted(formatter, [good, bad]) == [] and bad.read_text() == good.read_text()


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    formatter = find_formatter()
    if not formatter:
        tree.skip(f'no clang-format {VERSION} here (package clang-format-{VERSION}; tools/setup --lint installs it)')
    self_test(formatter, root)
    paths = tree.cpp(root)
    found = unformatted(formatter, paths)
    # A second pass may move a comment that the first one moved: twice is what it takes to be stable.
    for _ in range(2 if found and '--fix' in sys.argv else 0):
        subprocess.run([formatter, '-i', *found], check=True)
    if '--fix' in sys.argv:
        print(f'{len(paths)} files, {len(found)} formatted')
        return
    for path in found:
        print(f'{path.relative_to(root)}: not as clang-format {VERSION} leaves it')
    if found:
        print('fix: python3 tests/lint/check_format.py . --fix')
    else:
        print(f'{len(paths)} files')
    sys.exit(bool(found) or not paths)


main()
