"""What the engine tells of itself: NVTX ranges and marks for a profiler, and records, which are independent of them.

README.md lists the marks.
"""

import contextlib
import json
import os
import pathlib
import sys

DOMAIN = "nl-serve"  # of ranges. Ranges of the domain LLM would be stages, and hide the steps of an engine
MOST_MARK_BYTES = 4000  # nl-stage's collector keeps 4096 bytes of a string


def _find_helper():
    """nl_stage_nvtx: installed, of the repository, or beside the installed workloads. None: it is nowhere."""
    here = pathlib.Path(__file__).resolve().parent
    for folder in (here.parents[1] / "nvtx" / "python", here.parents[1] / "python"):
        if folder.is_dir():
            sys.path.append(str(folder))
    try:
        import nl_stage_nvtx
    except ImportError:
        return None
    return nl_stage_nvtx


class Marks:
    """Make it after torch is imported, where torch is used: what ranges go out by is chosen here."""

    def __init__(self, wanted=True):
        self._helper = _find_helper() if wanted else None
        self.backend = self._helper.backend() if self._helper else "none"
        self.on = self.backend != "none"  # without it no text needs to be made
        if self.on:
            self._ranges = self._helper._backend()
            # PyTorch's NVTX has no domains, and the helper would put ours before the name, as in "nl-serve@forward".
            self._push = (lambda name: self._ranges._push(name)) if self.backend == "torch" else (lambda name: self._ranges.push(DOMAIN, name, None))

    def mark(self, text):
        if self.on:
            self._helper.mark(text)

    @contextlib.contextmanager
    def range(self, name):
        if not self.on:
            yield
            return
        self._push(name)
        try:
            yield
        finally:
            self._ranges.pop(DOMAIN)


def step_name(entries):
    """As vLLM names its steps: execute_context_1(512)_generation_6(6)."""
    prefills = [len(entry.tokens) for entry in entries if entry.kind == "prefill"]
    decodes = len(entries) - len(prefills)
    return f"execute_context_{len(prefills)}({sum(prefills)})_generation_{decodes}({decodes})"


def step_marks(index, entries, most_bytes=MOST_MARK_BYTES):
    """step index=7 requests=3:prefill:512,4:decode:1; where that is too long, several with part=1/2, part=2/2."""
    room = most_bytes - len(f"step index={index} part=999/999 requests=")
    parts = [[]]
    length = 0
    for entry in entries:
        item = f"{entry.id}:{entry.kind}:{len(entry.tokens)}"
        if length + len(item) > room and parts[-1]:
            parts.append([])
            length = 0
        parts[-1].append(item)
        length += len(item) + 1
    if len(parts) == 1:
        return [f"step index={index} requests={','.join(parts[0])}"]
    return [f"step index={index} part={number}/{len(parts)} requests={','.join(part)}" for number, part in enumerate(parts, 1)]


class Records:
    """JSON lines, appended by all processes to one file. Each line is one write, so lines of two processes do not mix."""

    def __init__(self, path):
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644) if path else None

    def write(self, record, **fields):
        if self._file is not None:
            os.write(self._file, (json.dumps({"record": record, **fields}) + "\n").encode())
