#include "exporters/report/text/operator_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "exporters/report/text/run_text.h"

namespace nl::exporters::report {
namespace {

void add_kernels(const std::vector<OperatorKernel>& more, std::vector<OperatorKernel>& all) {
  for (const OperatorKernel& kernel : more) {
    const auto same = std::find_if(all.begin(), all.end(), [&](const OperatorKernel& other) { return other.name == kernel.name; });
    if (same == all.end()) {
      all.push_back(kernel);
    } else {
      same->calls += kernel.calls;
      same->total_ns += kernel.total_ns;
    }
  }
}

}  // namespace

std::vector<OuterCall> outer_calls(const OperatorStep& step) {
  std::vector<OuterCall> out;
  for (const OperatorCall& call : step.calls) {
    if (call.depth == 0 || out.empty()) out.push_back({&call, {}, {}});
    OuterCall& outer = out.back();
    if (call.gpu_ns) outer.gpu_ns = outer.gpu_ns.value_or(0) + *call.gpu_ns;
    add_kernels(call.kernels, outer.kernels);
  }
  return out;
}

std::string step_text(const OperatorStep& step, std::size_t shown) {
  std::uint64_t launches = 0;
  std::optional<Ns> gpu_ns;
  for (const OperatorCall& call : step.calls) {
    for (const OperatorKernel& kernel : call.kernels) launches += kernel.calls;
    if (call.gpu_ns) gpu_ns = gpu_ns.value_or(0) + *call.gpu_ns;
  }
  const std::size_t outer = outer_calls(step).size();
  std::string text = fmt::format(
      "{} with operators: {}",
      step.windows == 1 ? "The only " + step.stage + " window" : fmt::format("The median of {} {} windows", step.windows, step.stage),
      plural(step.calls.size() + step.calls_left_out, "operator"));
  if (step.calls_left_out > 0) text += fmt::format("; listed: the first {}", step.calls.size());
  if (gpu_ns)
    text += fmt::format(", {} of kernels and copies, {} ms of GPU time", plural(launches, "launch", "launches"),
                        exact_ms_text(static_cast<double>(*gpu_ns)));
  text += ". Each row is an operator that no other calls, with all that it calls.";
  if (step.gpu_outside_ns.value_or(0) > 0)
    text += fmt::format(" Launched by no operator: {} ms of GPU time.", exact_ms_text(static_cast<double>(*step.gpu_outside_ns)));
  if (shown < outer) text += fmt::format(" The first {} of {} rows are shown.", shown, outer);
  return text + fmt::format(" run.json has {} (operator_steps).", step.calls_left_out > 0 ? "every listed call" : "every call");
}

std::string typed_shapes(const std::string& shapes, const std::string& dtypes) {
  return dtypes.empty() || shapes.empty() ? shapes : shapes + " of " + dtypes;
}

}  // namespace nl::exporters::report
