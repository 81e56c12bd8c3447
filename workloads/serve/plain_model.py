"""A LLaMA-like decoder in plain Python, so small that a decode step of one request takes about a millisecond or two.

Each token is computed by itself, in the same order of additions whatever else is in the batch: outputs never depend on it.
"""

import math
import random
from operator import mul

from words import BYTES

WIDTH, LAYERS, HEADS, KV_HEADS, HEAD, FEED = 32, 2, 4, 2, 8, 64
VOCABULARY = 512
EPSILON = 1e-5


def matvec(matrix, vector):
    return [sum(map(mul, row, vector)) for row in matrix]


def rms_norm(vector, weights):
    scale = 1 / math.sqrt(sum(map(mul, vector, vector)) / len(vector) + EPSILON)
    return [value * weight * scale for value, weight in zip(vector, weights)]


def add(left, right):
    return [a + b for a, b in zip(left, right)]


def silu(value):
    return value / (1 + math.exp(-value)) if value > -60 else 0.0


def rotate(heads, cosines, sines):
    """RoPE: each head as pairs (i, i + half)."""
    half = HEAD // 2
    rotated = []
    for at in range(0, len(heads), HEAD):
        first, second = heads[at : at + half], heads[at + half : at + HEAD]
        rotated.extend(a * c - b * s for a, b, c, s in zip(first, second, cosines, sines))
        rotated.extend(a * s + b * c for a, b, c, s in zip(first, second, cosines, sines))
    return rotated


def softmax(scores):
    highest = max(scores)
    powers = [math.exp(score - highest) for score in scores]
    total = sum(powers)
    return [power / total for power in powers]


class Layer:
    def __init__(self, matrix):
        self.query = matrix(HEADS * HEAD, WIDTH)
        self.key = matrix(KV_HEADS * HEAD, WIDTH)
        self.value = matrix(KV_HEADS * HEAD, WIDTH)
        self.out = matrix(WIDTH, HEADS * HEAD)
        self.gate, self.up = matrix(FEED, WIDTH), matrix(FEED, WIDTH)
        self.down = matrix(WIDTH, FEED)
        self.attention_norm = self.feed_norm = [1.0] * WIDTH


class PlainModel:
    facts = {"device": "cpu", "vocabulary": VOCABULARY, "graphs": []}

    def __init__(self, settings):
        numbers = random.Random(settings["seed"])

        def matrix(rows, columns):
            return [[numbers.gauss(0, columns**-0.5) for _ in range(columns)] for _ in range(rows)]

        self.embedding = [[numbers.gauss(0, 1) for _ in range(WIDTH)] for _ in range(VOCABULARY)]
        self.layers = [Layer(matrix) for _ in range(LAYERS)]
        self.norm = [1.0] * WIDTH
        self.head = matrix(VOCABULARY - BYTES, WIDTH)
        self.block_tokens = settings["block_tokens"]
        # Of each layer and key-value head: blocks of (key, value).
        self.cache = [[[[None] * self.block_tokens for _ in range(settings["blocks"])] for _ in range(KV_HEADS)] for _ in range(LAYERS)]
        self.rotations = [self._rotation(position) for position in range(settings["context_tokens"])]

    def prepare(self, entries):
        return [(entry, list(enumerate(entry.tokens, entry.start))) for entry in entries]

    def forward(self, batch):
        """The logits of the entries that sample, by id."""
        logits = {}
        for entry, tokens in batch:
            for position, token in tokens:
                hidden = self._token(token, position, entry.blocks)
            if entry.samples:
                logits[entry.id] = matvec(self.head, rms_norm(hidden, self.norm))
        return logits

    def sample(self, logits):
        return {id: BYTES + row.index(max(row)) for id, row in logits.items()}

    @staticmethod
    def padded(batch):
        return None

    @staticmethod
    def _rotation(position):
        angles = [position * 10000 ** (-2 * i / HEAD) for i in range(HEAD // 2)]
        return [math.cos(angle) for angle in angles], [math.sin(angle) for angle in angles]

    def _token(self, token, position, blocks):
        hidden = self.embedding[token]
        for layer, cache in zip(self.layers, self.cache):
            hidden = add(hidden, matvec(layer.out, self._attention(layer, cache, rms_norm(hidden, layer.attention_norm), position, blocks)))
            normed = rms_norm(hidden, layer.feed_norm)
            gated = [silu(gate) * up for gate, up in zip(matvec(layer.gate, normed), matvec(layer.up, normed))]
            hidden = add(hidden, matvec(layer.down, gated))
        return hidden

    def _attention(self, layer, cache, normed, position, blocks):
        cosines, sines = self.rotations[position]
        queries = rotate(matvec(layer.query, normed), cosines, sines)
        keys = rotate(matvec(layer.key, normed), cosines, sines)
        values = matvec(layer.value, normed)
        block, place = divmod(position, self.block_tokens)
        used = blocks[: block + 1]
        attended = []
        for head, pages in enumerate(cache):
            at = head * HEAD
            pages[blocks[block]][place] = keys[at : at + HEAD], values[at : at + HEAD]
            seen = [pair for page in used for pair in pages[page]][: position + 1]
            columns = list(zip(*(value for _, value in seen)))
            for query_head in range(head * HEADS // KV_HEADS, (head + 1) * HEADS // KV_HEADS):
                query = [number * HEAD**-0.5 for number in queries[query_head * HEAD : (query_head + 1) * HEAD]]
                weights = softmax([sum(map(mul, query, key)) for key, _ in seen])
                attended.extend(sum(map(mul, weights, column)) for column in columns)
        return attended
