"""facts-<pid>.json: what is known about this process and its models. Nothing of the environment, no prompt, no token.

    {"pid": 4711, "backend": "transformers",
     "versions": {"python": "3.12.3", "torch": "2.11.0", "cuda_runtime": "13.0", "transformers": "5.17.0"},
     "models": [{"class": "Qwen3ForCausalLM", "config": {…}, "dtype": "bfloat16", "quantization": {"method": …, "bits": …},
                 "attention": "sdpa", "gradient_checkpointing": true, "parameters": {"count": …, "bytes": …, "buffer_bytes": …, "bytes_by_dtype": {…}},
                 "precision": "bfloat16", "requests": 3, "new_tokens": 99}],
     "requests": {"count": 3, "failed": 0, "prompt_tokens": 1536, "new_tokens": 99,
                  "listed": [{"model": 0, "batch": 1, "prompt_tokens": 512, "new_tokens": 33, "steps": 32}]},
     "steps": [{"kind": "decode", "batch": 1, "tokens": 1, "count": 96}], "steps_left_out": 0, "engine_steps": 0, "ranges": 237, "ranges_through": "torch",
     "marked_by_workload": false, "errors": {"facts of the model: config (ValueError)": 1}, "removed": false}

listed[] counts the tokens of one sequence; the totals and steps[] count those of all sequences.
"""

import os
import sys
import threading
import time
import weakref

from . import model_facts
from .step_counts import StepCounts
from .whole_file import write_whole

_MOST_REQUESTS = 1000
_MOST_MODELS = 16
_MOST_FILES = 256  # of processes that have nothing but a Python
_PACKAGES = ("torch", "transformers", "diffusers", "triton", "vllm", "sglang", "jax", "jaxlib", "flax", "optax", "cupy")
_REWRITE_S = 5.0


def _version(name):
    loaded = getattr(sys.modules[name], "__version__", None)
    if isinstance(loaded, str):
        return str(loaded)
    from importlib import metadata
    return metadata.version(name)


def _reference(model):
    try:
        return weakref.ref(model)
    except TypeError:
        return lambda: model


