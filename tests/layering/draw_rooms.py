#!/usr/bin/env python3
"""Draws the rooms and the path through them from the tables of check_layering.py and the folders of the tree.

    draw_rooms.py SOURCE_ROOT           fails where docs/rooms.svg is another picture, or docs/development.md leaves out a folder
    draw_rooms.py SOURCE_ROOT --write   writes docs/rooms.svg
"""
import pathlib
import sys

from check_layering import ALLOWED, FLOORS

PATH = [('conf/*.yaml', ''), ('Config', 'load'), ('Plan', 'plan'), ('Capture', 'execute'), ('Evidence', 'read'), ('Run', 'analyse'), ('files', 'write')]
PICTURE = 'docs/rooms.svg'
TITLE = 'Rooms of nl-stage, and the path from configuration to files'
LEGEND = ('A room may include those below it that tests/layering lists. '
          'The folders of analysis/ stand on floors: each includes only lower ones.')
STYLE = ('rect{fill:none;stroke:#888}path{fill:none;stroke:#888}text{font-family:sans-serif;fill:#888}'
         '.room{font-size:15px;font-weight:bold}.small{font-size:12px}')
WIDTH, MARGIN, GAP, LINE, LETTER = 1180, 20, 14, 17, 6.6
SUFFIXES = {'.cpp', '.h', '.hpp', '.cu', '.py', '.js'}


def folders(root, room):
    """Folders of a room that have sources in them, or below them, down to the second."""
    found = {path.relative_to(root / room).parent.parts[:2] for path in (root / room).rglob('*') if path.suffix in SUFFIXES}
    return sorted({'/'.join(parts[:depth]) for parts in found for depth in range(1, len(parts) + 1)} - {''})


def levels():
    """The rooms by height: each stands above all that it includes."""
    def height(room):
        return 1 + max((height(below) for below in ALLOWED[room]), default=-1)

    by_height = {}
    for room in ALLOWED:
        by_height.setdefault(height(room), []).append(room)
    return [by_height[each] for each in sorted(by_height, reverse=True)]


def lines_of(root, room, most):
    """What stands in a room's box: its floors from the top, else its folders."""
    names = [name for name in folders(root, room) if '/' not in name]
    if room not in FLOORS:
        return wrapped(names, most)
    inner = {name: [each.split('/')[1] for each in folders(root, room) if each.startswith(name + '/')] for name in names}
    return [line for floor in reversed(FLOORS[room]) for name in floor for line in
            wrapped([name + (':' if inner[name] else '')] + inner[name], most)]


def wrapped(words, most):
    lines = []
    for word in words:
        if lines and len(lines[-1]) + len(word) + 1 <= most:
            lines[-1] += ' ' + word
        else:
            lines.append(word)
    return lines


def text(x, y, words, style):
    return f'<text x="{x}" y="{y}" class="{style}">{words}</text>'


def box(x, y, width, height):
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'


def draw_path(y):
    step = (WIDTH - 2 * MARGIN) // len(PATH)
    parts = []
    for i, (noun, verb) in enumerate(PATH):
        x = MARGIN + i * step
        parts += [box(x, y, step - 50, 34), text(x + 10, y + 22, noun, 'room')]
        if verb:
            parts += [f'<path d="M{x - 46} {y + 17}H{x - 6}m-6 -5l6 5l-6 5"/>', text(x - 47, y + 10, verb, 'small')]
    return parts


def picture(root):
    parts, y = draw_path(MARGIN), MARGIN + 34 + 2 * GAP
    for rooms in levels():
        width = (WIDTH - 2 * MARGIN - GAP * (len(rooms) - 1)) // len(rooms)
        lines = [lines_of(root, room, int((width - 20) / LETTER)) for room in rooms]
        height = 30 + LINE * max(map(len, lines))
        for i, room in enumerate(rooms):
            x = MARGIN + i * (width + GAP)
            parts += [box(x, y, width, height), text(x + 10, y + 19, room + '/', 'room')]
            parts += [text(x + 10, y + 19 + LINE * (n + 1), line, 'small') for n, line in enumerate(lines[i])]
        y += height + GAP
    parts.append(text(MARGIN, y + 8, LEGEND, 'small'))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 20}" role="img" aria-label="{TITLE}">'
    return '\n'.join([head, f'<style>{STYLE}</style>', *parts, '</svg>', ''])


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    made = picture(root)
    if '--write' in sys.argv:
        (root / PICTURE).write_text(made)
        return
    faults = [] if (root / PICTURE).read_text() == made else [f'{PICTURE} is not the picture of these rooms: tests/layering/draw_rooms.py . --write']
    page = (root / 'docs/development.md').read_text()
    named = [(room, name) for room in ALLOWED for name in folders(root, room)]
    faults += [f'docs/development.md does not name {room}/{name}' for room, name in named if f'{name.split("/")[-1]}/' not in page]
    print('\n'.join(faults) or f'{len(named)} folders, all in the picture and on the page')
    sys.exit(1 if faults or not named else 0)


if __name__ == '__main__':
    main()
