"""The tokenizer: a known word with the space before it is a token, everything else is its UTF-8 bytes. Decoding gives the text back."""

import codecs
import itertools
import re

BYTES = 256  # tokens 0 to 255; the model writes none of them

COMMON = """
a about after again all also an and any are as ask at away back be because been before begin best better big book both bring but by call came can
change city come could day did do does down each end even every fact far few find first follow food for found free from full gave get give go good
great green group had hand hard has have he hear hello help her here high him his home house how if in into is it its just keep kind know large last
learn left less let letter life light like line list little live long look made make man many may me mean more most move much must my name near need
never new next night no not now number of off often old on once one only open or other our out over own page part people place play point prompt put
question quick read right river road run said same saw say sea see she short should show small so some soon sound space start still stop story such
sun take talk tell test text than that the them then there these they thing think this those three through time to token too tree true try two under
until up us use very wait want was water way we well went were what when where which while white who why will with word work world would write year
yes you your
""".split()


def _made_up():
    """tabada, tabade, …: as many as a vocabulary may want."""
    syllables = [consonant + vowel for consonant in "tkpdbgmnlrsvz" for vowel in "aeiou"]
    for count in itertools.count(2):
        for parts in itertools.product(syllables, repeat=count):
            yield "".join(parts)


class Vocabulary:
    def __init__(self, size):
        words = dict.fromkeys(COMMON)
        for word in _made_up():
            if len(words) >= size - BYTES:
                break
            words.setdefault(word)
        self._bytes = [bytes([byte]) for byte in range(BYTES)] + [f" {word}".encode() for word in words]
        self._token_of = {f" {word}": token for token, word in enumerate(words, BYTES)}

    def __len__(self):
        return len(self._bytes)

    def encode(self, text):
        tokens = []
        for piece in re.findall(r" ?[a-z]+|.", text, re.DOTALL):
            token = self._token_of.get(piece)
            if token is None:
                tokens.extend(piece.encode("utf-8", "replace"))
            else:
                tokens.append(token)
        return tokens

    def decode(self, tokens):
        detokeniser = Detokeniser(self)
        return "".join(map(detokeniser.text_of, tokens))

    def bytes_of(self, token):
        return self._bytes[token]


class Detokeniser:
    """Of one request: a character may need the bytes of several tokens."""

    def __init__(self, vocabulary):
        self._vocabulary = vocabulary
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def text_of(self, token):
        return self._decoder.decode(self._vocabulary.bytes_of(token))
