#include "analysis/figures/host/host_work.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "analysis/figures/host/code_origin.h"
#include "analysis/figures/host/known_modules.h"

namespace nl::analysis {
namespace {

struct LibraryWork {
  HostWork work;
  std::string_view part;
};

// Native functions, by a part of their library's path.
constexpr LibraryWork kLibraries[] = {
    {HostWork::kTokenizer, "tokenizers"}, {HostWork::kFramework, "libtorch"}, {HostWork::kFramework, "libc10"},
    {HostWork::kCuda, "libcuda"},         {HostWork::kCuda, "libcublas"},     {HostWork::kCuda, "libcudnn"},
    {HostWork::kCuda, "libcupti"},        {HostWork::kCuda, "libnvidia"},     {HostWork::kCuda, "libnl_collector"},
};

constexpr std::string_view kSyncSource[] = {".item(", ".tolist(", ".cpu(", ".numpy(", "synchronize(", ".to(\"cpu\"", ".to('cpu'"};
constexpr std::string_view kSleepSource[] = {"time.sleep(", "asyncio.sleep("};
constexpr std::string_view kLoggingSource[] = {"print(", "logger.", "logging.", "log.info(", "log.debug(", "sys.stdout.", "sys.stderr."};
constexpr std::string_view kExchangeSource[] = {".Allreduce(", ".Allgather(", ".Alltoall(", ".Barrier(",
                                                ".Bcast(",     ".Recv(",      ".Sendrecv("};  // MPI
constexpr std::string_view kJsonSource[] = {"json.dump", "json.load"};
constexpr std::string_view kChoosesToken[] = {"multinomial(", "argmax("};
constexpr std::string_view kSamplesInLoop[] = {"softmax(", "logits_processor(", "stopping_criteria(", "next_token"};

bool source_has(std::string_view text, std::span<const std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

// transformers' loop asks a tensor whether all sequences have ended: `elif this_peer_finished:`.
bool asks_tensor(const HostFrame& frame) {
  return frame.function.ends_with("_has_unfinished_sequences") && frame.source.find("this_peer_finished") != std::string::npos;
}

std::optional<HostWork> native_work(const HostFrame& frame) {
  for (const LibraryWork& each : kLibraries)
    if (frame.file.find(each.part) != std::string::npos) return each.work;
  if (is_linked_cuda(frame.function)) return HostWork::kCuda;
  return origin_of(frame) == CodeOrigin::kUser ? std::optional(HostWork::kUser) : std::nullopt;
}

std::optional<HostWork> module_work(const HostFrame& frame) {
  if (const auto known = known_work(frame.module)) return known->work;
  if (is_module_forward(frame)) return HostWork::kModel;
  if (is_standard_library(frame)) return std::nullopt;
  return origin_of(frame) == CodeOrigin::kUser ? HostWork::kUser : HostWork::kOther;
}

// "_reorder_cache", "reorder_cache", "_temporary_reorder_cache", "batch_select_indices": beams that change places.
bool reorders_cache(std::string_view function) {
  return function.find("reorder_cache") != std::string_view::npos || function.ends_with("batch_select_indices");
}

// What a line of the user's own code does by a function without a frame of its own: print(), time.sleep(), a native JSON library.
HostWork builtin_work(const HostFrame& frame) {
  if (source_has(frame.source, kSleepSource)) return HostWork::kSleep;
  if (source_has(frame.source, kJsonSource)) return HostWork::kJson;
  if (source_has(frame.source, kExchangeSource)) return HostWork::kExchange;
  return source_has(frame.source, kLoggingSource) ? HostWork::kLogging : HostWork::kUser;
}

// PyTorch, CUDA and queues: whose work it is, a caller may know better.
bool asks_caller(HostWork work) { return work == HostWork::kFramework || work == HostWork::kCuda || work == HostWork::kServer; }

// Whether work that calls the other is what it is about.
bool owns(HostWork caller, HostWork callee) {
  if (callee == HostWork::kServer) return caller == HostWork::kDataLoader || caller == HostWork::kTokenizer;
  if (callee == HostWork::kCuda && caller == HostWork::kFramework) return true;
  if (callee != HostWork::kFramework && callee != HostWork::kCuda) return false;
  return caller == HostWork::kTokenizer || caller == HostWork::kSampling || caller == HostWork::kSync || caller == HostWork::kCompiler ||
         caller == HostWork::kDataLoader || caller == HostWork::kOptimizer;
}

bool is_pytorch(const HostFrame& frame) { return names_module("torch", frame.module); }

}  // namespace

std::optional<HostWork> work_of(const HostFrame& frame) {
  if (frame.file.find("/torchinductor_") != std::string::npos || frame.file.starts_with("<eval_with_key>")) return HostWork::kCompiler;
  if (is_native(frame)) return native_work(frame);
  if (source_has(frame.source, kSyncSource) || asks_tensor(frame)) return HostWork::kSync;
  if (reorders_cache(frame.function)) return HostWork::kGeneration;
  const auto work = module_work(frame);
  const bool loop = work == HostWork::kGeneration;
  const bool unnamed = work == HostWork::kOther || work == HostWork::kUser;
  if ((loop || unnamed) && source_has(frame.source, kChoosesToken)) return HostWork::kSampling;
  if (loop && source_has(frame.source, kSamplesInLoop)) return HostWork::kSampling;
  if (work == HostWork::kFramework && frame.function.ends_with("zero_grad")) return HostWork::kOptimizer;
  return work == HostWork::kUser ? builtin_work(frame) : work;
}

HostWorks::HostWorks(const std::vector<HostFrame>& frames) {
  for (const HostFrame& frame : frames) {
    works_.push_back(work_of(frame));
    const bool python = frame.line > 0 && works_.back() && !is_pytorch(frame);
    caller_.push_back(python || (is_native(frame) && origin_of(frame) == CodeOrigin::kUser));
  }
}

HostWork HostWorks::of_stack(const std::vector<std::uint32_t>& stack) const {
  std::optional<HostWork> found;
  for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame) {
    const auto work = works_[*frame];
    if (!work) continue;
    if (!found) found = work;
    else if (owns(*work, *found)) found = work;
    if (!asks_caller(*found)) break;
    const bool passes_on = asks_caller(*work) || *found == HostWork::kServer;
    if (passes_on && *work != HostWork::kUser) continue;
    break;
  }
  if (!found) return HostWork::kOther;
  return serves_data_loader(*found, stack) ? HostWork::kDataLoader : *found;
}

// A dataset's own code, its queues and its JSON are loading data: the data loader runs them.
bool HostWorks::serves_data_loader(HostWork work, const std::vector<std::uint32_t>& stack) const {
  switch (work) {
    case HostWork::kUser:
    case HostWork::kOther:
    case HostWork::kServer:
    case HostWork::kJson:
    case HostWork::kLogging:
    case HostWork::kSleep: break;
    default: return false;
  }
  return std::any_of(stack.begin(), stack.end(), [&](std::uint32_t frame) { return works_[frame] == HostWork::kDataLoader; });
}

std::uint32_t HostWorks::calling_frame(const std::vector<std::uint32_t>& stack) const {
  const auto caller = std::find_if(stack.rbegin(), stack.rend(), [&](std::uint32_t frame) { return caller_[frame]; });
  return caller != stack.rend() ? *caller : stack.back();
}

}  // namespace nl::analysis
