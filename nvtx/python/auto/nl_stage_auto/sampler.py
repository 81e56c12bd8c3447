"""A thread that samples the Python stacks of this process. docs/marks.md states its overhead and what it misses."""

import _thread
import os
import sys
import time

from .garbage import Garbage
from .stack_file import StackFile
from .stack_walk import StackWalk

_MOST_FILES = 256
_MOST_HERTZ = 1000
_CLOCK_NS = 200_000_000  # between two marks that join our clock to the trace's: also to that of a capture of less than a second
_WRITE_NS = 1_000_000_000  # between two blocks of the file
_SAMPLING_SHARE, _WRITING_SHARE = 0.013, 0.003  # CPU time at most, of the wall time
_MOST_WAIT_NS = 1_000_000_000
_JOIN_S = 0.05
_SWITCH_S = 0.00002


def sampler_of(environment, folder, faults, ranges):
    """None: no samples are wanted."""
    try:
        hertz = int(environment.get("NL_STAGE_HOST_SAMPLES_HZ") or 0)
    except ValueError as error:
        faults.note("NL_STAGE_HOST_SAMPLES_HZ", error)
        return None
    return Sampler(min(hertz, _MOST_HERTZ), os.path.abspath(folder), faults, ranges) if hertz > 0 and folder else None


class _SwitchInterval:
    """How long a thread that wakes up waits for one that runs Python, unless that one calls something that blocks or PyTorch.

    With the usual 5 ms a sample shows the next such call, not the Python before it. So it is short while the sampler waits, as usual
    while the sampler looks at stacks, and as usual where threads of the workload compete for Python.
    """

    def __init__(self):
        self._usual = self._ours = sys.getswitchinterval()

    def shorten(self):
        self._set(min(self._usual, _SWITCH_S))

    def restore(self):
        self._set(self._usual)

    def _set(self, seconds):
        if sys.getswitchinterval() == self._ours:  # else the workload has set its own
            sys.setswitchinterval(seconds)
            self._ours = sys.getswitchinterval()


def _files_in(folder):
    try:
        return len(os.listdir(folder))
    except OSError:
        return 0


class Sampler:
    def __init__(self, hertz, folder, faults, ranges):
        self._period_ns = round(1e9 / hertz)
        self._folder, self._faults, self._ranges = folder, faults, ranges
        self.forget()

    def forget(self):
        """At the start, and in a child of fork: it samples once it opens a range of ours, into a file of its own."""
        child = getattr(self, "_file", None) is not None
        self._file = self._walk = self._garbage = self._switching = None
        self._asked_to_stop = self._stopped = None  # locks, while there is a thread
        self._thread = None
        self._cost_ns = 0
        self._ended = False
        self._dice = time.monotonic_ns() & 0x7FFFFFFF
        if child:
            self._ranges.at_first = self.begin

    def begin(self, *_):
        """The workload has imported torch, JAX or CuPy, or opens a range in a child of fork."""
        if not self._ended and self._file is None and _files_in(self._folder) < _MOST_FILES:
            self._file = StackFile(self._folder, self._period_ns)
            self._walk = StackWalk(self._file, self._ranges)
            self._garbage = Garbage(self._file, self._faults)
            self._switching = _SwitchInterval()
            self.resume()

    def resume(self):
        """At the start, and in the parent after fork."""
        if self._file is None or self._ended or self._stopped is not None:
            return
        try:
            self._garbage.start()
            self._asked_to_stop, self._stopped = _thread.allocate_lock(), _thread.allocate_lock()
            self._asked_to_stop.acquire()
            self._stopped.acquire()
            # Not a threading.Thread: workloads join all threads that they find there.
            _thread.start_new_thread(self._run, (self._asked_to_stop, self._stopped))
        except Exception as error:
            self._stopped = None
            self._faults.note("start of the sampler", error)

    def pause(self):
        """Ends the thread before a fork, which other threads do not survive. True: the thread is gone."""
        asked, stopped = self._asked_to_stop, self._stopped
        if stopped is None:
            return True
        self._asked_to_stop = self._stopped = None
        self._garbage.stop()
        asked.release()
        return self._thread != _thread.get_ident() and stopped.acquire(True, _JOIN_S)

    def end(self):
        """At exit, and when the marks are removed."""
        if self._file is None or self._ended:
            self._ended = True
            return
        self._ended = True
        try:
            if self.pause():
                self._file.write(time.monotonic_ns(), self._cost_ns)
        except Exception as error:
            self._faults.note("end of the sampler", error)

    def _run(self, asked_to_stop, stopped):
        try:
            self._thread = _thread.get_ident()
            self._loop(asked_to_stop)
        except Exception as error:  # one is enough: the next sample would raise it again, and the marks shall stay
            self._faults.note("sampler", error)
            self._ended = True
            self._garbage.stop()
        finally:
            self._switching.restore()
            self._thread = None
            stopped.release()

    def _loop(self, asked_to_stop):
        own = _thread.get_ident()
        self._ranges.mark_clock()  # the first one loads NVTX; otherwise the marks load it
        used_ns = time.thread_time_ns()
        next_clock_ns = time.monotonic_ns() + _CLOCK_NS
        next_write_ns = 0
        while True:
            now = time.monotonic_ns()
            if now >= next_clock_ns:
                self._switching.restore()  # else the workload goes on between our look at the clock and the mark
                self._ranges.mark_clock()
                next_clock_ns = now + _CLOCK_NS
            if now >= next_write_ns:
                before_ns = time.thread_time_ns()
                self._file.write(now, self._cost_ns)
                used_ns += self._count(written_ns := time.thread_time_ns() - before_ns)
                next_write_ns = now + max(_WRITE_NS, round(written_ns / _WRITING_SHARE))
            begin_ns = time.monotonic_ns()
            self._switching.restore()
            busy = self._walk.sample(own)
            if busy < 2:
                self._switching.shorten()
            used_ns += self._count(last_ns := time.thread_time_ns() - used_ns)
            # On a busy machine the sampler may have to wait for a processor while the workload waits for the sampler.
            held_ns = time.monotonic_ns() - begin_ns
            if asked_to_stop.acquire(True, self._wait_ns(max(last_ns, held_ns)) / 1e9):
                return

    def _count(self, cost_ns):
        self._cost_ns += cost_ns
        return cost_ns

    def _wait_ns(self, cost_ns):
        """Half to one and a half periods, so that samples keep no step with the decode loop. A sample that cost much is paid for by a longer wait."""
        self._dice = (self._dice * 1103515245 + 12345) & 0x7FFFFFFF
        period_ns = max(self._period_ns, min(cost_ns / _SAMPLING_SHARE, _MOST_WAIT_NS))
        return period_ns * (0.5 + self._dice / 0x80000000)
