#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/figures/efficiency/llm_shape.h"
#include "analysis/trace/kernel_class.h"
#include "analysis/verdicts/rules/fields.h"
#include "model/headline.h"
#include "model/words.h"

namespace nl::analysis::rules {
namespace {

constexpr double kWidestElement = 4;  // bytes

using Sizes = std::vector<double>;

// "[[256, 1024], [1024, 512]]": the sizes of each tensor; scalars have none.
std::vector<Sizes> read_sizes(const std::string& text) {
  std::vector<Sizes> tensors;
  int depth = 0;
  bool in_number = false;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (c == '[' && ++depth == 2) tensors.emplace_back();
    if (c == ']') --depth;
    if (digit && depth >= 2) {
      if (!in_number) tensors.back().push_back(0);
      tensors.back().back() = tensors.back().back() * 10 + (c - '0');
    }
    in_number = digit;
  }
  return tensors;
}

// How many sizes its operands have: batch, rows and columns, or rows and columns; 0: no matrix product.
std::size_t operand_sizes(const std::string& op) {
  if (op == "aten::mm" || op == "aten::addmm") return 2;
  return op == "aten::bmm" || op == "aten::baddbmm" ? 3 : 0;
}

// The operands come last; before them may stand what is added.
std::optional<double> least_elements(const std::string& shape, std::size_t sizes) {
  std::vector<Sizes> tensors = read_sizes(shape);
  std::erase_if(tensors, [&](const Sizes& tensor) { return tensor.size() != sizes; });
  if (tensors.size() < 2) return std::nullopt;
  const Sizes &left = tensors[tensors.size() - 2], &right = tensors.back();
  const double batch = sizes == 3 ? left[0] : 1;
  const double rows = left[sizes - 2], inner = left[sizes - 1], columns = right[sizes - 1];
  if (right[sizes - 2] != inner) return std::nullopt;
  return batch * (rows * inner + inner * columns + rows * columns);
}

bool launches(const OperatorEntry& op, const std::string& kernel) {
  return std::any_of(op.kernels.begin(), op.kernels.end(), [&](const OperatorKernel& each) { return each.name == kernel; });
}

double element_bytes(const Run& run) {
  const auto dtype = run.model.attributes.find("dtype");
  return dtype == run.model.attributes.end() ? kWidestElement : dtype_bytes(dtype->second).value_or(kWidestElement);
}

// The bytes that the matrix products of a kernel move at least: both operands and the result, once. From the shapes of the
// operators that launch it; of several, the largest. Where the model's dtype is not known, four bytes an element.
Value least_traffic(const Run& run, const KernelEntry& kernel) {
  std::optional<double> most;
  for (const OperatorTable& table : run.operators)
    for (const OperatorEntry& op : table.entries) {
      const std::size_t sizes = operand_sizes(op.name);
      if (sizes == 0 || !launches(op, kernel.name)) continue;
      for (const OperatorShape& shape : op.shapes) {
        const auto elements = least_elements(shape.text, sizes);
        if (!elements) return Value::none();
        most = std::max(most.value_or(0), *elements);
      }
    }
  return most ? Value::of(*most * element_bytes(run)) : Value::not_captured();
}

template <auto Member>
Value time(const Subject& s) {
  return member_of_times<Member>(s.kernel().time);
}

template <auto Member>
constexpr Read point = member_of<&Subject::roof, Member>;

Value metric(const Subject& s, const char* name, double scale) {
  if (!s.ncu()) return Value::not_captured();
  const auto found = s.ncu()->metrics.find(name);
  return found == s.ncu()->metrics.end() ? Value::not_captured() : Value::of(found->second * scale);
}

// By the innermost stage: a request encloses both prefill and decode.
const std::vector<StageSplit>& splits(const KernelEntry& kernel) { return kernel.innermost.empty() ? kernel.stages : kernel.innermost; }

// Without stages the sum is not known.
Value in_stage(const Subject& s, bool (*matches)(std::string_view)) {
  if (s.run->stages.empty()) return Value::not_captured();
  if (!s.totals->generates) return Value::none();
  double sum = 0;
  for (const StageSplit& split : splits(s.kernel()))
    if (matches(split.stage)) sum += static_cast<double>(split.total_ns);
  return Value::of(sum);
}

Value main_stage(const Subject& s) {
  if (s.run->stages.empty()) return Value::not_captured();
  const auto& parts = splits(s.kernel());
  const auto most = std::max_element(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.total_ns < b.total_ns; });
  return most == parts.end() ? Value::none() : Value::of_text(most->stage);
}

