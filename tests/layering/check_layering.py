#!/usr/bin/env python3
"""Checks which way the doors between the rooms open: who may include whom.

    check_layering.py SOURCE_ROOT

Prints each forbidden #include as file:line and ends with status 1 if there is one.
"""
import pathlib
import re
import sys
import tempfile

# room -> rooms whose headers it may include, besides its own. The table of DESIGN.md.
ALLOWED = {
    'model': set(),
    'nvtx': set(),
    'parsers': {'model'},
    'analysis': {'model'},
    'exporters': {'model'},
    'collector': {'nvtx'},
    'workloads': {'nvtx'},
    'adapters': {'model', 'nvtx'},
    'orchestrator': {'model', 'nvtx', 'parsers', 'analysis', 'exporters', 'adapters', 'collector'},
    'cli': {'model', 'nvtx', 'parsers', 'analysis', 'exporters', 'adapters', 'collector', 'orchestrator'},
}
# Single headers that are a contract between two rooms.
SHARED_HEADERS = {
    'parsers': {'collector/trace_format.h', 'nvtx/names.h'},  # and which marks are a clock
    'analysis': {'nvtx/names.h'},  # which names are stages
}
SOURCES = {'.cpp', '.h', '.hpp', '.cu', '.cuh', '.in', '.c'}
# Sample: #include "model/trace.h"
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def room_of(include, includer, root):
    """The room an include leads to, or None where it is no file of ours."""
    for candidate in (root / include, includer.parent / include):
        if candidate.exists():
            return candidate.resolve().relative_to(root).parts[0]
    first = include.split('/')[0]  # a generated header, or one that is not there yet
    return first if '/' in include and first in ALLOWED else None


def violations(root):
    root = root.resolve()
    checked = 0
    found = []
    for room, allowed in ALLOWED.items():
        for path in sorted((root / room).rglob('*')) if (root / room).is_dir() else []:
            if path.suffix not in SOURCES:
                continue
            checked += 1
            for number, line in enumerate(path.read_text(errors='replace').splitlines(), 1):
                match = INCLUDE.match(line)
                target = room_of(match.group(1), path, root) if match else None
                if target is None or target == room or target in allowed:
                    continue
                if match.group(1) not in SHARED_HEADERS.get(room, set()):
                    found.append(f'{path.relative_to(root)}:{number}: {room} must not include {match.group(1)}')
    return checked, found


def self_test():
    """A tree with one good and three bad includes: a check that finds nothing would be worth nothing."""
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, text in {
            'model/trace.h': '#include <vector>\n#include "parsers/csv.h"\n',
            'parsers/csv.h': '#include "model/trace.h"\n#include "collector/trace_format.h"\n',
            'parsers/csv.cpp': '#include "../analysis/stats.h"\n',
            'analysis/stats.h': '#include "model/trace.h"\n#include "exporters/not_there_yet.h"\n',
        }.items():
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_text(text)
        checked, found = violations(root)
        where = [line.split(': ')[0] for line in found]
        assert checked == 4 and where == ['model/trace.h:2', 'parsers/csv.cpp:1', 'analysis/stats.h:2'], found


def main():
    self_test()
    checked, found = violations(pathlib.Path(sys.argv[1]))
    print('\n'.join(found) if found else f'{checked} files, no forbidden include')
    sys.exit(1 if found or checked == 0 else 0)


main()
