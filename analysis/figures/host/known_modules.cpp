#include "analysis/figures/host/known_modules.h"

#include <algorithm>

namespace nl::analysis {
namespace {

enum class Tells : std::uint8_t {
  kWork,    // what the code does
  kCaller,  // that its caller says what it is for
  kOrigin,  // no more than who wrote it
};

struct KnownModules {
  CodeOrigin origin;  // of patterns that begin with a name
  Tells tells;
  HostWork work;
  std::string_view patterns;  // separated by blanks
};

constexpr CodeOrigin kFramework = CodeOrigin::kFramework, kLibrary = CodeOrigin::kLibrary;

constexpr KnownModules does(CodeOrigin origin, HostWork work, std::string_view patterns) { return {origin, Tells::kWork, work, patterns}; }

// The first that matches tells what the code does. The first with the module's first name tells who wrote it. Frameworks launch GPU work;
// libraries are the standard library and packages, whose files may lie anywhere: in an archive, inside the interpreter, in a test.
constexpr KnownModules kModules[] = {
    does(kLibrary, HostWork::kTokenizer, "tokenizers tiktoken sentencepiece *.tokenization_* *tokenizer_manager*"),
    does(kFramework, HostWork::kTokenizer,
         "vllm.transformers_utils.tokenizer* vllm.transformers_utils.detokenizer* vllm.v1.engine.detokenizer"),
    does(kLibrary, HostWork::kOther, "*.image_processing_*"),
    does(kLibrary, HostWork::kTokenizer, "*.processing_*"),
    does(kFramework, HostWork::kSampling,
         "transformers.generation.logits_process transformers.generation.stopping_criteria vllm.v1.sample "
         "vllm.model_executor.layers.sampler vllm.model_executor.sampling_metadata sglang.srt.layers.sampler sglang.srt.sampling"),
    does(kFramework, HostWork::kGeneration, "transformers.generation transformers.cache_utils"),
    does(kFramework, HostWork::kCompiler, "vllm.compilation"),
    does(kFramework, HostWork::kModel, "vllm.model_executor"),
    does(kFramework, HostWork::kServer, "vllm.entrypoints vllm.engine vllm.v1.engine"),
    does(kFramework, HostWork::kGeneration, "vllm"),
    does(kFramework, HostWork::kModel, "sglang.srt.models sglang.srt.layers"),
    does(kFramework, HostWork::kServer, "sglang.srt.entrypoints sglang.srt.managers.io_struct"),
    does(kFramework, HostWork::kGeneration, "sglang"),
    does(kFramework, HostWork::kOptimizer,
         "torch.optim torch.cuda.amp.grad_scaler torch.amp.grad_scaler optax apex.optimizers bitsandbytes.optim deepspeed.ops.adam"),
    does(kFramework, HostWork::kCompiler, "torch._dynamo torch._inductor torch._functorch torch._higher_order_ops torch.fx triton"),
    does(kFramework, HostWork::kDataLoader, "torch.utils.data"),
    does(kLibrary, HostWork::kDataLoader, "datasets webdataset grain torchdata"),
    does(kFramework, HostWork::kLogging, "torch.utils.tensorboard"),
    does(kLibrary, HostWork::kLogging, "logging loguru tqdm rich wandb tensorboardX tensorboard mlflow structlog"),
    does(kLibrary, HostWork::kJson, "json orjson ujson simplejson"),
    does(kFramework, HostWork::kExchange,
         "torch.distributed.distributed_c10d torch.distributed.c10d_logger torch.distributed.rpc mpi4py horovod"),
    does(kFramework, HostWork::kFramework, "torch accelerate"),
    does(kFramework, HostWork::kModel, "transformers"),
    does(kLibrary, HostWork::kServer,
         "asyncio concurrent.futures multiprocessing queue selectors socket socketserver ssl http aiohttp fastapi grpc ray starlette "
         "tornado uvicorn uvloop websockets zmq"),
    {kLibrary, Tells::kCaller, HostWork::kOther,
     "abc collections contextlib copy dataclasses enum functools importlib inspect numpy os posixpath re threading traceback types typing "
     "warnings weakref"},
    {kFramework, Tells::kOrigin, HostWork::kOther,
     "apex bitsandbytes cupy deepspeed diffusers equinox flash_attn flax haiku jax jaxlib keras lightning numba onnxruntime optimum peft "
     "pycuda pytorch_lightning tensorflow tensorrt tensorrt_llm timm torchaudio torchvision xformers"},
    {kLibrary, Tells::kOrigin, HostWork::kOther,
     "ast base64 bisect codecs concurrent csv ctypes datetime decimal gc genericpath glob hashlib heapq html io itertools operator pandas "
     "pathlib pickle PIL pkgutil pydantic random requests runpy scipy shutil string struct subprocess tempfile textwrap time tokenize "
     "urllib uuid zipfile"},
};

template <class Matches>
bool any_pattern(std::string_view patterns, Matches matches) {
  for (std::size_t at = 0, end = 0; at < patterns.size(); at = end + 1) {
    end = std::min(patterns.find(' ', at), patterns.size());
    if (matches(patterns.substr(at, end - at))) return true;
  }
  return false;
}

std::string_view first_name(std::string_view module) { return module.substr(0, module.find('.')); }

}  // namespace

bool names_module(std::string_view pattern, std::string_view module) {
  if (pattern.starts_with('*')) return module.find(pattern.substr(1, pattern.size() - 2)) != std::string_view::npos;
  if (pattern.ends_with('*')) return module.starts_with(pattern.substr(0, pattern.size() - 1));
  return module.starts_with(pattern) && (module.size() == pattern.size() || module[pattern.size()] == '.');
}

std::optional<CodeOrigin> known_origin(std::string_view module) {
  const std::string_view name = first_name(module);
  if (name.empty()) return std::nullopt;
  for (const KnownModules& each : kModules)
    if (any_pattern(each.patterns, [&](std::string_view pattern) { return first_name(pattern) == name; })) return each.origin;
  return std::nullopt;
}

std::optional<KnownWork> known_work(std::string_view module) {
  for (const KnownModules& each : kModules)
    if (each.tells != Tells::kOrigin && any_pattern(each.patterns, [&](std::string_view pattern) { return names_module(pattern, module); }))
      return KnownWork{each.tells == Tells::kCaller ? std::nullopt : std::optional(each.work)};
  return std::nullopt;
}

}  // namespace nl::analysis
