#!/usr/bin/env python3
"""Checks that no two rooms define a function of the same name and parameters.

    check_twin_symbols.py BUILD_ROOT [NM]

Two such functions link only while something that no caller sees tells them apart, such as the ABI tag that GCC gives a
function for what it returns. Inline functions (weak symbols) may stand in any number of libraries. Prints each twin with
its libraries. Status 1: there is one; 99: this check does not work here.
"""
import pathlib
import re
import subprocess
import sys

# Sample: 0000000000000230 T nl::short_kernel_name[abi:cxx11](std::basic_string_view<char, std::char_traits<char> >)
SYMBOL = re.compile(r'^[0-9a-f]+ T (.+)$')
ABI_TAG = re.compile(r'\[abi:\w+\]')


def functions(listing):
    """What `nm -C --defined-only` calls an external function, without ABI tags."""
    for line in listing.splitlines():
        match = SYMBOL.match(line)
        if match and '(' in match.group(1):
            yield ABI_TAG.sub('', match.group(1))


def twins(listings):
    """{function: libraries} of those that more than one of {library: listing} defines."""
    where = {}
    for library, listing in listings.items():
        for function in functions(listing):
            where.setdefault(function, set()).add(library)
    return {function: sorted(libraries) for function, libraries in where.items() if len(libraries) > 1}


def self_test():
    listings = {
        'a': '0000000000000230 T nl::twin(int)\n0000000000000010 W nl::inlined()\n0000000000000020 t nl::hidden()\n'
             '0000000000000030 T nl::other(int)\n0000000000000040 T main\n',
        'b': '00000000000006c4 T nl::twin[abi:cxx11](int)\n0000000000000010 W nl::inlined()\n0000000000000020 t nl::hidden()\n'
             '0000000000000030 T nl::other(long)\n0000000000000040 T main\n',
    }
    return twins(listings) == {'nl::twin(int)': ['a', 'b']}


def main():
    root, nm = pathlib.Path(sys.argv[1]), (sys.argv[2:] or ['nm'])[0]
    libraries = sorted(path for path in root.rglob('libnl_*.a') if 'tests' not in path.relative_to(root).parts)
    listings = {path.name: subprocess.run([nm, '-C', '--defined-only', path], capture_output=True, text=True).stdout for path in libraries}
    if not self_test() or len(listings) < 4 or not all(any(functions(listing)) for listing in listings.values()):
        print(f'cannot tell: {", ".join(listings) or "no libnl_*.a"} under {root}')
        sys.exit(99)
    found = twins(listings)
    for function, names in sorted(found.items()):
        print(f'{function} is defined in {" and ".join(names)}')
    print(f'{len(listings)} libraries, {len(found)} functions defined twice')
    sys.exit(bool(found))


main()
