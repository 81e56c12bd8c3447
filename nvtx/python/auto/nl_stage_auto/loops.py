"""Loops of the workload's own that call a model: which calls are a step of decoding, and when the last one ends.

    model_call              a call of a model that is not known to generate: it ends with the call
    prefill                 of one that does: from a call with more than one token for each sequence …
      sampling              from the end of that call …
    decode_step 0           … to the next call, which has one token, or one more than the call before where there is no cache
      sampling

The end of the last step is seen where the workload waits for the GPU (torch.cuda.synchronize, or synchronize() of an event or a stream), where a block
of no_grad or inference_mode around several calls ends, at the next prefill, and at exit.
"""

import threading
import types

from .request import DECODE, PREFILL, Request

_STEPS_THAT_SHOW_IT = 2
_MOST_PLAIN_CALLS = 8  # of a module that is not known to generate: after so many, a longer input is another batch, not a step


class LoopRequest(Request):
    """A loop is not one call, so it has no range, and nothing is marked around its steps."""

    __slots__ = ("place", "length", "grows", "first_stage", "module", "embedded", "kind", "past_batches")

    def __init__(self, ranges, length, generates):
        self.place = self.kind = None  # of its model among the facts; the model itself may be dropped before the request ends
        self.length, self.grows = length, False
        self.module = 0  # the id of the one whose calls are steps
        self.embedded = False
        self.past_batches = None  # [(batch, steps)] before the batch of now, where it changes
        self.first_stage = "prefill" if generates else "model_call"
        super().__init__(ranges, None, False)

    def _open_request(self):
        return 0

    def _open_decoding(self):
        return 0

    def end_call(self):
        """Of a model that is not known to generate: what follows may be anything."""
        self.forward_done = True
        self.pause()

    def pause(self):
        """Ends what is open; steps may follow."""
        count = self.inner_open + self.stage_open
        self.inner_open = self.stage_open = 0
        self._close(count)

    def learn(self):
        """Steps of one token each show that the model generates. Inputs that grow may be batches of many lengths."""
        if self.kind is not None and self.steps >= _STEPS_THAT_SHOW_IT and not self.grows:
            self.kind.decoded = True

    def change_batch(self, batch):
        """Where requests come and go. Before the step that has so many sequences."""
        past = self.past_batches = self.past_batches or []
        past.append((self.batch, self.steps - sum(steps for _, steps in past)))
        self.batch = batch

    def batches(self):
        """[(batch, steps)]"""
        past = self.past_batches or []
        return [*past, (self.batch, self.steps - sum(steps for _, steps in past))]


class _State:
    """What a thread has of its loop."""

    __slots__ = ("request", "busy", "capturing", "calls", "blocks", "plain_calls", "optimizer", "loading")

    def __init__(self):
        self.request = None
        self.busy = False  # inside a model's call, whose parts are not steps
        self.capturing = False  # a CUDA graph
        self.calls = 0
        self.blocks = []  # of no_grad and inference_mode: calls before each
        self.plain_calls = 0  # of models, one after the other, without a step
        self.optimizer = self.loading = False  # inside of them


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

    def begin(self, state, kind, module, shape, kwargs):
        """Before a call of a model. Whether it is marked."""
        batch, length, _ = shape
        if state.request is not None:
            state.request.learn()
        generates = (kind.generates or kind.decoded) and length and kwargs.get("labels") is None  # with labels it computes a loss
        if self._is_step(state, kind, module, shape, kwargs):
            self._begin_step(state, module, batch, length)
        elif kind.generates and length == 1:
            return False  # of a warm-up
        else:
            state.plain_calls += 1
            self._begin_prefill(state, kind, module, shape, generates)
        state.calls += 1
        return True

    def _is_step(self, state, kind, module, shape, kwargs):
        request, (batch, length, embedded) = state.request, shape
        if request is None or not length:
            return False
        if kind.generates is False and kwargs.get("past_key_values") is None:  # a decoder without a head has at least a cache
            return False
        own = id(module) == request.module
        if embedded and not kind.generates and not (own and not request.embedded):
            return False  # layers and parts have such inputs, too
        if length == 1:
            return request.length > 1 or request.phase == DECODE or bool(kind.generates)
        if batch != request.batch or not own or not (request.grows or request.phase == PREFILL):
            return False
        if not kind.generates and state.plain_calls >= _MOST_PLAIN_CALLS:
            return False
        # Without a cache the prompt grows by a token each step, up to the model's longest.
        return length == request.length + 1 or (request.grows and length == request.length)

    def _begin_step(self, state, module, batch, length):
        request = state.request
        state.plain_calls = 0
        if length > 1:
            request.length, request.grows = length, True
        elif request.phase == DECODE and id(module) != request.module:
            return  # a part of the step that another module began
        changed = batch != request.batch
        if changed:
            request.change_batch(batch)
        request.module = id(module)
        if request.phase == DECODE:
            request.next_step()
        else:
            request.forward_done = True
            request.begin_forward()
        if changed:  # inside the step that has the new batch: the one before, or the prefill, had another
            self._ranges.tokens(None, batch)

    def _begin_prefill(self, state, kind, module, shape, generates):
        batch, length, embedded = shape
        before, state.request = state.request, None
        if before is not None:
            before.close()
        request = state.request = self._process.new_loop(module, length, generates)
        request.module, request.embedded = id(module), embedded
        request.begin_prefill(batch, length)
        # The slow part comes inside the range: a timer of the workload around its prefill contains it, too.
        self._note(before)
        request.kind = kind
        request.place = kind.place = self._process.facts.note_model(module, kind)

    def end(self, state, failed):
        """After it."""
        try:
            request = state.request
            if request is None:
                return
            if failed:
                request.pause()
            elif request.phase == DECODE or request.first_stage == "prefill":
                request.end_forward()
            else:
                request.end_call()
        except Exception as error:
            self._faults.note("end of a call", error)

    def pause(self):
        self.pause_of(self.of_thread.state)

    def pause_of(self, state):
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
            self._ranges.count(request.pushed())
            request.learn()
            if request.kind is not None:
                request.kind.eval_calls += 1 + request.steps
            self._process.facts.add_loop(request)

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
        state.busy = state.capturing = state.optimizer = state.loading = False

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
                self.pause_of(state)
            return original(block, *args)

        return _as_if_written_with(original, __exit__)
