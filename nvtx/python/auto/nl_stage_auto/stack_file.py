"""stacks-<pid>.txt: where the threads of this process were, many times a second. Fields are separated by tabs.

    nl-stage stacks  1
    period  10309278                                             asked, ns
    f  0  12  main  /home/a/generate.py  __main__  10  model.generate(ids)      frame: line, function, file, module, the function's first line, source
    k  0  0,3,4                                                  stack: its frames, outermost first
    s  81004711000  4711  0                                      sample: time, thread (native), stack
    g  81004720000  81004790000  4711  2                         garbage collection: begin, end, thread, generation
    c  81005711000  1200000  97  0                               the sampler's CPU time, samples written, samples lost

Times are time.monotonic_ns(). Blocks of whole lines are appended; a process that is killed leaves at most one line that is cut.
"""

import itertools
import os
import stat
import sys

MOST_BYTES = 32_000_000
_RESERVED = 1000  # for the last counts
_MOST_TEXT = 400
_MOST_SOURCE_BYTES = 4_000_000


def escaped(text):
    return text[:_MOST_TEXT].replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def _lines_of_file(path, numbers):
    """Only as much of the file as is needed: most of what is read here are large modules of which a few lines ran."""
    texts, passed = {}, 0
    about = os.stat(path)
    if not stat.S_ISREG(about.st_mode) or about.st_size > _MOST_SOURCE_BYTES:
        return texts
    with open(path, "rb") as file:
        for number in sorted(numbers):
            text = next(itertools.islice(file, number - passed - 1, None), None)
            if text is None:
                break
            texts[number], passed = text.decode("utf-8", "replace"), number
    return texts


def source_lines(path, numbers):
    """{line number: text}. From the file, or as linecache has it already: linecache itself might run a module's loader."""
    cached = getattr(sys.modules.get("linecache"), "cache", {}).get(path)
    if cached and len(cached) == 4:
        lines = cached[2]
        return {number: lines[number - 1] for number in numbers if 0 < number <= len(lines)}
    try:
        return _lines_of_file(path, [number for number in numbers if number > 0])
    except (OSError, ValueError):  # <string>, a file in an archive
        return {}


class StackFile:
    def __init__(self, folder, period_ns):
        self._path = os.path.join(folder, f"stacks-{os.getpid()}.txt")
        self._size = 0
        self._frames = self._stacks = 0  # how many there are
        self._new_frames, self._lines = [], []
        self._new_samples = 0
        self.written = self.lost = 0
        self._header = f"nl-stage stacks\t1\nperiod\t{period_ns}\n"

    @property
    def full(self):
        return self._size > MOST_BYTES

    def add_frame(self, code, line, module):
        """Its text is read when it is written."""
        self._new_frames.append((self._frames, code, line, module))
        self._frames += 1
        return self._frames - 1

    def add_stack(self, frames):
        self._lines.append(f"k\t{self._stacks}\t{','.join(map(str, frames))}\n")
        self._stacks += 1
        return self._stacks - 1

    def add_sample(self, time_ns, thread, stack):
        self._lines.append(f"s\t{time_ns}\t{thread}\t{stack}\n")
        self._new_samples += 1

    def add_collection(self, begin_ns, end_ns, thread, generation):
        self._lines.append(f"g\t{begin_ns}\t{end_ns}\t{thread}\t{generation}\n")

    def write(self, time_ns, cost_ns):
        """Appends what was added, in an order that a reader can follow: frames, then the stacks and samples that use them."""
        # Other threads add collections meanwhile: what is swapped out here is ours alone.
        lines, self._lines = self._lines, []
        samples, self._new_samples = self._new_samples, 0
        block = self._header.encode() + self._described() + "".join(lines).encode()
        if self.full or self._size + len(block) > MOST_BYTES - _RESERVED:
            self.lost += samples
            self._size, block = MOST_BYTES + 1, b""
        else:
            self.written += samples
            self._size += len(block)
        counts = f"c\t{time_ns}\t{cost_ns}\t{self.written}\t{self.lost}\n".encode()
        self._append(block + counts)
        self._size += len(counts)

    def _described(self):
        frames, self._new_frames = self._new_frames, []
        numbers = {}
        for _, code, line, _ in frames:
            numbers.setdefault(code.co_filename, set()).add(line)
        texts = {path: source_lines(path, lines) for path, lines in numbers.items()}
        return "".join(self._line_of(frame, texts) for frame in frames).encode("utf-8", "replace")

    @staticmethod
    def _line_of(frame, texts):
        number, code, line, module = frame
        source = texts[code.co_filename].get(line, "").strip()
        function = getattr(code, "co_qualname", code.co_name)  # qualified since Python 3.11
        return "\t".join(("f", str(number), str(line), escaped(function), escaped(code.co_filename), escaped(module),
                          str(code.co_firstlineno), escaped(source))) + "\n"

    def _append(self, block):
        """Opened each time: a workload that closes all files and opens its own shall not find our lines in them."""
        how = os.O_TRUNC if self._header else os.O_APPEND  # a process of an earlier life may have had this number
        self._header = ""
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | how, 0o666)
        try:
            while block:
                block = block[os.write(file, block):]
        finally:
            os.close(file)