Value blocks(const Subject& s) {
  if (!s.ncu()) return Value::not_captured();
  const Dim3& grid = s.ncu()->grid;
  return Value::of(static_cast<double>(grid.x) * grid.y * grid.z);
}

Value blocks_per_sm(const Subject& s) {
  const Value all = blocks(s);
  if (!all.known) return all;
  for (const Device& gpu : s.run->hardware.gpus)
    if (gpu.id == s.kernel().device && gpu.sm_count > 0) return Value::of(all.number / gpu.sm_count);
  return Value::not_captured();
}

Value bound_memory(const Subject& s) {
  if (!s.ncu() || !s.ncu()->values[Metric::kSm]) return Value::not_captured();
  return s.ncu()->bound_memory ? Value::of_text(key_of(*s.ncu()->bound_memory)) : Value::none();
}

Value stage_mean(const Subject& s) {
  const KernelEntry& kernel = s.kernel();
  double most_ns = 0;
  for (const StageSplit& split : kernel.innermost.empty() ? kernel.stages : kernel.innermost)
    if (100 * split.calls >= kernel.time.count && split.calls > 0)  // fewer do not make the slowest of a hundred
      most_ns = std::max(most_ns, static_cast<double>(split.total_ns) / static_cast<double>(split.calls));
  return most_ns > 0 ? Value::of(most_ns) : Value::of(kernel.time.mean_ns);
}

void add_timing(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kCuda, Place::kSelf), of_stages(fields, Capture::kStages, Place::kSelf);
  add.text("name", "demangled, with template arguments", [](const Subject& s) { return Value::of_text(s.kernel().name); });
  add.text("short_name", "the function's own name", [](const Subject& s) {
    return Value::of_text(s.kernel().short_name.empty() ? kernel_function(s.kernel().name) : std::string_view(s.kernel().short_name));
  });
  add.text("kind", "gemm, attention, elementwise, copy, cache_copy, reduce, norm, communication or other, by its name",
           [](const Subject& s) { return Value::of_text(key_of(classify_kernel(s.kernel().name))); });
  of_stages.text("main_stage", "the stage in which it spends the most time; `none` outside all", main_stage);
  add("total_time", Unit::kTime, "all its executions in the capture", time<&TimeSummary::total_ns>);
  add("calls", Unit::kCount, "executions", time<&TimeSummary::count>);
  add("mean_time", Unit::kTime, "of one execution", time<&TimeSummary::mean_ns>);
  add("median_time", Unit::kTime, "of one execution", time<&TimeSummary::median_ns>);
  add("p99_time", Unit::kTime, "of one execution, from 100 executions on", time<&TimeSummary::p99>);
  add("stage_mean_time", Unit::kTime, "of one execution, in the stage with 1 % of them or more in which they take the longest", stage_mean);
  add("min_time", Unit::kTime, "of one execution", time<&TimeSummary::min_ns>);
  add("max_time", Unit::kTime, "of one execution", time<&TimeSummary::max_ns>);
  add("gpu_share", Unit::kShare,
      "of the time of its GPU's kernels in measured windows; in the whole capture where no kernel is in one, or CUDA graphs were captured "
      "at graph level",
      [](const Subject& s) { return Value::of(s.working().measured_share); });
  add("measured_time", Unit::kTime, "of `total_time`: in measured windows; all of it where no kernel is in one",
      [](const Subject& s) { return Value::of(s.working().time_ns); });
  add("graph_share", Unit::kShare, "of its executions: nodes of CUDA graphs",
      [](const Subject& s) { return Value::of(s.kernel().graph_calls).over(s.kernel().time.count); });
  of_stages("prefill_time", Unit::kTime, "of `total_time`: in prefill; no value where nothing is generated",
            [](const Subject& s) { return in_stage(s, [](std::string_view name) { return stage_kind(name) == StageKind::kPrefill; }); });
  of_stages("decode_time", Unit::kTime, "of `total_time`: in decode, its steps among it; no value where nothing is generated",
            [](const Subject& s) { return in_stage(s, is_decode); });
}

