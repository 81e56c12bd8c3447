#!/usr/bin/env python3
"""Checks that every room that is named is there: in the table of check_layering.py and under "Rooms" of CONTRIBUTING.md.

    check_rooms.py SOURCE_ROOT

Prints each room that is not, and ends with status 1 if there is one; with 99 where it found no rooms at all.
"""
import ast
import pathlib
import re
import sys


def rooms_of_table(text):
    """The keys of the ALLOWED of check_layering.py."""
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.Assign) and statement.targets[0].id == 'ALLOWED':
            return [key.value for key in statement.value.keys]
    return []


def rooms_of_page(text):
    # Sample: - **Rooms.** `parsers`, `analysis` … know `model` and never each other; a test
    #           (`tests/layering`) checks it. …
    rule = re.search(r'^- \*\*Rooms\.\*\*(.*?)^- ', text, re.MULTILINE | re.DOTALL)
    return re.findall(r'`([\w/]+)`', rule.group(1)) if rule else []


def main():
    root = pathlib.Path(sys.argv[1])
    named = {
        'tests/layering/check_layering.py': rooms_of_table((root / 'tests/layering/check_layering.py').read_text()),
        'CONTRIBUTING.md': rooms_of_page((root / 'CONTRIBUTING.md').read_text()),
    }
    if not all('parsers' in rooms for rooms in named.values()):
        print(f'cannot tell which rooms are named: {named}')
        sys.exit(99)
    missing = [f'{page} names the room {room}, which is not there' for page, rooms in named.items() for room in rooms
               if not (root / room).is_dir()]
    print('\n'.join(missing) or 'every room that is named is there')
    sys.exit(bool(missing))


main()
