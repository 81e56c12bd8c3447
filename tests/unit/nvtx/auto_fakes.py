"""Stand-ins for torch, transformers, nvtx, vLLM and SGLang, written into a folder that a test puts on PYTHONPATH.

transformers has the structure of the real one where the marks look at it: lazy modules, GenerationMixin, and the loop of its versions
4 (everything in _sample, the chunks of a prompt before it) and 5 (_prefill, then _sample).
"""

import pathlib

NVTX = '''
import os, threading
_log = os.environ.get("FAKE_NVTX_LOG")
_file = os.open(_log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600) if _log else None


def _write(*fields):
    if _file is not None:
        os.write(_file, ("\\t".join(map(str, (os.getpid(), threading.get_ident()) + fields)) + "\\n").encode())


def push_range(message=None, color="blue", domain=None, category=None, payload=None):
    _write("push", domain, message, payload)


def pop_range(domain=None):
    _write("pop", domain)


def mark(message=None, domain=None):
    _write("mark", domain, message)


if _file is None:  # as fast as NVTX without a profiler
    def push_range(message=None, color="blue", domain=None, category=None, payload=None):
        pass

    def pop_range(domain=None):
        pass
'''

TORCH = '''
import itertools, sys, types
__version__ = "2.11.0+fake"
version = types.SimpleNamespace(cuda="13.0")


class dtype:
    def __init__(self, name, size, floating):
        self.name, self.itemsize, self.is_floating_point = name, size, floating

    def __repr__(self):
        return "torch." + self.name


int64, bfloat16 = dtype("int64", 8, False), dtype("bfloat16", 2, True)
_addresses = itertools.count(4096, 4096)


class Storage:
    def __init__(self, size):
        self.address, self.size = next(_addresses), size

    def data_ptr(self):
        return self.address

    def nbytes(self):
        return self.size


class Tensor:
    device = "cuda:0"

    def __init__(self, *shape, dtype=int64, storage=None):
        self.shape, self.dtype = shape, dtype
        self._storage = storage or Storage(self.numel() * dtype.itemsize)

    def numel(self):
        count = 1
        for size in self.shape:
            count *= size
        return count

    def element_size(self):
        return self.dtype.itemsize

    def untyped_storage(self):
        return self._storage


class compiler:
    active = False

    @staticmethod
    def is_compiling():
        return compiler.active


class Module:
    def parameters(self):
        return iter(getattr(self, "_parameters", []))

    def buffers(self):
        return iter([])

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)


def _nvtx(text=None):
    print("nvtx", text)


class cuda:
    nvtx = types.ModuleType("torch.cuda.nvtx")
    nvtx.range_push, nvtx.range_pop, nvtx.mark = _nvtx, _nvtx, _nvtx


_C = types.ModuleType("torch._C")
_C._nvtx = True
sys.modules["torch._C"] = _C
nn = types.ModuleType("torch.nn")
nn.Module = Module
sys.modules["torch.nn"] = nn
'''

LAZY = '''
import importlib, sys, types


class _LazyModule(types.ModuleType):
    def __init__(self, name, file, spec, names):
        super().__init__(name)
        self.__file__, self.__spec__, self.__path__, self._names = file, spec, [file.rpartition("/")[0]], names

    def __getattr__(self, name):
        if name not in self._names:
            raise AttributeError(name)
        return getattr(importlib.import_module(self._names[name]), name)
'''