void add_counters(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kNcu, Place::kNcu), of_operators(fields, Capture::kOperators, Place::kSelf);
  add_metric_fields(MetricPlace::kLaunch, fields);
  add("l2_hit_rate", Unit::kShare, "sectors found in the L2 cache",
      [](const Subject& s) { return metric(s, "lts__t_sector_hit_rate.pct", 0.01); });
  add("warp_efficiency", Unit::kShare, "threads that take part in an instruction, of the warp's 32",
      [](const Subject& s) { return metric(s, "smsp__thread_inst_executed_per_inst_executed.ratio", 1.0 / 32); });
  add("waves", Unit::kNumber, "how often the grid fills all SMs",
      [](const Subject& s) { return metric(s, "launch__waves_per_multiprocessor", 1); });
  add("registers", Unit::kCount, "a thread", [](const Subject& s) { return metric(s, "launch__registers_per_thread", 1); });
  add("blocks", Unit::kCount, "thread blocks of the grid", blocks);
  add("blocks_per_sm", Unit::kNumber, "`blocks` ÷ the GPU's SMs", blocks_per_sm);
  of_operators("least_bytes", Unit::kBytes, "operands and results of the matrix product it computes, once, by the operators that launch it",
               [](const Subject& s) { return least_traffic(*s.run, s.kernel()); });
  add("ncu_calls", Unit::kCount, "executions with the grid and block that ncu measured", member_of<&Subject::ncu, &NcuSample::nsys_calls>);
  add.text("bound_by", "compute, memory or latency; unclear where two are close", [](const Subject& s) {
    if (!s.ncu() || !s.ncu()->values[Metric::kSm]) return Value::not_captured();
    return s.ncu()->bound_by ? Value::of_text(key_of(*s.ncu()->bound_by)) : Value::of_text("unclear");
  });
  add.text("bound_memory", "l1, l2 or dram: the busiest, where `bound_by` is memory", bound_memory);
}

void add_roofline(std::vector<Field>& fields) {
  const FieldGroup add(fields, Capture::kNcu, Place::kRoofline);
  using P = RooflinePoint;
  add("flops", Unit::kFlops, "of one execution", point<&P::flops>);
  add("flops_per_s", Unit::kFlopsPerS, "achieved", point<&P::flops_per_s>);
  add("intensity", Unit::kNumber, "FLOPs a byte of memory traffic", point<&P::intensity>);
  add("roof_share", Unit::kShare, "`flops_per_s` ÷ the roofline at this intensity", point<&P::roof_share>);
  add("bound_margin", Unit::kNumber, "percentage points that decide what binds it", point<&P::margin>);
  add.text("roof_bound_by", "compute, memory or latency, by the roofline", [](const Subject& s) {
    return s.roof() && s.roof()->bound_by ? Value::of_text(key_of(*s.roof()->bound_by)) : Value::not_captured();
  });
  add.text("precision", "the one with the most FLOPs: `tensor bf16`, `f32` …",
           [](const Subject& s) { return s.roof() ? Value::of_text(s.roof()->precision) : Value::not_captured(); });
}

}  // namespace

void add_kernel_fields(std::vector<Field>& fields) {
  add_timing(fields);
  add_counters(fields);
  add_roofline(fields);
}

}  // namespace nl::analysis::rules
