#!/usr/bin/env python3
"""Checks that what a header declares is used: a function or type that only its own definition or a test names is dead.

    check_dead_code.py SOURCE_ROOT

Searches for identifiers, so it knows no overload resolution: two functions of one name are told apart by how many
arguments they take. Prints each dead declaration as file:line. Status 1: there is one; 99: this check does not work.
"""
import pathlib
import re
import sys
import tempfile

ROOMS = ['model', 'nvtx', 'parsers', 'analysis', 'exporters', 'adapters', 'collector', 'orchestrator', 'runs', 'query', 'servers', 'load', 'cli', 'workloads']
HEADERS, SOURCES = {'.h', '.hpp', '.cuh'}, {'.cpp', '.cu', '.h', '.hpp', '.cuh'}
ALLOWED = {
    'nvtx/nl_nvtx.hpp': 'the header that other programs include',
}
# Words in comments and literals are not code; the ' of 10'000 does not begin a literal.
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\[^\'\n]*\'?|[^\'\\\n]{1,4})\'', re.DOTALL)
NAME = re.compile(r'\b[A-Za-z_]\w*\b')
TEMPLATE_ARGUMENTS, TYPE_MARK = re.compile(r'<[^<>]*>$'), re.compile(r'[^\s>&*-][>&*]+$')
TYPE = re.compile(r'\b(?:class|struct|enum class|enum)\s+(?:alignas\([^)]*\)\s*)?([A-Za-z_]\w*)\s*(?:final\s*)?[{:]')
# Words that may stand before a call, where else the word before a name is its type and makes it a declaration.
BEFORE_CALL = {'return', 'else', 'case', 'throw', 'co_return', 'co_await', 'co_yield', 'do', 'new', 'delete', 'and', 'or', 'not',
               'requires', 'if', 'while', 'switch', 'sizeof'}
KEYWORDS = BEFORE_CALL | {'for', 'catch', 'operator', 'noexcept', 'decltype', 'alignas', 'static_assert', 'void', 'bool', 'int',
                          'char', 'double', 'float', 'explicit', 'using', 'defined', 'static_cast', 'alignof', 'constexpr', 'auto'}


def code_of(path):
    """The text without comments, a 0 in place of each literal, every line where it was."""
    return NO_CODE.sub(lambda match: ' 0'[match.group()[0] != '/'] + '\n' * match.group().count('\n'), path.read_text(errors='replace'))