GENERATION = '''
import inspect
import torch

VERSION = @VERSION@


class Output:
    def __init__(self, sequences):
        self.sequences = sequences


class GenerationMixin:
    main_input_name = "input_ids"

    def prepare_inputs_for_generation(self, input_ids, next_sequence_length=None, past_key_values=None, inputs_embeds=None, **kwargs):
        if inputs_embeds is not None and not past_key_values:
            return {"inputs_embeds": inputs_embeds, "input_ids": None}
        if past_key_values and kwargs.get("use_cache", True) and not kwargs.get("chunk"):
            return {"input_ids": torch.Tensor(input_ids.shape[0], kwargs.get("candidates", 0) + 1)}
        return {"input_ids": input_ids}

    def _update_model_kwargs_for_generation(self, outputs, model_kwargs, is_encoder_decoder=False, num_new_tokens=1):
        model_kwargs["past_key_values"] = True
        return model_kwargs

    def _prepare_encoder_decoder_kwargs_for_generation(self, inputs_tensor, model_kwargs, model_input_name, generation_config):
        self.encoder_ran = True
        return model_kwargs

    def generate(self, inputs=None, generation_config=None, assistant_model=None, streamer=None, custom_generate=None,
                 max_new_tokens=4, prefill_chunk_size=None, num_beams=None, num_return_sequences=None, return_dict_in_generate=False, **kwargs):
        num_beams = num_beams or getattr(generation_config, "num_beams", None) or 1
        returned = num_return_sequences or 1
        if callable(custom_generate):
            return custom_generate(self, inputs, **kwargs)
        assert "input_ids" in inspect.signature(self.prepare_inputs_for_generation).parameters
        embeds = kwargs.get("inputs_embeds")
        ids = inputs if inputs is not None else kwargs.pop("input_ids", None)
        if ids is None:
            ids = torch.Tensor(embeds.shape[0], 0)
        if getattr(self.config, "is_encoder_decoder", False):
            self._prepare_encoder_decoder_kwargs_for_generation(ids, kwargs, "input_ids", None)
            ids = torch.Tensor(ids.shape[0], 1)
        inputs, rows = ids.shape[0], ids.shape[0] * max(num_beams, returned)
        ids = self._sample(torch.Tensor(rows, ids.shape[1]), assistant_model, streamer, max_new_tokens, prefill_chunk_size, kwargs)
        ids = torch.Tensor(inputs * returned, ids.shape[1])
        return Output(ids) if return_dict_in_generate else ids

    def _chunks(self, ids, size, model_kwargs):
        for begin in range(0, ids.shape[1], size):
            chunk = torch.Tensor(ids.shape[0], min(size, ids.shape[1] - begin))
            self(**self.prepare_inputs_for_generation(chunk, chunk=True, **model_kwargs))
            model_kwargs["past_key_values"] = True

    def _prefill(self, ids, chunk_size, model_kwargs):
        if chunk_size is not None:
            return self._chunks(ids, chunk_size, model_kwargs)
        self(**self.prepare_inputs_for_generation(ids, next_sequence_length=None, is_first_iteration=True, **model_kwargs))

    def _sample(self, ids, assistant, streamer, new_tokens, chunk_size, model_kwargs):
        model_kwargs["candidates"] = 3 if assistant else 0
        done = ids.shape[1] + new_tokens
        prefilled = False
        if VERSION == 5 and assistant is None:
            self._prefill(ids, chunk_size, model_kwargs)
            prefilled = True
        elif chunk_size is not None:
            self._chunks(torch.Tensor(ids.shape[0], ids.shape[1] - 1), chunk_size, model_kwargs)
        while ids.shape[1] < done:
            if assistant is not None:
                assistant.generate(ids, max_new_tokens=3)
            if not prefilled:
                self(**self.prepare_inputs_for_generation(ids, **model_kwargs))
            prefilled = False
            model_kwargs = self._update_model_kwargs_for_generation(None, model_kwargs, is_encoder_decoder=False)
            ids = torch.Tensor(ids.shape[0], min(ids.shape[1] + (4 if assistant else 1), done))
            if streamer is not None:
                streamer.put(ids)
        return ids
'''

MODELING = '''
import torch


class PreTrainedModel(torch.Module):
    def __init__(self, config, *inputs, **kwargs):
        self.config = config

    @classmethod
    def can_generate(cls):
        return any(base.__name__ == "GenerationMixin" for base in cls.__mro__)
'''

