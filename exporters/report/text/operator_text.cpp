#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/operator_text.h"
#include "exporters/report/text/run_text.h"
#include "model/operator.h"

namespace nl::exporters::report {
namespace {

double share_of_all(Ns part, Ns all) { return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0; }

std::string ms(Ns ns) { return exact_ms_text(static_cast<double>(ns)) + " ms"; }

// "Five iterations ran these nodes", and how many ran others.
std::string iterations_text(const OperatorStep& step) {
  const std::string nodes = plural(step.calls.size() + step.calls_left_out, "node");
  if (step.iterations < step.windows)
    return fmt::format("{} of {} ran these {} with these shapes.", step.iterations, plural(step.windows, "iteration"), nodes);
  return fmt::format("{} ran these {}.", plural(step.iterations, "iteration"), nodes);
}

// Whose time the nodes' own times are: kernels run while the host goes on, so that the two are not the same.
std::string clock_text(const OperatorStep& step) {
  const auto on_gpu = std::count_if(step.calls.begin(), step.calls.end(), [](const OperatorCall& call) { return call.gpu_ns.has_value(); });
  if (on_gpu == 0) return "host time";
  return static_cast<std::size_t>(on_gpu) == step.calls.size() ? "GPU time" : "GPU time (host time of the nodes without)";
}

std::string wall_text(const OperatorStep& step, Ns operators_ns) {
  std::string text =
      fmt::format(" The {}nodes add up to {} of {}", step.calls_left_out > 0 ? "listed " : "", ms(operators_ns), clock_text(step));
  if (step.wall_ns && *step.wall_ns > 0 && step.calls_left_out == 0) {
    text += fmt::format(", {} of an iteration ({})", share_text(share_of_all(operators_ns, *step.wall_ns)), ms(*step.wall_ns));
    if (operators_ns < *step.wall_ns) text += fmt::format("; {} are spent between them", ms(*step.wall_ns - operators_ns));
    else if (operators_ns > *step.wall_ns) text += "; what runs side by side counts twice";
  }
  text += ".";
  if (step.unprofiled_wall_ns) text += fmt::format(" Unprofiled, an iteration takes {}.", ms(*step.unprofiled_wall_ns));
  return text;
}

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

std::vector<TypeTime> times_by_type(const OperatorStep& step) {
  const std::vector<Ns> own = own_times(step);
  const Ns all_ns = sum_of(own);
  std::map<OperatorType, TypeTime> types;
  for (std::size_t i = 0; i < step.calls.size(); ++i) {
    TypeTime& type = types[step.calls[i].type];
    type.type = step.calls[i].type;
    ++type.nodes;
    type.own_ns += own[i];
  }
  std::vector<TypeTime> out;
  for (auto& [type, time] : types) {
    time.share = share_of_all(time.own_ns, all_ns);
    out.push_back(time);
  }
  std::stable_sort(out.begin(), out.end(), [](const TypeTime& a, const TypeTime& b) { return a.own_ns > b.own_ns; });
  return out;
}

std::vector<NodeTime> times_by_node(const OperatorStep& step, std::size_t most) {
  const std::vector<Ns> own = own_times(step);
  const Ns all_ns = sum_of(own);
  std::vector<NodeTime> nodes;
  for (std::size_t i = 0; i < step.calls.size(); ++i) {
    const OperatorCall& call = step.calls[i];
    const auto& times = call.gpu_ns ? call.gpu_times : call.host_times;
    const bool calls_none =
        own[i] == (call.gpu_ns ? *call.gpu_ns : call.host_ns.value_or(0));  // else the spread is of more than its own time
    nodes.push_back({&call, own[i], share_of_all(own[i], all_ns), times && calls_none ? &*times : nullptr});
  }
  if (nodes.size() <= most) return nodes;
  std::stable_sort(nodes.begin(), nodes.end(), [](const NodeTime& a, const NodeTime& b) { return a.own_ns > b.own_ns; });
  nodes.resize(most);
  std::sort(nodes.begin(), nodes.end(), [](const NodeTime& a, const NodeTime& b) { return a.call->index < b.call->index; });
  return nodes;
}

std::string nodes_text(const OperatorStep& step, std::size_t shown) {
  std::string text = iterations_text(step) + wall_text(step, sum_of(own_times(step)));
  if (step.threads) text += fmt::format(" {} {}.", plural(*step.threads, "thread"), *step.threads == 1 ? "computes" : "compute");
  if (shown < step.calls.size())
    text += fmt::format(" Of {} nodes, the {} with the most time are shown, in order.", step.calls.size(), shown);
  if (step.calls_left_out > 0) text += fmt::format(" run.json lists the first {}.", step.calls.size());
  return text;
}

std::string nodes_title(const OperatorStep& step) {
  const std::string which = step.iterations < step.windows ? fmt::format(", as in iteration {}", step.window) : "";
  return fmt::format("One {}, node by node ({}{}{})", step.stage, step.source, step.file.empty() ? "" : ", " + step.file, which);
}

std::string percentiles_text(const OperatorTimes* times, std::string (*text)(double ns)) {
  if (times == nullptr || !times->p10_ns || !times->p90_ns) return kNoValue;
  return text(static_cast<double>(*times->p10_ns)) + " to " + text(static_cast<double>(*times->p90_ns));
}

std::string node_text(const OperatorCall& call) {
  constexpr std::size_t kListed = 4;
  std::string text = call.node;
  if (text == join(call.holds, " + ")) return text;  // as TensorRT names layers
  for (std::size_t i = 0; i < std::min(kListed, call.holds.size()); ++i) text += (i == 0 ? " holds " : ", ") + call.holds[i];
  if (call.holds.size() > kListed) text += fmt::format(" and {} more", call.holds.size() - kListed);
  return text;
}

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
