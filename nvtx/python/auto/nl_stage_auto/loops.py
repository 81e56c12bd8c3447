"""Loops of the workload's own that call a model: which calls are a prefill, which a step, and when the last one ends.

    prefill                 from a call with more than one token for each sequence …
      sampling              from the end of that call …
    decode_step 0           … to the next call, which has one token, or one more than the call before where there is no cache
      sampling

The end of the last step is seen where the workload waits for the GPU (torch.cuda.synchronize, or synchronize() of an event or a stream), where a block
of no_grad or inference_mode around several calls ends, at the next prefill, and at exit.
"""

import threading
import types

from .request import DECODE, PREFILL, Request


class LoopRequest(Request):
    """A loop is not one call, so it has no range, and nothing is marked around its steps."""

    __slots__ = ("place", "length", "grows")

    def __init__(self, ranges, length):
        self.place = None  # of its model among the facts; the model itself may be dropped before the request ends
        self.length, self.grows = length, False
        super().__init__(ranges, (0, 0, 0), False)

    def _open_request(self):
        return 0

    def _open_decoding(self):
        return 0

    def pause(self):
        """Ends what is open; steps may follow."""
        count = self.inner_open + self.stage_open
        self.inner_open = self.stage_open = 0
        self._close(count)


def kind_of(request, batch, length):
    """PREFILL, DECODE, or None where it is not known."""
    if length == 1:
        return None if request is None else DECODE
    if request is not None and batch == request.batch and (request.grows or request.phase == PREFILL):
        # Without a cache the prompt grows by a token each step, up to the model's longest.
        if length == request.length + 1 or (request.grows and length == request.length):
            return DECODE
    return PREFILL if length > 1 else None


class _State:
    """What a thread has of its loop."""

    __slots__ = ("request", "busy", "calls", "blocks")

    def __init__(self):
        self.request = None
        self.busy = False  # inside a model's call, whose parts are not steps
        self.calls = 0
        self.blocks = []  # of no_grad and inference_mode: calls before each


class _OfThread(threading.local):
    def __init__(self):
        self.state = _State()


def _as_if_written_with(original, wrapper):
    """TorchScript compiles no_grad from its source, which it finds through wrappers, and looks up its names in the wrapper's globals."""
    return types.FunctionType(wrapper.__code__, original.__globals__, wrapper.__name__, wrapper.__defaults__, wrapper.__closure__)


class Loops:
    def __init__(self, process):
        self._process = process
        self._faults, self._ranges = process.faults, process.ranges
        self.of_thread = _OfThread()
        self.stopped = False

    def begin(self, state, model, batch, length):
        """Before a call of a model. Whether it is marked."""
        request = state.request
        if length == 1 and request is not None and request.phase == DECODE:  # once a token: nothing here that is not needed
            state.calls += 1
            request.next_step()
            return True
        kind = None if self.stopped else kind_of(request, batch, length)
        if kind is None:
            return False
        state.calls += 1
        if kind == DECODE:
            self._begin_step(request, length)
        else:
            self._begin_prefill(state, model, batch, length)
        return True

    def _begin_step(self, request, length):
        if length > 1:
            request.length, request.grows = length, True
        if request.phase == DECODE:
            request.next_step()
        else:
            request.forward_done = True
            request.begin_forward()

    def _begin_prefill(self, state, model, batch, length):
        before, state.request = state.request, None
        if before is not None:
            before.close()
        state.request = self._process.new_loop(model, length)
        state.request.begin_prefill(batch, length)
        # The slow part comes inside the range: a timer of the workload around its prefill contains it, too.
        self._note(before)
        state.request.place = self._process.facts.note_model(model)

    def end(self, state, failed):
        """After it."""
        try:
            request = state.request
            if request is not None:
                request.pause() if failed else request.end_forward()
        except Exception as error:
            self._faults.note("end of a call", error)

    def pause(self):
        self._pause(self.of_thread.state)

    def _pause(self, state):
        """Where the last step ends, if it was the last."""
        request = state.request
        if request is None or state.busy:
            return
        try:
            request.pause()
        except Exception as error:
            self._faults.note("end of a step", error)

    def finish(self, state):
        """Closes the request of this thread and notes its facts."""
        request, state.request = state.request, None
        if request is not None:
            request.close()
        self._note(request)

    def _note(self, request):
        if request is not None:
            self._ranges.count(request.pushed)
            self._process.facts.add_loop(request)

    def stop(self):
        """The workload trains: no more marks in this process."""
        self.stopped = True
        self.finish_safely()

    def finish_safely(self):
        """At exit, too."""
        try:
            self.finish(self.of_thread.state)
        except Exception as error:
            self._faults.note("end of a loop", error)

    def forget(self):
        """In a child of fork."""
        state = self.of_thread.state
        if state.request is not None:
            state.request.disown()
            state.request = None

    def around_wait(self, original):
        """Of torch.cuda.synchronize and its like."""
        def synchronize(*args, **kwargs):
            result = original(*args, **kwargs)
            self.pause()
            return result

        return synchronize

    def around_enter(self, original):
        """Of no_grad and inference_mode."""
        of_thread = self.of_thread

        def __enter__(block):
            state = of_thread.state
            state.blocks.append(state.calls)
            return original(block)

        return _as_if_written_with(original, __enter__)

    def around_exit(self, original):
        of_thread = self.of_thread

        def __exit__(block, *args):
            state = of_thread.state
            # A block around one call is part of a loop, one around several has the loop inside.
            if state.blocks and state.calls - state.blocks.pop() > 1:
                self._pause(state)
            return original(block, *args)

        return _as_if_written_with(original, __exit__)
