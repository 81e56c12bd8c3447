"""Which files the checks of this folder look at: what git tracks and what it would track, by kind."""
import os
import pathlib
import re
import shutil
import subprocess


def files(root):
    """Paths of all files below root, without what git ignores. Where git does not answer, without build folders."""
    if (root / '.git').exists() and shutil.which('git'):
        listed = subprocess.run(['git', '-C', root, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], capture_output=True, text=True)
        if listed.returncode == 0:
            paths = [root / name for name in sorted(set(listed.stdout.split('\0'))) if name]
            return [path for path in paths if path.is_file() and not path.is_symlink()]
    found = []
    for folder, folders, names in os.walk(root):
        if 'build.ninja' in names:
            folders[:] = names[:] = []
        folders[:] = sorted(name for name in folders if name not in ('.git', '.cache', '__pycache__', 'dist', 'artifacts'))
        found += [pathlib.Path(folder) / name for name in sorted(names)]
    return [path for path in found if path.is_file() and not path.is_symlink()]


def interpreter(path):
    """'bash' of a file that begins with #!/usr/bin/env bash, '' of one that names none."""
    with path.open('rb') as file:
        match = re.match(rb'#!\s*\S*?([\w.-]+)(?:\s+(\S+))?\s*$', file.readline(200))
    if not match:
        return ''
    program, argument = match.groups()
    return (argument if program == b'env' and argument else program).decode()


def cpp(root):
    return [path for path in files(root) if path.suffix in ('.cpp', '.h', '.hpp', '.cu', '.cuh')]


def python(root):
    return [path for path in files(root) if path.suffix == '.py' or (not path.suffix and interpreter(path).startswith('python'))]


def shell(root):
    return [path for path in files(root) if path.suffix in ('', '.sh') and interpreter(path) in ('bash', 'sh', 'dash')]


def skip(why):
    """Ends a check that cannot run here. Meson takes 77 for skipped, and tools/tally repeats the line."""
    print(f'SKIPPED: {why}')
    raise SystemExit(77)