MODELS = '''
import torch
from .generation.utils import GenerationMixin
from .modeling_utils import PreTrainedModel


class Config:
    is_encoder_decoder = False
    _attn_implementation = "sdpa"
    quantization_config = None

    def to_dict(self):
        return {"model_type": "tiny", "hidden_size": 8, "dtype": torch.bfloat16, "odd": float("inf"), 7: ("a", {"b"})}


class TinyForCausalLM(PreTrainedModel, GenerationMixin):
    dtype = torch.bfloat16

    def __init__(self):
        super().__init__(Config())
        embedding = torch.Tensor(100, 8, dtype=torch.bfloat16)
        tied = torch.Tensor(100, 8, dtype=torch.bfloat16, storage=embedding.untyped_storage())
        self._parameters = [embedding, tied, torch.Tensor(8, 8, dtype=torch.bfloat16)]

    def forward(self, **inputs):
        return inputs


class OverridingForCausalLM(TinyForCausalLM):
    def prepare_inputs_for_generation(self, input_ids, **kwargs):
        return super().prepare_inputs_for_generation(input_ids, **kwargs)

    def _update_model_kwargs_for_generation(self, outputs, model_kwargs, **kwargs):
        return super()._update_model_kwargs_for_generation(outputs, model_kwargs, **kwargs)


class VisionTransformer(torch.Module):
    def forward(self, pixels):
        return pixels


class VisionTower(torch.Module):
    def __init__(self):
        self.vision_model = VisionTransformer()

    def forward(self, pixels):
        return self.vision_model(pixels)


class TinyForConditionalGeneration(TinyForCausalLM):
    def __init__(self):
        super().__init__()
        self.model = torch.Module()
        self.model.vision_tower = VisionTower()

    def prepare_inputs_for_generation(self, input_ids, pixel_values=None, **kwargs):
        inputs = super().prepare_inputs_for_generation(input_ids, **kwargs)
        return inputs if kwargs.get("past_key_values") else {**inputs, "pixel_values": pixel_values}

    def forward(self, pixel_values=None, **inputs):
        if pixel_values is not None:
            self.model.vision_tower(pixel_values)


class TinyForSeq2SeqLM(TinyForCausalLM):
    def __init__(self):
        super().__init__()
        self.config.is_encoder_decoder = True
'''

VLLM = '''
class GPUModelRunner:
    def __init__(self, model):
        self.model = model

    def execute_model(self, scheduler_output, intermediate_tensors=None):
        return "ran"
'''

SGLANG = '''
class ModelRunner:
    def __init__(self, model):
        self.model = model

    def forward(self, forward_batch, skip_attn_backend_init=False):
        return "ran"
'''


def _write(folder, files):
    for name, text in files.items():
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _lazy(package, names):
    return LAZY + f"sys.modules[__name__] = _LazyModule(__name__, __file__, __spec__, {names!r})\n" \
                  f"sys.modules[__name__].__version__ = {package!r}\n"


def write_fakes(folder, version=5, torch=True):
    names = {"GenerationMixin": "transformers.generation.utils"}
    models = ("TinyForCausalLM", "OverridingForCausalLM", "TinyForConditionalGeneration", "TinyForSeq2SeqLM")
    files = {
        "nvtx.py": NVTX,
        "transformers/__init__.py": _lazy(f"{version}.17.0", {**names, **{model: "transformers.models" for model in models}}),
        "transformers/generation/__init__.py": _lazy("", names),
        "transformers/generation/utils.py": GENERATION.replace("@VERSION@", str(version)),
        "transformers/models.py": MODELS, "transformers/modeling_utils.py": MODELING,
        "vllm/__init__.py": "", "vllm/v1/__init__.py": "", "vllm/v1/worker/__init__.py": "", "vllm/v1/worker/gpu_model_runner.py": VLLM,
        "sglang/__init__.py": "", "sglang/srt/__init__.py": "", "sglang/srt/model_executor/__init__.py": "",
        "sglang/srt/model_executor/model_runner.py": SGLANG,
    }
    if torch:
        files["torch/__init__.py"] = TORCH
    _write(folder, files)
