#include "analysis/figures/host/host_work.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace nl::analysis {
namespace {

struct ModuleWork {
  std::string_view pattern;  // "torch": it and all below it; "a.b*": whatever begins so; "*.b_*": whatever has it inside
  std::optional<HostWork> work;
};

// The first that matches.
constexpr ModuleWork kModules[] = {
    {"tokenizers", HostWork::kTokenizer},
    {"tiktoken", HostWork::kTokenizer},
    {"sentencepiece", HostWork::kTokenizer},
    {"*.tokenization_*", HostWork::kTokenizer},
    {"*tokenizer_manager*", HostWork::kTokenizer},
    {"vllm.transformers_utils.tokenizer*", HostWork::kTokenizer},
    {"vllm.transformers_utils.detokenizer*", HostWork::kTokenizer},
    {"vllm.v1.engine.detokenizer", HostWork::kTokenizer},
    {"*.image_processing_*", HostWork::kOther},
    {"*.processing_*", HostWork::kTokenizer},

    {"transformers.generation.logits_process", HostWork::kSampling},
    {"transformers.generation.stopping_criteria", HostWork::kSampling},
    {"vllm.v1.sample", HostWork::kSampling},
    {"vllm.model_executor.layers.sampler", HostWork::kSampling},
    {"vllm.model_executor.sampling_metadata", HostWork::kSampling},
    {"sglang.srt.layers.sampler", HostWork::kSampling},
    {"sglang.srt.sampling", HostWork::kSampling},
    {"transformers.generation", HostWork::kGeneration},
    {"transformers.cache_utils", HostWork::kGeneration},

    {"vllm.compilation", HostWork::kCompiler},
    {"vllm.model_executor", HostWork::kModel},
    {"vllm.entrypoints", HostWork::kServer},
    {"vllm.engine", HostWork::kServer},
    {"vllm.v1.engine", HostWork::kServer},
    {"vllm", HostWork::kGeneration},
    {"sglang.srt.models", HostWork::kModel},
    {"sglang.srt.layers", HostWork::kModel},
    {"sglang.srt.entrypoints", HostWork::kServer},
    {"sglang.srt.managers.io_struct", HostWork::kServer},
    {"sglang", HostWork::kGeneration},

    {"torch._dynamo", HostWork::kCompiler},
    {"torch._inductor", HostWork::kCompiler},
    {"torch._functorch", HostWork::kCompiler},
    {"torch._higher_order_ops", HostWork::kCompiler},
    {"torch.fx", HostWork::kCompiler},
    {"triton", HostWork::kCompiler},
    {"torch.utils.data", HostWork::kDataLoader},
    {"datasets", HostWork::kDataLoader},
    {"webdataset", HostWork::kDataLoader},
    {"torch", HostWork::kFramework},
    {"accelerate", HostWork::kFramework},
    {"transformers", HostWork::kModel},

    {"asyncio", HostWork::kServer},
    {"concurrent.futures", HostWork::kServer},
    {"multiprocessing", HostWork::kServer},
    {"queue", HostWork::kServer},
    {"selectors", HostWork::kServer},
    {"socket", HostWork::kServer},
    {"socketserver", HostWork::kServer},
    {"http", HostWork::kServer},
    {"aiohttp", HostWork::kServer},
    {"fastapi", HostWork::kServer},
    {"grpc", HostWork::kServer},
    {"ray", HostWork::kServer},
    {"starlette", HostWork::kServer},
    {"tornado", HostWork::kServer},
    {"uvicorn", HostWork::kServer},
    {"uvloop", HostWork::kServer},
    {"websockets", HostWork::kServer},
    {"zmq", HostWork::kServer},

    // Whose work it is, the caller says.
    {"abc", {}},
    {"collections", {}},
    {"contextlib", {}},
    {"copy", {}},
    {"dataclasses", {}},
    {"enum", {}},
    {"functools", {}},
    {"importlib", {}},
    {"inspect", {}},
    {"json", {}},
    {"logging", {}},
    {"numpy", {}},
    {"os", {}},
    {"posixpath", {}},
    {"re", {}},
    {"threading", {}},
    {"traceback", {}},
    {"types", {}},
    {"typing", {}},
    {"warnings", {}},
    {"weakref", {}},
};

// Native functions, by a part of their library's path.
constexpr ModuleWork kLibraries[] = {
    {"tokenizers", HostWork::kTokenizer}, {"libtorch", HostWork::kFramework},  {"libc10", HostWork::kFramework},
    {"libcuda", HostWork::kFramework},    {"libcublas", HostWork::kFramework}, {"libcudnn", HostWork::kFramework},
};

constexpr std::string_view kSyncSource[] = {".item(", ".tolist(", ".cpu(", ".numpy(", "synchronize(", ".to(\"cpu\"", ".to('cpu'"};
constexpr std::string_view kChoosesToken[] = {"multinomial(", "argmax("};
constexpr std::string_view kSamplesInLoop[] = {"softmax(", "logits_processor(", "stopping_criteria(", "next_token"};

bool names_module(std::string_view pattern, std::string_view module) {
  if (pattern.starts_with('*')) return module.find(pattern.substr(1, pattern.size() - 2)) != std::string_view::npos;
  if (pattern.ends_with('*')) return module.starts_with(pattern.substr(0, pattern.size() - 1));
  return module.starts_with(pattern) && (module.size() == pattern.size() || module[pattern.size()] == '.');
}

bool source_has(std::string_view text, std::span<const std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

// transformers' loop asks a tensor whether all sequences have ended: `elif this_peer_finished:`.
bool asks_tensor(const HostFrame& frame) {
  return frame.function.ends_with("_has_unfinished_sequences") && frame.source.find("this_peer_finished") != std::string::npos;
}

bool is_module_forward(std::string_view function) { return function == "forward" || function.ends_with(".forward"); }

std::optional<HostWork> native_work(const HostFrame& frame) {
  for (const ModuleWork& library : kLibraries)
    if (frame.file.find(library.pattern) != std::string::npos) return library.work;
  return std::nullopt;
}

std::optional<HostWork> module_work(const HostFrame& frame) {
  for (const ModuleWork& each : kModules)
    if (names_module(each.pattern, frame.module)) return each.work;
  return is_module_forward(frame.function) ? HostWork::kModel : HostWork::kOther;
}

bool is_pytorch(const HostFrame& frame) { return names_module("torch", frame.module); }

}  // namespace

std::optional<HostWork> work_of(const HostFrame& frame) {
  if (frame.file.find("/torchinductor_") != std::string::npos || frame.file.starts_with("<eval_with_key>")) return HostWork::kCompiler;
  if (frame.module.empty() && frame.line == 0) return native_work(frame);
  if (source_has(frame.source, kSyncSource) || asks_tensor(frame)) return HostWork::kSync;
  const auto work = module_work(frame);
  const bool loop = work == HostWork::kGeneration;
  if ((loop || work == HostWork::kOther) && source_has(frame.source, kChoosesToken)) return HostWork::kSampling;
  if (loop && source_has(frame.source, kSamplesInLoop)) return HostWork::kSampling;
  return work;
}

HostWorks::HostWorks(const std::vector<HostFrame>& frames) {
  for (const HostFrame& frame : frames) {
    works_.push_back(work_of(frame));
    python_caller_.push_back(frame.line > 0 && works_.back() && !is_pytorch(frame));
  }
}

HostWork HostWorks::of_stack(const std::vector<std::uint32_t>& stack) const {
  bool in_framework = false;
  for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame) {
    const auto work = works_[*frame];
    if (!work) continue;
    if (*work == HostWork::kFramework) {
      in_framework = true;
      continue;
    }
    if (!in_framework) return *work;
    const bool owns = *work == HostWork::kTokenizer || *work == HostWork::kSampling || *work == HostWork::kSync ||
                      *work == HostWork::kCompiler || *work == HostWork::kDataLoader;
    return owns ? *work : HostWork::kFramework;
  }
  return in_framework ? HostWork::kFramework : HostWork::kOther;
}

std::uint32_t HostWorks::calling_frame(const std::vector<std::uint32_t>& stack) const {
  const auto caller = std::find_if(stack.rbegin(), stack.rend(), [&](std::uint32_t frame) { return python_caller_[frame]; });
  return caller != stack.rend() ? *caller : stack.back();
}

}  // namespace nl::analysis
