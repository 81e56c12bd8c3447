#include "adapters/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "adapters/tensor_types.h"
#include "nvtx/nl_nvtx.hpp"

namespace nl::adapters {
namespace {

Ns now_ns() { return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void warm_up(Session& session, const MeasureOptions& options) {
  for (std::uint32_t n = 0; n < options.warmup; ++n) {
    options.session.check_interrupt();
    session.run();
  }
}

std::vector<Ns> timed_iterations(Session& session, const MeasureOptions& options, bool marked) {
  std::vector<Ns> times;
  for (std::uint32_t n = 0; n < options.iterations; ++n) {
    options.session.check_interrupt();
    const Ns begin = now_ns();
    if (marked) {
      nvtx::Scope iteration(kIterationStage, n);
      session.run();
    } else {
      session.run();
    }
    times.push_back(now_ns() - begin);
  }
  return times;
}

template <class Value>
std::size_t not_numbers(const Tensor& tensor) {
  std::size_t count = 0;
  for (std::size_t at = 0; at + sizeof(Value) <= tensor.data.size(); at += sizeof(Value)) {
    Value value;
    std::memcpy(&value, tensor.data.data() + at, sizeof value);
    count += std::isnan(value) ? 1 : 0;
  }
  return count;
}

// All bits of the exponent set, and one of the mantissa.
std::size_t not_numbers_16(const Tensor& tensor, unsigned exponent) {
  std::size_t count = 0;
  for (std::size_t at = 0; at + 2 <= tensor.data.size(); at += 2) {
    std::uint16_t bits;
    std::memcpy(&bits, tensor.data.data() + at, sizeof bits);
    count += (bits & exponent) == exponent && (bits & 0x7fffu & ~exponent) != 0 ? 1 : 0;
  }
  return count;
}

std::size_t nans_of(const Tensor& tensor) {
  if (tensor.dtype == "float32") return not_numbers<float>(tensor);
  if (tensor.dtype == "float64") return not_numbers<double>(tensor);
  if (tensor.dtype == "float16") return not_numbers_16(tensor, 0x7c00);
  return tensor.dtype == "bfloat16" ? not_numbers_16(tensor, 0x7f80) : 0;
}

void describe_results(Session& session, ModelSession& out) {
  const std::vector<TensorSpec> specs = session.outputs();
  for (const Tensor& tensor : session.results()) {
    std::string declared;
    for (const TensorSpec& spec : specs)
      if (spec.name == tensor.name) declared = declared_text(spec);
    out.outputs.push_back({tensor.name, tensor.dtype, declared, tensor.shape});
    if (const std::size_t count = nans_of(tensor); count > 0)
      out.notes.push_back(fmt::format("{}: {} of {} values are NaN", tensor.name, count, values_in(tensor.shape)));
  }
}

void describe_inputs(const Session& session, const std::vector<Tensor>& tensors, ModelSession& out) {
  const std::vector<TensorSpec> specs = session.inputs();
  for (std::size_t n = 0; n < tensors.size(); ++n)
    out.inputs.push_back({tensors[n].name, tensors[n].dtype, declared_text(specs[n]), tensors[n].shape});
}

// Nodes that only the warm-up ran: a backend that optimises a graph while it runs it has such.
std::vector<bool> only_warmed_up(const Executions& executions, std::uint32_t warmup) {
  std::vector<bool> only(executions.nodes.size(), false);
  for (const NodeRun& run : executions.runs) only.at(run.node) = true;
  for (const NodeRun& run : executions.runs)
    if (run.iteration >= warmup) only[run.node] = false;
  return only;
}

std::unique_ptr<Session> opened(const Adapter& adapter, const MeasureOptions& options, bool profiled) {
  SessionOptions session = options.session;
  session.profiled = profiled;
  const std::string file = session.model.filename().string();
  session.progress(fmt::format("loading {}{}", file, profiled ? " once more, to profile it" : ""));
  const std::jthread loading = tell_load_progress(file, session.progress);
  return adapter.open(session);
}

// The types with the most bytes first.
void describe_weights(const Session& session, ModelSession& out) {
  const ModelWeights weights = session.weights();
  for (const auto& file : weights.files) out.weight_files.push_back(file.string());
  for (const auto& [dtype, bytes] : weights.bytes_by_dtype) out.weight_dtypes.push_back(dtype);
  std::stable_sort(out.weight_dtypes.begin(), out.weight_dtypes.end(),
                   [&](const std::string& a, const std::string& b) { return weights.bytes_by_dtype.at(a) > weights.bytes_by_dtype.at(b); });
}

}  // namespace

std::jthread tell_load_progress(std::string what, std::function<void(const std::string&)> say, std::chrono::milliseconds every) {
  return std::jthread([what = std::move(what), say = std::move(say), every](const std::stop_token& loaded) {
    const auto begin = std::chrono::steady_clock::now();
    std::mutex mutex;
    std::condition_variable_any ended;
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, loaded, every, [&] { return loaded.stop_requested(); })) {
      const auto passed = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
      say(fmt::format("still loading {}, {} s", what, passed.count()));
    }
  });
}

void keep_measured(Executions executions, ModelSession& session) {
  session.profile = std::move(executions.profile);
  session.host_times_known = executions.host_times_known;
  const std::vector<bool> dropped = only_warmed_up(executions, session.warmup);
  std::vector<std::uint32_t> kept_as(dropped.size());
  for (std::size_t n = 0; n < dropped.size(); ++n) {
    kept_as[n] = static_cast<std::uint32_t>(session.nodes.size());
    if (!dropped[n]) session.nodes.push_back(std::move(executions.nodes[n]));
  }
  for (const NodeRun& run : executions.runs)
    if (run.iteration >= session.warmup)
      session.runs.push_back({run.iteration - session.warmup, kept_as[run.node], run.start_ns, run.host_ns, run.gpu_ns});
}

ModelSession measure(const Adapter& adapter, const MeasureOptions& options) {
  ModelSession out;
  out.backend = adapter.name();
  out.version = adapter.availability().version;
  out.provider = options.session.provider;
  out.precision = options.session.precision;
  out.model = options.session.model.string();
  out.inputs_from = options.inputs == "random" ? fmt::format("random, seed {}", options.seed) : options.inputs;
  out.threads = options.session.threads;
  out.warmup = options.warmup;

  const Ns begin = now_ns();
  std::unique_ptr<Session> session = opened(adapter, options, false);
  out.load_ns = now_ns() - begin;
  const std::vector<Tensor> inputs = make_inputs(session->inputs(), options.inputs, options.seed, options.dims, options.shapes);
  describe_inputs(*session, inputs, out);
  describe_weights(*session, out);
  const Ns bind_begin = now_ns();
  session->bind(inputs);
  out.load_ns += now_ns() - bind_begin;  // TensorRT builds an engine for the shapes that it is given
  options.session.progress(fmt::format("{} iterations unprofiled", options.iterations));
  warm_up(*session, options);
  out.unprofiled_ns = timed_iterations(*session, options, false);
  describe_results(*session, out);
  session.reset();  // a second one beside it might not fit into memory

  session = opened(adapter, options, true);
  session->bind(inputs);
  options.session.progress(fmt::format("{} iterations profiled", options.iterations));
  warm_up(*session, options);
  out.profiled_ns = timed_iterations(*session, options, true);
  keep_measured(session->executions(), out);
  return out;
}

}  // namespace nl::adapters