def closing(text, start):
    """Where the bracket at `start` is closed."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in '([{') - (text[at] in ')]}')
        if depth == 0:
            return at
    return len(text)


def split(text):
    """The parts between commas that no bracket encloses; the < of `a < b` is not a bracket, that of `map<a, b>` is."""
    parts, depth, part = [], 0, ''
    for at, char in enumerate(text):
        opens = char in '([{' or (char == '<' and at > 0 and not text[at - 1].isspace())
        closes = char in ')]}' or (char == '>' and at > 0 and not text[at - 1].isspace() and text[at - 1] != '-')
        depth = max(0, depth + opens - closes)
        if char == ',' and depth == 0:
            parts, part = parts + [part], ''
        else:
            part += char
    return [each for each in parts + [part] if each.strip()]


def before_space(text, end):
    """Where the white space that ends at `end` begins."""
    while end > 0 and text[end - 1].isspace():
        end -= 1
    return end


def word_before(text, end):
    """The word that ends at `end`, or ''."""
    start = end
    while start > 0 and (text[start - 1].isalnum() or text[start - 1] == '_'):
        start -= 1
    return text[start:end]


def is_declaration(text, start):
    """Whether a type stands before the name, and before the class that qualifies it."""
    end = before_space(text, start)
    while text.endswith('::', 0, end):
        end = before_space(text, end - 2)
        if text.endswith('>', 0, end) and (arguments := TEMPLATE_ARGUMENTS.search(text, max(0, end - 400), end)):
            end = arguments.start()
        end = before_space(text, end - len(word_before(text, end)))
    if word := word_before(text, end):
        return word not in BEFORE_CALL
    return bool(TYPE_MARK.search(text, max(0, end - 40), end))  # `Type& name(`, but `left & name(` and `left->name(`


def is_own(text, start, name):
    """Whether this is a constructor, a destructor or the definition of a member of the class `name`: they do not use it."""
    if text[start - 1:start] == '~':
        return True
    end = before_space(text, start)
    if end < start and word_before(text, end) == 'explicit':
        return True
    return text.endswith('::', 0, end) and word_before(text, before_space(text, end - 2)) == name


class Use:
    """One place where a name stands: how many arguments it is called with, None where it is not called."""

    def __init__(self, arguments):
        self.arguments = arguments

    def fits(self, least, most):
        return self.arguments is None or least <= self.arguments <= most


def look_through(text, header):
    """Yields (name, offset, (least, most) arguments) of declarations and (name, offset, Use) of uses."""
    types = {match.start(1) for match in TYPE.finditer(text)}
    for match in NAME.finditer(text):
        name, start, end = match.group(), match.start(), match.end()
        if name in KEYWORDS:
            continue
        if start in types:
            yield name, start, (0, 99) if header else None
            continue
        after = text[end:end + 1]
        if is_own(text, start, name) or (text[end:end + 2] == '::' and is_declaration(text, start)):
            continue
        if after == '(' and is_declaration(text, start):
            parameters = split(text[end + 1:closing(text, end)])
            most = 99 if any('...' in each for each in parameters) else len(parameters)
            # What overrides is called by the name of what it overrides, perhaps in another's library.
            overrides = re.match(r'[\s\w]*\boverride\b', text[closing(text, end) + 1:closing(text, end) + 80])
            yield name, start, (sum('=' not in each for each in parameters), most) if header and not overrides else None
        else:
            yield name, start, Use(len(split(text[end + 1:closing(text, end)])) if after == '(' else None)


def dead(root):
    declared, uses = [], {}
    for room in ROOMS:
        for path in sorted((root / room).rglob('*')) if (root / room).is_dir() else []:
            if path.suffix not in SOURCES:
                continue
            text, place = code_of(path), path.relative_to(root).as_posix()
            for name, start, what in look_through(text, path.suffix in HEADERS):
                if isinstance(what, Use):
                    uses.setdefault(name, []).append(what)
                elif what is not None and place not in ALLOWED:
                    declared.append((name, what, f'{place}:{text.count(chr(10), 0, start) + 1}'))
    return len(declared), [f'{where}: {name} is used nowhere' for name, (least, most), where in declared
                           if not any(use.fits(least, most) for use in uses.get(name, []))]


def self_test():
    """Whether what is dead in a small tree is found, and nothing else."""
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, text in {
            'model/a.h': 'int used(int a, std::map<int, int> b = {});\nint lonely();\nint twice(int a);\nint twice(int a, int b);\n'
                         'class Live {\n  int ask() const { return 1; } void told(int a) const noexcept override;\n  int never() { return 2; }\n};\n'
                         'class Idle {\n  explicit Idle(int);\n  int go();\n};\nint tested();\n',
            'model/a.cpp': '// lonely()\nint lonely() { return used(1); }\nint Idle::go() { return 0; }\nint twice(int a) { return a; }\n'
                           'int twice(int a, int b) {\n  return twice(a + b); }\n',
            'cli/b.cpp': 'int main() { Live live; return live.ask() + twice(1) + b(live) & used(2); }\n',
            'tests/c.cpp': 'int check() { return tested(); }\n',
        }.items():
            (root / path).parent.mkdir(exist_ok=True)
            (root / path).write_text(text)
        where = [line.split(': ')[0] for line in dead(root)[1]]
        return where == ['model/a.h:2', 'model/a.h:4', 'model/a.h:7', 'model/a.h:9', 'model/a.h:11', 'model/a.h:13']


def main():
    count, found = dead(pathlib.Path(sys.argv[1]).resolve())
    if count == 0 or not self_test():
        print(f'cannot tell: {count} declarations found')
        sys.exit(99)
    print('\n'.join(found) or f'{count} declarations, all in use')
    sys.exit(bool(found))


main()
