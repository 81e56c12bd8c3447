#include "adapters/libtorch/recorder.h"

#include <time.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <algorithm>
#include <atomic>

#include "adapters/libtorch/tensors.h"
#include "nvtx/nl_nvtx.hpp"

namespace nl::adapters {
namespace {

constexpr std::int64_t kNoTensor = -1;
constexpr const char* kCpu = "cpu";  // as c10::Device writes it

Ns monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return Ns{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

// In the default domain, where PyTorch's own ranges are.
#ifdef NL_NVTX_ENABLED
void open_range(const std::string& name) { nvtxRangePushA(name.c_str()); }
void close_range() { nvtxRangePop(); }
#else
void open_range(const std::string&) {}
void close_range() {}
#endif

std::atomic<Recorder*> recording{nullptr};
thread_local std::vector<std::uint32_t> open_calls;  // of this thread, the innermost last

// Each start has its end on the same thread, whether it is recorded or not: a forked task may outlive its iteration.
std::unique_ptr<at::ObserverContext> on_start(const at::RecordFunction& function) {
  const std::uint32_t parent = open_calls.empty() ? RecordedCall::kNone : open_calls.back();
  open_calls.push_back(RecordedCall::kNone);
  if (Recorder* recorder = recording.load(std::memory_order_relaxed)) open_calls.back() = recorder->begin(function, parent);
  return nullptr;
}

void on_end(const at::RecordFunction&, at::ObserverContext*) {
  const Ns time_ns = monotonic_ns();
  if (open_calls.empty()) return;
  const std::uint32_t call = open_calls.back();
  open_calls.pop_back();
  if (call == RecordedCall::kNone) return;
  close_range();
  if (Recorder* recorder = recording.load(std::memory_order_relaxed)) recorder->end(call, time_ns);
}

// TorchScript's interpreter hands over its whole stack: the inputs are the last on it.
c10::ArrayRef<const c10::IValue> inputs_of(const at::RecordFunction& function) {
  const auto values = function.inputs();
  const std::size_t count = std::min(function.num_inputs(), values.size());
  return values.slice(values.size() - count);
}

// "blocks.0.mlp" of TOP(Model)::forward, blocks(ModuleList)::__getitem__, 0(Block)::forward, mlp(MLP)::forward, SELF(MLP)::activate
std::string current_module() {
  std::string path;
  for (const std::string& call : torch::jit::currentModuleHierarchy()) {
    const std::string name = call.substr(0, call.find('('));
    if (name != "TOP" && name != "SELF") path += (path.empty() ? "" : ".") + name;
  }
  return path;
}

std::string device_text(std::int64_t type, std::int64_t index) {
  return c10::Device(static_cast<c10::DeviceType>(type), static_cast<c10::DeviceIndex>(index)).str();
}

}  // namespace

void InputFacts::read(c10::ArrayRef<const c10::IValue> inputs) {
  facts_.clear();
  for (const c10::IValue& input : inputs) {
    if (input.isTensor()) add(input.toTensor());
    else if (input.isTensorList())
      for (const at::Tensor& tensor : input.toTensorVector()) add(tensor);
    else facts_.push_back(kNoTensor);
  }
}

// Type, device, number of dimensions, and the dimensions.
void InputFacts::add(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.is_nested()) return facts_.push_back(kNoTensor);
  const c10::Device device = tensor.device();
  const auto sizes = tensor.sizes();
  facts_.insert(facts_.end(), {static_cast<std::int64_t>(tensor.scalar_type()), static_cast<std::int64_t>(device.type()), device.index(),
                               static_cast<std::int64_t>(sizes.size())});
  facts_.insert(facts_.end(), sizes.begin(), sizes.end());
}

void InputFacts::describe(SessionNode& node) const {
  for (std::size_t at = 0; at < facts_.size();) {
    node.shapes += node.shapes.empty() ? "[[" : ", [";
    if (const std::int64_t type = facts_[at++]; type != kNoTensor) {
      node.dtypes += (node.dtypes.empty() ? "[" : ", ") + name_of_type(static_cast<c10::ScalarType>(type));
      // A scalar on the CPU goes along with tensors on a GPU: they decide where the operator runs.
      if (node.provider.empty() || node.provider == kCpu) node.provider = device_text(facts_[at], facts_[at + 1]);
      const std::size_t first = at + 3, last = first + static_cast<std::size_t>(facts_[at + 2]);
      for (at = first; at < last; ++at) node.shapes += (at == first ? "" : ", ") + std::to_string(facts_[at]);
    }
    node.shapes += "]";
  }
  if (!node.shapes.empty()) node.shapes += "]";
  if (!node.dtypes.empty()) node.dtypes += "]";
}

Recorder::Iteration::Iteration(Recorder& recorder) {
  recorder.position_ = 0;
  recorder.diverged_ = false;
  recording = &recorder;
  callback_ =
      at::addThreadLocalCallback(at::RecordFunctionCallback(on_start, on_end).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
}

Recorder::Iteration::~Iteration() {
  at::removeCallback(callback_);
  Recorder* recorder = recording.exchange(nullptr);
  ++recorder->iterations_;
}

std::uint32_t Recorder::begin(const at::RecordFunction& function, std::uint32_t parent) {
  const std::lock_guard lock(mutex_);
  const std::uint32_t look = look_of(function);
  open_range(looks_[look].range);
  const Ns now_ns = monotonic_ns();
  calls_.push_back({iterations_, look, parent, now_ns, now_ns});
  return static_cast<std::uint32_t>(calls_.size() - 1);
}

void Recorder::end(std::uint32_t call, Ns time_ns) {
  const std::lock_guard lock(mutex_);
  if (call < calls_.size()) calls_[call].end_ns = time_ns;
}

std::uint32_t Recorder::look_of(const at::RecordFunction& function) {
  facts_.read(inputs_of(function));
  if (position_ == at_position_.size()) at_position_.push_back(RecordedCall::kNone);
  std::uint32_t& look = at_position_[position_++];
  diverged_ = diverged_ || look == RecordedCall::kNone || looks_[look].node.type != function.name() || looks_[look].facts != facts_;
  if (diverged_) look = new_look(function.name());
  return look;
}

// "aten::mm, op_id = 12, sizes = [[2, 16], [16, 16]]"
std::uint32_t Recorder::new_look(const char* name) {
  Look look{{}, facts_, {}};
  look.node.type = name;
  look.node.name = current_module();
  look.node.index = position_;
  facts_.describe(look.node);
  look.range = look.node.type + ", op_id = " + std::to_string(*look.node.index);
  if (!look.node.shapes.empty()) look.range += ", sizes = " + look.node.shapes;
  looks_.push_back(std::move(look));
  return static_cast<std::uint32_t>(looks_.size() - 1);
}

Executions Recorder::executions() const {
  std::vector<SessionNode> nodes;
  for (const Look& look : looks_) nodes.push_back(look.node);
  return executions_of(calls_, nodes);
}

}  // namespace nl::adapters
