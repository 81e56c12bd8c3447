#include <algorithm>

#include "analysis/verdicts/rules/fields.h"

namespace nl::analysis::rules {
namespace {

using Read = Value (*)(const Subject&);

double number(std::uint64_t value) { return static_cast<double>(value); }

// trtexec times the GPU only.
template <class T>
Value host_time(const Subject& s, T ns) {
  return s.op().host_time_known ? Value::of(static_cast<double>(ns)) : Value::none();
}

Value cuda_share(const Subject& s) {
  const auto& all = s.run->operators[s.table].cuda_ns;
  if (!all || !s.op().cuda_self_ns) return Value::not_captured();
  return *all > 0 ? Value::of(static_cast<double>(*s.op().cuda_self_ns) / static_cast<double>(*all)) : Value::none();
}

Value operator_stage(const Subject& s) {
  const auto& stages = s.op().stages;
  const auto most = std::max_element(stages.begin(), stages.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == stages.end() ? Value::none() : Value::of_text(most->first);
}

Value kernel_calls(const Subject& s) {
  if (!s.op().cuda_total_ns) return Value::not_captured();
  double calls = 0;
  for (const OperatorKernel& kernel : s.op().kernels) calls += number(kernel.calls);
  return Value::of(calls);
}

}  // namespace

void add_operator_fields(std::vector<Field>& fields) {
  const auto add = [&](std::string_view name, Unit unit, Capture capture, std::string_view help, Read read) {
    fields.push_back({name, kN, unit, capture, Place::kSelf, help, read});
  };
  const auto text = [&](std::string_view name, std::string_view help, Read read) {
    fields.push_back({name, Type::kText, Unit::kWords, Capture::kOperators, Place::kSelf, help, read});
  };
  text("name", "such as `aten::mm`", [](const Subject& s) { return Value::of_text(s.op().name); });
  text("source", "pytorch ranges, NVTX ranges, kineto, onnxruntime or trtexec",
       [](const Subject& s) { return Value::of_text(s.run->operators[s.table].source); });
  text("type", "matmul, attention, norm …; of TensorRT its layer type",
       [](const Subject& s) { return s.op().type.empty() ? Value::none() : Value::of_text(s.op().type); });
  text("main_stage", "the stage in which it spends the most time", operator_stage);
  add("calls", Unit::kCount, Capture::kOperators, "how often it was called",
      [](const Subject& s) { return Value::of(number(s.op().calls)); });
  add("total_time", Unit::kTime, Capture::kOperators, "host time, with what it calls",
      [](const Subject& s) { return host_time(s, s.op().total_ns); });
  add("self_time", Unit::kTime, Capture::kOperators, "host time, without what it calls",
      [](const Subject& s) { return host_time(s, s.op().self_ns); });
  add("mean_time", Unit::kTime, Capture::kOperators, "`total_time` ÷ `calls`", [](const Subject& s) {
    return s.op().calls > 0 ? host_time(s, static_cast<double>(s.op().total_ns) / number(s.op().calls)) : Value::none();
  });
  add("cuda_time", Unit::kTime, Capture::kCuda, "GPU time of what was launched inside",
      [](const Subject& s) { return Value::of(s.op().cuda_total_ns); });
  add("cuda_self_time", Unit::kTime, Capture::kCuda, "GPU time of what it launched itself",
      [](const Subject& s) { return Value::of(s.op().cuda_self_ns); });
  add("own_time", Unit::kTime, Capture::kOperators, "`cuda_self_time` where there is GPU data, else `self_time`",
      [](const Subject& s) { return s.op().cuda_self_ns ? Value::of(s.op().cuda_self_ns) : host_time(s, s.op().self_ns); });
  add("cuda_share", Unit::kShare, Capture::kCuda, "`cuda_self_time` ÷ that of all operators of its source", cuda_share);
  add("kernel_calls", Unit::kCount, Capture::kCuda, "executions of its listed kernels", kernel_calls);
  add("shapes", Unit::kCount, Capture::kOperators, "different listed input shapes",
      [](const Subject& s) { return s.op().shapes.empty() ? Value::not_captured() : Value::of(number(s.op().shapes.size())); });
  add_node_fields(fields);
}

}  // namespace nl::analysis::rules
