#include "analysis/figures/host/host_work.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace nl::analysis {
namespace {

struct ModuleWork {
  std::optional<HostWork> work;
  // Separated by blanks. "torch": it and all below it; "a.b*": whatever begins so; "*.b_*": whatever has it inside
  std::string_view patterns;
};

// The first that matches.
constexpr ModuleWork kModules[] = {
    {HostWork::kTokenizer,
     "tokenizers tiktoken sentencepiece *.tokenization_* *tokenizer_manager* vllm.transformers_utils.tokenizer* "
     "vllm.transformers_utils.detokenizer* vllm.v1.engine.detokenizer"},
    {HostWork::kOther, "*.image_processing_*"},
    {HostWork::kTokenizer, "*.processing_*"},
    {HostWork::kSampling,
     "transformers.generation.logits_process transformers.generation.stopping_criteria vllm.v1.sample vllm.model_executor.layers.sampler "
     "vllm.model_executor.sampling_metadata sglang.srt.layers.sampler sglang.srt.sampling"},
    {HostWork::kGeneration, "transformers.generation transformers.cache_utils"},
    {HostWork::kCompiler, "vllm.compilation"},
    {HostWork::kModel, "vllm.model_executor"},
    {HostWork::kServer, "vllm.entrypoints vllm.engine vllm.v1.engine"},
    {HostWork::kGeneration, "vllm"},
    {HostWork::kModel, "sglang.srt.models sglang.srt.layers"},
    {HostWork::kServer, "sglang.srt.entrypoints sglang.srt.managers.io_struct"},
    {HostWork::kGeneration, "sglang"},
    {HostWork::kCompiler, "torch._dynamo torch._inductor torch._functorch torch._higher_order_ops torch.fx triton"},
    {HostWork::kDataLoader, "torch.utils.data datasets webdataset"},
    {HostWork::kFramework, "torch accelerate"},
    {HostWork::kModel, "transformers"},
    {HostWork::kServer,
     "asyncio concurrent.futures multiprocessing queue selectors socket socketserver http aiohttp fastapi grpc ray starlette tornado "
     "uvicorn uvloop websockets zmq"},
    // Whose work it is, the caller says.
    {{},
     "abc collections contextlib copy dataclasses enum functools importlib inspect json logging numpy os posixpath re threading "
     "traceback types typing warnings weakref"},
};

// Native functions, by a part of their library's path.
constexpr ModuleWork kLibraries[] = {
    {HostWork::kTokenizer, "tokenizers"},
    {HostWork::kFramework, "libtorch libc10 libcuda libcublas libcudnn"},
};

constexpr std::string_view kSyncSource[] = {".item(", ".tolist(", ".cpu(", ".numpy(", "synchronize(", ".to(\"cpu\"", ".to('cpu'"};
constexpr std::string_view kChoosesToken[] = {"multinomial(", "argmax("};
constexpr std::string_view kSamplesInLoop[] = {"softmax(", "logits_processor(", "stopping_criteria(", "next_token"};

template <class Matches>
bool any_pattern(std::string_view patterns, Matches matches) {
  for (std::size_t at = 0, end = 0; at < patterns.size(); at = end + 1) {
    end = std::min(patterns.find(' ', at), patterns.size());
    if (matches(patterns.substr(at, end - at))) return true;
  }
  return false;
}

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
  for (const ModuleWork& each : kLibraries)
    if (any_pattern(each.patterns, [&](std::string_view library) { return frame.file.find(library) != std::string::npos; }))
      return each.work;
  return std::nullopt;
}

std::optional<HostWork> module_work(const HostFrame& frame) {
  for (const ModuleWork& each : kModules)
    if (any_pattern(each.patterns, [&](std::string_view pattern) { return names_module(pattern, frame.module); })) return each.work;
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
