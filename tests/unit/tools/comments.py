"""Finds the comments of a source: C++, JavaScript, Python with its docstrings, shell scripts and meson.build."""
import io
import pathlib
import re
import sys
import tokenize

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'lint'))
import tree  # noqa: E402 (the folder of the lints is named above)

COMMENT = r'(?P<comment>//[^\n]*|/\*.*?\*/)'
# Each pattern takes what may hold the sign of a comment first, so that a URL in a string stays a string.
CPP = re.compile(r'R"(?P<end>[^(\s]*)\(.*?\)(?P=end)"' r'|"(?:\\.|[^"\\\n])*"' r"|(?<!\w)'(?:\\.|[^'\\\n])+'|" + COMMENT, re.DOTALL)
SCRIPT = re.compile(r'"(?:\\.|[^"\\\n])*"' r"|'(?:\\.|[^'\\\n])*'" r'|`(?:\\.|[^`\\])*`'
                    r'|(?:[(,=:?&|!]|return)\s*/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/|' + COMMENT, re.DOTALL)
SHELL = re.compile(r"<<-?\s*(?P<quote>['\"]?)(?P<end>\w+)(?P=quote).*?\n\s*(?P=end)\n" r'|\\.' r"|'''.*?'''|'[^']*'" r'|"(?:\\.|[^"\\])*"'
                   r'|(?:(?<=\s)|^)(?P<comment>\#[^\n]*)', re.DOTALL | re.MULTILINE)
PATTERNS = {'.cpp': CPP, '.h': CPP, '.hpp': CPP, '.c': CPP, '.cu': CPP, '.cuh': CPP, '.js': SCRIPT, '.ts': SCRIPT, '.build': SHELL, '.sh': SHELL}


def of_python(text):
    """(line, text) of each comment, and of each string that is a statement, which is how Python writes a docstring."""
    begins = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and begins):
            yield token.start[0], token.string
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            begins = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def comments(text, kind):
    """(line, words) of each line of a comment, without its sign. The kind is a suffix, or '' of a shell script."""
    if kind == '.py':
        found = of_python(text)
    else:
        matches = PATTERNS.get(kind, SHELL).finditer(text)
        found = ((text.count('\n', 0, match.start('comment')) + 1, match['comment']) for match in matches if match['comment'])
    for number, comment in found:
        for line in comment.splitlines():
            yield number, line.strip().lstrip('/*#"\' ')
            number += 1


def sources(root):
    """(path, kind) of each file whose comments are read."""
    for path in tree.files(root):
        if path.suffix in PATTERNS or path.suffix == '.py':
            yield path, path.suffix
        elif not path.suffix and tree.interpreter(path).startswith('python'):
            yield path, '.py'
        elif not path.suffix and tree.interpreter(path) in ('bash', 'sh', 'dash'):
            yield path, ''


SAMPLES = {
    '.cpp': 'int a = 1\'000;  // one\nauto b = "http://no", c = \'"\';  /* two\n   three */\nauto d = R"x(// no ")" )x";  // four \'\n',
    '.js': 'const a = "//no", b = `//no`, c = /["/]/.test(a);  // one\n/** two */ f(a / 2, "http://no");\nlet d = a / b;  // three\n',
    '.py': '"""one\n  two"""\nA = "# no"  # three\ndef f():\n    \'four\'\n    return "no"\n',
    '': '#!/bin/sh\na="# no" b=${c#no} d=\\"  # one\ncat <<\'END\'\n# no, it\'s text\nEND\nprintf \'# no\'  # two\n',
    '.build': "a = '# no'  # one's\n# two\n",
}
EXPECTED = {'.cpp': [(1, 'one'), (2, 'two'), (3, 'three */'), (4, "four '")], '.js': [(1, 'one'), (2, 'two */'), (3, 'three')],
            '.py': [(1, 'one'), (2, 'two"""'), (3, 'three'), (5, "four'")], '': [(1, '!/bin/sh'), (2, 'one'), (6, 'two')],
            '.build': [(1, "one's"), (2, 'two')]}


def self_test():
    for kind, text in SAMPLES.items():
        assert list(comments(text, kind)) == EXPECTED[kind], (kind, list(comments(text, kind)))
