#!/usr/bin/env python3
"""Checks which way the doors between the rooms open: who may include whom.

    check_layering.py SOURCE_ROOT

Prints each forbidden #include as file:line, and each circle of folders that include each other, with an include for every
step of it. Ends with status 1 if there is one.
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
    'runs': {'model', 'nvtx', 'parsers', 'analysis', 'exporters', 'adapters', 'collector', 'orchestrator'},
    'query': {'model', 'nvtx', 'parsers', 'analysis', 'exporters', 'orchestrator', 'runs'},
    'servers': {'model', 'nvtx', 'parsers', 'analysis', 'exporters', 'orchestrator', 'runs', 'query'},
    'load': {'model', 'parsers', 'exporters'},
    'cli': {'model', 'nvtx', 'parsers', 'analysis', 'exporters', 'adapters', 'collector', 'orchestrator', 'runs', 'query', 'servers', 'load'},
}
# room -> its floors, the lowest first. Folders of one floor do not include each other; files of the room itself stand above all.
FLOORS = {
    'analysis': [['statistics'], ['trace'], ['ranks'], ['staging'], ['account'], ['replay'], ['figures'], ['verdicts', 'nsys_stats', 'runs', 'load']],
}
# Single headers that are a contract between two rooms.
SHARED_HEADERS = {
    'parsers': {'collector/trace_format.h', 'collector/launchers.h',  # and what tells a process its rank
                'nvtx/names.h', 'nvtx/engine_steps.h'},  # which marks are a clock, how large a step is
    'analysis': {'nvtx/names.h', 'nvtx/engine_steps.h', 'nvtx/engine_processes.h',
                 'collector/counters/peer_kernels.h'},  # which names are stages, and which kernels are never counted
}
SOURCES = {'.cpp', '.h', '.hpp', '.cu', '.cuh', '.in', '.c'}
# Sample: #include "model/trace.h"
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def target_of(include, includer, root):
    """The file an include leads to, relative to the root, or None where it is not a file of ours."""
    for candidate in (root / include, includer.parent / include):
        if candidate.exists():
            return candidate.resolve().relative_to(root)
    # A generated header, or one that is not there yet
    return pathlib.Path(include) if '/' in include and include.split('/')[0] in ALLOWED else None


def includes(root):
    """(file, line number, file it includes) of all rooms, relative to the root; (file, 0, None) once for each file."""
    for room in ALLOWED:
        for path in sorted((root / room).rglob('*')) if (root / room).is_dir() else []:
            if path.suffix not in SOURCES:
                continue
            yield path.relative_to(root), 0, None
            for number, line in enumerate(path.read_text(errors='replace').splitlines(), 1):
                match = INCLUDE.match(line)
                target = target_of(match.group(1), path, root) if match else None
                if target is not None:
                    yield path.relative_to(root), number, target


def floor_of(path):
    """The number of the floor a file stands on within its room; above all where it is the room's own file."""
    floors = FLOORS.get(path.parts[0], [])
    for number, floor in enumerate(floors):
        if path.parts[1] in floor:
            return number
    return len(floors)


def allows(path, target):
    room, other = path.parts[0], target.parts[0]
    if room != other:
        return other in ALLOWED[room] or target.as_posix() in SHARED_HEADERS.get(room, set())
    if room not in FLOORS or floor_of(path) > floor_of(target):
        return True
    return floor_of(path) == floor_of(target) and (path.parts[1] == target.parts[1] or floor_of(path) == len(FLOORS[room]))


def circles(edges):
    """The sets of folders that reach each other along {folder: folders it includes}, each sorted."""
    def reached(start):
        seen, todo = set(), [start]
        while todo:
            for folder in edges.get(todo.pop(), ()):
                if folder not in seen:
                    seen.add(folder)
                    todo.append(folder)
        return seen

    reach = {folder: reached(folder) for folder in edges}
    found = {frozenset(other for other in reach[folder] if folder in reach.get(other, ())) for folder in edges if folder in reach[folder]}
    return sorted(sorted(each) for each in found)


def violations(root):
    root = root.resolve()
    checked, found, edges = 0, [], {}
    for path, number, target in includes(root):
        if target is None:
            checked += 1
            continue
        if not allows(path, target):
            found.append(f'{path}:{number}: {path.parts[0]} must not include {target} here')
        if path.parent != target.parent and len(target.parts) > 1:
            edges.setdefault(path.parent.as_posix(), {}).setdefault(target.parent.as_posix(), f'{path}:{number} includes {target}')
    for circle in circles(edges):
        found.append(f'a circle of folders: {", ".join(circle)}')
        found += [f'  {why}' for folder in circle for other, why in sorted(edges[folder].items()) if other in circle]
    return checked, found


def self_test():
    """A tree with good and bad includes: a check that finds nothing would be worth nothing."""
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, text in {
            'model/trace.h': '#include <vector>\n#include "parsers/csv.h"\n',
            'parsers/csv.h': '#include "model/trace.h"\n#include "collector/trace_format.h"\n',
            'parsers/csv.cpp': '#include "../analysis/trace/calls.h"\n',
            'analysis/trace/calls.h': '#include "model/trace.h"\n#include "exporters/not_there_yet.h"\n',
            'analysis/account/sweep.h': '#include "analysis/trace/calls.h"\n#include "analysis/verdicts/rules.h"\n',
            'analysis/verdicts/rules.h': '#include "analysis/runs/gate.h"\n',
            'analysis/runs/gate.h': '',
            'cli/a/one.h': '#include "cli/b/two.h"\n',
            'cli/b/two.h': '#include "cli/b/three.h"\n',
            'cli/b/three.h': '#include "cli/a/one.h"\n',
        }.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        checked, found = violations(root)
        assert checked == 10 and [line.split(': ')[0] for line in found] == [
            'model/trace.h:2', 'parsers/csv.cpp:1', 'analysis/account/sweep.h:2', 'analysis/trace/calls.h:2', 'analysis/verdicts/rules.h:1',
            'a circle of folders', '  analysis/trace/calls.h:1 includes model/trace.h', '  model/trace.h:2 includes parsers/csv.h',
            '  parsers/csv.cpp:1 includes analysis/trace/calls.h', '  parsers/csv.h:1 includes model/trace.h',
            'a circle of folders', '  cli/a/one.h:1 includes cli/b/two.h', '  cli/b/three.h:1 includes cli/a/one.h'], (checked, found)


def main():
    self_test()
    checked, found = violations(pathlib.Path(sys.argv[1]))
    print('\n'.join(found) if found else f'{checked} files, no forbidden include')
    sys.exit(1 if found or checked == 0 else 0)


if __name__ == '__main__':
    main()