class Facts:
    def __init__(self, folder, faults, ranges, created):
        self._folder = os.path.abspath(folder) if folder else None  # the workload may change its folder
        self._faults, self._ranges, self._created = faults, ranges, created
        self.removed = False
        self._parts = {}
        self.forget()

    def forget(self):
        """At the start, and in a child of fork, which has facts of its own."""
        self._lock = threading.RLock()  # the garbage collector may close a generator of ours anywhere
        self._backend = ""
        self._models, self._known, self._kinds = [], {}, []
        self._requests = {"count": 0, "failed": 0, "prompt_tokens": 0, "new_tokens": 0, "listed": []}
        self._engine_steps, self._steps = 0, StepCounts()
        self._written = None

    def add_part(self, name, read):
        """A part of the file that something else keeps: read() as JSON has it."""
        self._parts[name] = read

    def add_request(self, model, request, batch, new_tokens, failed, kind):
        """A generate(). batch, new_tokens: of the result."""
        with self._lock:
            self._backend = "transformers"
            self._requests["failed"] += failed
            self._steps.add_request(batch, request.prompt_tokens, request.steps)
            if kind is not None:
                kind.eval_calls += 1 + request.steps
            index = self._model(model, getattr(model, "config", None), kind)
            more = {"beams": request.beams} if request.beams > 1 else {}
            if request.search not in ("", "greedy"):
                more["search"] = request.search
            self._add(index, batch, request.prompt_tokens, new_tokens, request.steps, more)
        self.write_sometimes()

    def _add(self, index, batch, prompt_tokens, new_tokens, steps, more):
        self._count(index, batch * prompt_tokens, batch * new_tokens)
        listed = self._requests["listed"]
        if len(listed) < _MOST_REQUESTS:
            listed.append({"model": index, "batch": batch, "prompt_tokens": prompt_tokens, "new_tokens": new_tokens, "steps": steps, **more})

    def add_step(self, engine, runner, step):
        with self._lock:
            self._backend = engine
            self._engine_steps += 1
            self._steps.add_engine_step(step)
            config = getattr(getattr(runner, "model_config", None), "hf_config", None)
            index = self._model(getattr(runner, "model", runner), config, None)
            if index is not None:
                self._models[index]["new_tokens"] += step.generation_tokens
        self.write_sometimes()

    def note_model(self, model, kind):
        """A model that a loop of the workload's own calls. Its place among the models."""
        if kind.place is not None:
            self.write_sometimes()
            return kind.place
        with self._lock:
            model = getattr(model, "_orig_mod", model)
            config = getattr(model, "config", None)
            return self._model(model, config if hasattr(config, "to_dict") else None, kind)

    def add_training_call(self, shape):
        """(batch, tokens of a sequence) of a forward pass that is trained."""
        with self._lock:
            self._steps.add("train", shape[0], shape[0] * (shape[1] or 1))

    def add_loop(self, request):
        """A prefill and its steps, in a loop of the workload's own."""
        tokens, steps, batches = request.prompt_tokens, request.steps, request.batches()
        batch = batches[0][0]
        with self._lock:
            if request.first_stage != "prefill" and not steps:  # not known to be a part of generating
                self._steps.add("call", batch, batch * (tokens or 1))
            elif request.grows:
                self._steps.add_growing(batch, tokens, steps, request.length)
            else:
                self._steps.add_request(batch, tokens, batches[0][1])
                for later, count in batches[1:]:
                    self._steps.add_request(later, 0, count)
            if steps or request.first_stage == "prefill":
                self._add(request.place, batch, tokens, steps + 1, steps, {})
        self.write_sometimes()

    def _count(self, index, prompt_tokens, new_tokens):
        self._requests["count"] += 1
        self._requests["prompt_tokens"] += prompt_tokens
        self._requests["new_tokens"] += new_tokens
        if index is not None:
            self._models[index]["requests"] += 1
            self._models[index]["new_tokens"] += new_tokens

    def _model(self, model, config, kind):
        """Its place among the models; described when it is first seen. None: one too many, or facts are not wanted."""
        reference, index = self._known.get(id(model), (None, None))
        if reference is not None and reference() is model:  # else another one had its address
            return index
        if not self._folder or len(self._models) >= _MOST_MODELS:
            return None
        described = {**model_facts.describe(model, config, self._faults), "requests": 0, "new_tokens": 0}
        self._known[id(model)] = (_reference(model), len(self._models))
        self._models.append(described)
        self._kinds.append((kind, type(model).__name__, getattr(config, "architectures", None)))
        return len(self._models) - 1

    def write_sometimes(self):
        """For processes that end without their exit handlers."""
        now = time.monotonic()
        if self._written is None or now - self._written > _REWRITE_S:
            self._written = now
            self.write()

    def write(self):
        if not self._folder:
            return
        try:
            import json
            with self._lock:
                text = json.dumps(self._as_json())
            write_whole(self._folder, "facts", text)
        except Exception as error:
            self._faults.note("writing facts", error)

    def write_at_exit(self):
        if not self._folder:
            return
        try:
            known = self._models or self._faults.total or any(name in sys.modules for name in _PACKAGES)
            if known or not os.path.isdir(self._folder) or len(os.listdir(self._folder)) < _MOST_FILES:
                self.write()
        except Exception:
            pass

    def _versions(self):
        versions = {"python": sys.version.split()[0]}
        for name in _PACKAGES:
            if name in sys.modules:
                try:
                    versions[name] = _version(name)
                except Exception as error:
                    self._faults.note(f"version of {name}", error)
        runtime = getattr(getattr(sys.modules.get("torch"), "version", None), "cuda", None)
        if isinstance(runtime, str):
            versions["cuda_runtime"] = runtime
        return versions

    def _backend_name(self):
        loaded = [name for name in ("vllm", "sglang", "transformers", "torch", "jax") if name in sys.modules]
        return self._backend or (loaded[0] if loaded else "")

    def _described_models(self):
        if not self._models:
            return self._created.describe()
        return [{**model, "kind": kind.as_json(name, listed)} if kind is not None else model for model, (kind, name, listed) in zip(self._models, self._kinds)]

    def _other_parts(self):
        found = {}
        for name, read in self._parts.items():
            try:
                found[name] = read()
            except Exception as error:
                self._faults.note(f"facts of {name}", error)
        return found

    def _as_json(self):
        return {
            "pid": os.getpid(), "backend": self._backend_name(), "versions": self._versions(), **self._other_parts(),
            "models": self._described_models(),
            "requests": self._requests, "steps": self._steps.listed(), "steps_left_out": self._steps.left_out,
            "engine_steps": self._engine_steps, "ranges": self._ranges.pushed,
            "ranges_through": self._ranges.through(), "marked_by_workload": self._ranges.by_workload,
            "errors": self._faults.counts(), "removed": self.removed,
        }
