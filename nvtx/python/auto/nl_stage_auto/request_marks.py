"""The requests of an inference engine as marks, in the vocabulary of workloads/serve/README.md.

    request queued id=81985529216486
    step index=41 requests=81985529216486:prefill:512,20015998341120:decode:1

An id is a hash of the engine's own, 48 bits, so that all processes of an engine make the same without asking each other.
"""

import functools
import hashlib
import itertools
import re
import threading

_MOST_MARK_BYTES = 4000  # the collector keeps 4096 bytes of a string
_MOST_FOLLOWED = 100_000  # requests at a time: an engine that we do not see the end of must not fill the memory
_NAME = re.compile(r"[A-Za-z0-9_.:/@+-]{1,128}")


@functools.lru_cache(maxsize=65536)
def id_of(key):
    """key: the engine's own id; a number stays as it is."""
    if isinstance(key, int):
        return key
    return int.from_bytes(hashlib.blake2b(str(key).encode("utf-8", "replace"), digest_size=6).digest(), "big")


class _Followed:
    __slots__ = ("preemptions", "waits", "written")

    def __init__(self):
        self.preemptions = self.written = 0
        self.waits = True  # to be scheduled


def step_texts(index, entries):
    """entries: [(the engine's id, "prefill" or "decode", tokens)]. Several texts where one would be too long."""
    room = _MOST_MARK_BYTES - len(f"step index={index} part=999/999 requests=")
    parts, length = [[]], 0
    for key, kind, tokens in entries:
        item = f"{id_of(key)}:{kind}:{tokens}"
        if length + len(item) > room and parts[-1]:
            parts.append([])
            length = 0
        parts[-1].append(item)
        length += len(item) + 1
    if len(parts) == 1:
        return [f"step index={index} requests={','.join(parts[0])}"]
    return [f"step index={index} part={number}/{len(parts)} requests={','.join(part)}" for number, part in enumerate(parts, 1)]


class RequestMarks:
    def __init__(self, ranges):
        self._mark, self._ranges = ranges.mark, ranges
        self.forget()

    def forget(self):
        """At the start, and in a child of fork."""
        self._followed = {}  # by the engine's own id
        self._steps = threading.local()  # each thread counts its own

    @property
    def on(self):
        """False: no profiler records the marks, so no text needs to be made."""
        return self._ranges.records()

    def arrived(self, key, prompt, most, name):
        """prompt, most: tokens; None: not known."""
        words = [f"request arrived id={id_of(key)}"]
        words += [f"{word}={int(count)}" for word, count in (("prompt", prompt), ("most", most)) if count is not None]
        if isinstance(name, str) and _NAME.fullmatch(name):
            words.append(f"name={name}")
        self._mark(" ".join(words))

    def queued(self, key):
        if key not in self._followed and self._follow(key) is not None:
            self._mark(f"request queued id={id_of(key)}")

    def scheduled(self, key):
        """Before its first step, and before the first one after each preemption."""
        request = self._followed.get(key) or self._follow(key)
        if request is not None and request.waits:
            request.waits = False
            self._mark(f"request scheduled id={id_of(key)} again={request.preemptions}")

    def preempted(self, key, tokens):
        """tokens: prompt and output, which are computed again."""
        request = self._followed.get(key)
        if request is not None and not request.waits:
            request.waits = True
            request.preemptions += 1
            self._mark(f"request preempted id={id_of(key)} tokens={int(tokens)}")

    def wrote(self, key, tokens):
        """tokens: how many it has written by now."""
        request = self._followed.get(key)
        if request is not None and tokens > request.written:
            if request.written == 0:
                self._mark(f"request first_token id={id_of(key)}")
            request.written = tokens

    def wrote_more(self, key, tokens):
        request = self._followed.get(key)
        if request is not None:
            self.wrote(key, request.written + tokens)

    def finished(self, key, reason):
        request = self._followed.pop(key, None)
        if request is not None:
            self._mark(f"request finished id={id_of(key)} tokens={request.written} reason={reason}")

    def step(self, entries):
        if not entries:
            return
        if not hasattr(self._steps, "numbers"):
            self._steps.numbers = itertools.count()
        for text in step_texts(next(self._steps.numbers), entries):
            self._mark(text)

    def follows(self, key):
        return key in self._followed

    def keys(self):
        return list(self._followed)

    def _follow(self, key):
        if len(self._followed) >= _MOST_FOLLOWED:
            return None
        return self._followed.setdefault(key, _Followed())
