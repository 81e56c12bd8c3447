#!/usr/bin/env python3
"""Writes pickles of data, and beside each what Python's own pickle.load() reads out of it, in one spelling.

    pickle_oracle.py FOLDER FIXTURES
"""
import pathlib
import pickle
import random
import struct
import sys


def spelled(value):
    if value is None:
        return 'N'
    if isinstance(value, bool):
        return 'T' if value else 'F'
    if isinstance(value, int):
        return f'i{value}' if -(1 << 63) <= value < 1 << 63 else 'I' + pickle.encode_long(value).hex()
    if isinstance(value, float):
        return 'f' + struct.pack('>d', value).hex()
    if isinstance(value, str):
        return 's' + value.encode('utf-8', 'surrogatepass').hex()
    if isinstance(value, bytes):
        return 'b' + value.hex()
    if isinstance(value, dict):
        return '{' + ''.join(f'{spelled(key)}:{spelled(part)},' for key, part in value.items()) + '}'
    opening, closing = '[]' if isinstance(value, list) else '()'
    return opening + ''.join(spelled(part) + ',' for part in value) + closing


def grown(dice, depth):
    kind = dice.randrange(6 if depth == 0 else 10)
    if kind == 0:
        return dice.choice([None, True, False])
    if kind == 1:
        return dice.choice([1, -1]) * dice.getrandbits(dice.choice([1, 7, 8, 15, 16, 31, 32, 62, 63, 64, 65, 127, 128, 2039, 2048, 3000]))
    if kind == 2:
        return dice.choice([0.0, -0.0, 1.5, 1e308, 5e-324, float('inf'), dice.random()])
    if kind == 3:
        return ''.join(dice.choice('aé漢🙂\x00\n') for _ in range(dice.choice([0, 1, 20, 255, 256, 300])))
    if kind in (4, 5):
        return bytes(dice.getrandbits(8) for _ in range(dice.choice([0, 3, 255, 256, 700])))
    if kind == 6:
        return tuple(grown(dice, depth - 1) for _ in range(dice.randrange(6)))
    if kind == 7:
        shared = [grown(dice, depth - 1)]
        return [shared, grown(dice, depth - 1), shared, tuple(shared)]
    if kind == 8:
        return {dice.choice(['a', 'b', 7, 2.5, (1, 'x'), None]): grown(dice, depth - 1) for _ in range(dice.randrange(6))}
    return [grown(dice, depth - 1) for _ in range(dice.choice([0, 1, 5, 1001]) if depth == 1 else dice.randrange(5))]


def has_bytes(value):
    """Protocol 2 has no opcode for bytes: Python calls a function to make them, which is refused."""
    parts = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else []
    return isinstance(value, bytes) or any(map(has_bytes, parts))


def main():
    folder, fixtures = map(pathlib.Path, sys.argv[1:])
    sys.path.insert(0, str(fixtures / 'collectives'))
    import make_dumps
    pickles, dice = {}, random.Random(36)
    for number in range(60):
        value = grown(dice, 4)
        for protocol in range(3 if has_bytes(value) else 2, 6):
            pickles[f'{number}-{protocol}'] = pickle.dumps(value, protocol=protocol)
    for name, scene in make_dumps.SCENES.items():
        job = scene(4)
        for rank in job.entries:
            for form in ('torch', '2', '3', '4', '5'):
                pickles[f'{name}-{rank}-{form}'] = make_dumps.written(job.dump(rank), form)
    pickles['long-memo'] = make_dumps.TorchPickler().whole([f'text {i}' for i in range(700)] * 2)
    for name, data in pickles.items():
        (folder / (name + '.pickle')).write_bytes(data)
        (folder / (name + '.told')).write_text(spelled(pickle.loads(data)))


main()
