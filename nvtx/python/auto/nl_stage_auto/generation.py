"""Hugging Face transformers 4 and 5: generate() and the methods that it calls at each step, on the host and outside compiled code.

Not seen: models that replace generate() without calling GenerationMixin's. loops.py has those that call the model themselves.
"""

import threading
import types
import weakref

from . import prompts
from .compiling import is_compiling, never
from .request import DECODE, NOT_BEGUN, PREFILL

_CO_GENERATOR = 0x20  # as in inspect, which is slow to import


class _Current(threading.local):
    request = None


class Generation:
    def __init__(self, process):
        self._process = process
        self._ranges, self._faults, self._patches = process.ranges, process.faults, process.patches
        self.current = _Current()
        self._known_models = weakref.WeakSet()
        self._patching = threading.Lock()
        self._compiling = never
        self._yields = False

    def patch(self, module):
        """module: transformers.generation.utils"""
        self._compiling = is_compiling() or never
        mixin = module.GenerationMixin
        self._yields = bool(mixin.generate.__code__.co_flags & _CO_GENERATOR)
        self._patches.wrap(mixin, "generate", self._around_generate)
        self._patches.wrap(mixin, "prepare_inputs_for_generation", self._around_prepare)
        self._patch_class(mixin)

    def forget(self):
        """In a child of fork: the ranges that are open belong to the parent."""
        self._patching = threading.Lock()
        if self.current.request is not None:
            self.current.request.disown()
            self.current.request = None

    def _patch_class(self, cls):
        self._patches.wrap_inherited(cls, "prepare_inputs_for_generation", self._around_override)
        self._patches.wrap_inherited(cls, "_update_model_kwargs_for_generation", self._around_update)
        self._patches.wrap_inherited(cls, "_prepare_encoder_decoder_kwargs_for_generation", self._around_encoder)

    def _patch_model(self, model):
        if model in self._known_models:
            return
        with self._patching:  # threads that generate at once: all find the model patched
            try:
                self._patch_class(type(model))
                self._process.vision.patch(model)
            except Exception as error:
                self._faults.note("patch of the model", error)
            self._known_models.add(model)

    def _begin(self, model, args, kwargs):
        try:
            self._process.end_loop()
            self._patch_model(model)
            # What returns a generator runs later: its request begins with its prefill.
            deferred = self._yields or kwargs.get("custom_generate") is not None
            request = self._process.new_request(model, prompts.prompt_of_generate(model, args, kwargs), deferred)
            request.held = None if deferred else self._process.hold_calls()
            self.current.request = request
            return request
        except Exception as error:
            self._faults.note("generate", error)
            return None

    def _end(self, request, model, result, failed=False):
        if request is None:
            return
        if self.current.request is request:  # a generator may be closed on any thread
            self.current.request = None
        self._process.release(request.held)
        try:
            request.close()
            self._ranges.count(request.pushed())
            self._process.facts.add_request(model, request, *prompts.result_of_generate(request, result), failed, self._process.kind_of(model))
        except Exception as error:
            self._faults.note("end of generate", error)

    def _outer(self):
        """The request of this thread inside which generate() is called: assisted decoding calls its assistant's."""
        outer = self.current.request
        if outer is None:
            return None
        try:
            if outer.finished:  # on another thread, which could not close its ranges
                self.current.request = None
                outer.close()
            else:
                outer.end_sampling()
        except Exception as error:
            self._faults.note("nested generate", error)
        return self.current.request

    def _around_generate(self, original):
        compiling = self._compiling

        def generate(model, /, *args, **kwargs):
            if compiling():
                return original(model, *args, **kwargs)
            outer = self._outer()
            if outer is not None:
                return self._nested(outer, original, model, args, kwargs)
            request = self._begin(model, args, kwargs)
            try:
                result = original(model, *args, **kwargs)
            except BaseException:
                self._end(request, model, None, failed=True)
                raise
            if request is not None and isinstance(result, types.GeneratorType):
                self.current.request = None
                self._process.release(request.held)
                request.held = None
                return self._drive(result, request, model)
            self._end(request, model, result)
            return result

        return generate

    def _nested(self, outer, original, model, args, kwargs):
        self.current.request, held = None, self._process.hold_calls()
        try:
            return original(model, *args, **kwargs)
        finally:
            self.current.request = outer
            self._process.release(held)

    def _drive(self, generator, request, model):
        """A generate() that yields. Between its tokens another one on this thread counts as nested."""
        if self._outer() is not None:
            return (yield from generator)
        request.thread = threading.get_ident()
        self.current.request = request
        try:
            return (yield from generator)
        finally:
            self._end(request, model, generator)

    def _around_prepare(self, original):
        compiling, current, note = self._compiling, self.current, self._faults.note

        def prepare_inputs_for_generation(*args, **kwargs):  # the model among args: a tuple that is handed on as it is costs less
            if compiling():
                return original(*args, **kwargs)
            request = current.request
            if request is None or request.preparing:  # an override calls its base's
                return original(*args, **kwargs)
            if request.phase != DECODE:
                return self._prepare_prompt(request, original, args, kwargs)
            try:
                request.next_step()
            except Exception as error:
                note("decode_step", error)
            return original(*args, **kwargs)

        return prepare_inputs_for_generation

    def _around_override(self, original):
        """Of a model that has its own, which may call its base's."""
        compiling, current, note = self._compiling, self.current, self._faults.note

        def prepare_inputs_for_generation(*args, **kwargs):
            request = None if compiling() else current.request
            if request is None or request.preparing:
                return original(*args, **kwargs)
            request.preparing = True
            try:
                if request.phase != DECODE:
                    return self._prepare_prompt(request, original, args, kwargs)
                try:
                    request.next_step()
                except Exception as error:
                    note("decode_step", error)
                return original(*args, **kwargs)
            finally:
                request.preparing = False

        return prepare_inputs_for_generation

    def _prepare_prompt(self, request, original, args, kwargs):
        try:
            if request.phase == NOT_BEGUN:
                request.begin_prefill(*prompts.prompt_of_first_forward(request, args[1:], kwargs))
            else:
                request.begin_forward()
        except Exception as error:
            self._faults.note("prefill", error)
        inputs = original(*args, **kwargs)
        try:
            if request.phase == PREFILL:
                request.prepared(prompts.tokens_of_inputs(inputs))
        except Exception as error:
            self._faults.note("prefill", error)
        return inputs

    def _around_update(self, original):
        compiling, current, note = self._compiling, self.current, self._faults.note

        def _update_model_kwargs_for_generation(*args, **kwargs):
            result = original(*args, **kwargs)
            if compiling():
                return result
            request = current.request
            if request is not None:
                try:
                    request.end_forward()
                except Exception as error:
                    note("sampling", error)
            return result

        return _update_model_kwargs_for_generation

    def _around_encoder(self, original):
        compiling, current = self._compiling, self.current

        def _prepare_encoder_decoder_kwargs_for_generation(model, /, *args, **kwargs):
            request = None if compiling() else current.request
            if request is not None and request.phase == NOT_BEGUN:
                try:
                    request.begin_prefill(0, 0)
                except Exception as error:
                    self._faults.note("encoder", error)
            return original(model, *args, **kwargs)

        return _prepare_encoder_decoder_kwargs_for_generation
