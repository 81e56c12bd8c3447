#include <algorithm>
#include <string_view>

#include "analysis/trace/kernel_class.h"
#include "analysis/verdicts/rules/fields.h"
#include "analysis/verdicts/rules/least_traffic.h"
#include "model/words.h"

namespace nl::analysis::rules {
namespace {

using Read = Value (*)(const Subject&);

template <auto Member>
Value time(const Subject& s) {
  const TimeSummary& summary = s.kernel().time;
  return summary.count > 0 ? Value::of(static_cast<double>(summary.*Member)) : Value::none();
}

Value metric(const Subject& s, const char* name, double scale) {
  if (!s.ncu()) return Value::not_captured();
  const auto found = s.ncu()->metrics.find(name);
  return found == s.ncu()->metrics.end() ? Value::not_captured() : Value::of(found->second * scale);
}

template <auto Member>
Value point(const Subject& s) {
  return s.roof() ? Value::of(s.roof()->*Member) : Value::not_captured();
}

// Without stages nobody knows.
Value in_stage(const Subject& s, bool (*matches)(std::string_view)) {
  if (s.run->stages.empty()) return Value::not_captured();
  double sum = 0;
  for (const StageSplit& split : s.kernel().stages)
    if (matches(split.stage)) sum += static_cast<double>(split.total_ns);
  return Value::of(sum);
}

Value main_stage(const Subject& s) {
  if (s.run->stages.empty()) return Value::not_captured();
  const auto& splits = s.kernel().stages;
  const auto most = std::max_element(splits.begin(), splits.end(), [](const auto& a, const auto& b) { return a.total_ns < b.total_ns; });
  return most == splits.end() ? Value::none() : Value::of_text(most->stage);
}

Value kind(const Subject& s) { return Value::of_text(key_of(classify_kernel(s.kernel().name))); }

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

void add_timing(std::vector<Field>& fields) {
  const auto add = [&](std::string_view name, Unit unit, Capture capture, std::string_view help, Read read) {
    fields.push_back({name, kN, unit, capture, Place::kSelf, help, read});
  };
  fields.push_back({"name", Type::kText, Unit::kWords, Capture::kCuda, Place::kSelf, "demangled, with template arguments",
                    [](const Subject& s) { return Value::of_text(s.kernel().name); }});
  fields.push_back({"short_name", Type::kText, Unit::kWords, Capture::kCuda, Place::kSelf, "the function's own name",
                    [](const Subject& s) { return Value::of_text(s.kernel().short_name); }});
  fields.push_back({"kind", Type::kText, Unit::kWords, Capture::kCuda, Place::kSelf,
                    "gemm, attention, elementwise, copy, cache_copy, reduce, norm, communication or other, by its name", kind});
  fields.push_back({"main_stage", Type::kText, Unit::kWords, Capture::kStages, Place::kSelf,
                    "the stage in which it spends the most time; `none` outside all", main_stage});
  add("total_time", Unit::kTime, Capture::kCuda, "all its executions in the capture", time<&TimeSummary::total_ns>);
  add("calls", Unit::kCount, Capture::kCuda, "executions", time<&TimeSummary::count>);
  add("mean_time", Unit::kTime, Capture::kCuda, "of one execution", time<&TimeSummary::mean_ns>);
  add("median_time", Unit::kTime, Capture::kCuda, "of one execution", time<&TimeSummary::median_ns>);
  add("p99_time", Unit::kTime, Capture::kCuda, "of one execution", time<&TimeSummary::p99_ns>);
  add("min_time", Unit::kTime, Capture::kCuda, "of one execution", time<&TimeSummary::min_ns>);
  add("max_time", Unit::kTime, Capture::kCuda, "of one execution", time<&TimeSummary::max_ns>);
  add("gpu_share", Unit::kShare, Capture::kCuda,
      "of the time of its GPU's kernels in measured windows; in the whole capture where no kernel is in one, or CUDA graphs were captured "
      "at graph level",
      [](const Subject& s) { return Value::of(s.working().measured_share); });
  add("measured_time", Unit::kTime, Capture::kCuda, "of `total_time`: in measured windows; all of it where no kernel is in one",
      [](const Subject& s) { return Value::of(static_cast<double>(s.working().time_ns)); });
  add("graph_share", Unit::kShare, Capture::kCuda, "of its executions: nodes of CUDA graphs", [](const Subject& s) {
    return s.kernel().time.count > 0 ? Value::of(static_cast<double>(s.kernel().graph_calls) / static_cast<double>(s.kernel().time.count))
                                     : Value::none();
  });
  add("prefill_time", Unit::kTime, Capture::kStages, "of `total_time`: in prefill",
      [](const Subject& s) { return in_stage(s, [](std::string_view name) { return stage_kind(name) == StageKind::kPrefill; }); });
  add("decode_time", Unit::kTime, Capture::kStages, "of `total_time`: in decode, its steps among it",
      [](const Subject& s) { return in_stage(s, is_decode); });
}

Value bound_memory(const Subject& s) {
  if (!s.ncu() || !s.ncu()->values[Metric::kSm]) return Value::not_captured();
  return s.ncu()->bound_memory ? Value::of_text(key_of(*s.ncu()->bound_memory)) : Value::none();
}

void add_counters(std::vector<Field>& fields) {
  const auto add = [&](std::string_view name, Unit unit, std::string_view help, Read read) {
    fields.push_back({name, kN, unit, Capture::kNcu, Place::kNcu, help, read});
  };
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
  fields.push_back({"least_bytes", kN, Unit::kBytes, Capture::kOperators, Place::kSelf,
                    "operands and results of the matrix product it computes, once, by the operators that launch it",
                    [](const Subject& s) { return least_traffic(*s.run, s.kernel()); }});
  add("ncu_calls", Unit::kCount, "executions with the grid and block that ncu measured",
      [](const Subject& s) { return s.ncu() ? Value::of(static_cast<double>(s.ncu()->nsys_calls)) : Value::not_captured(); });
  fields.push_back({"bound_by", Type::kText, Unit::kWords, Capture::kNcu, Place::kNcu,
                    "compute, memory or latency; unclear where two are close", [](const Subject& s) {
                      if (!s.ncu() || !s.ncu()->values[Metric::kSm]) return Value::not_captured();
                      return s.ncu()->bound_by ? Value::of_text(key_of(*s.ncu()->bound_by)) : Value::of_text("unclear");
                    }});
}

void add_bound_memory(std::vector<Field>& fields) {
  fields.push_back({"bound_memory", Type::kText, Unit::kWords, Capture::kNcu, Place::kNcu,
                    "l1, l2 or dram: the busiest, where `bound_by` is memory", bound_memory});
}

void add_roofline(std::vector<Field>& fields) {
  const auto add = [&](std::string_view name, Unit unit, std::string_view help, Read read) {
    fields.push_back({name, kN, unit, Capture::kNcu, Place::kRoofline, help, read});
  };
  using P = RooflinePoint;
  add("flops", Unit::kFlops, "of one execution",
      [](const Subject& s) { return s.roof() ? Value::of(s.roof()->flops) : Value::not_captured(); });
  add("flops_per_s", Unit::kFlopsPerS, "achieved",
      [](const Subject& s) { return s.roof() ? Value::of(s.roof()->flops_per_s) : Value::not_captured(); });
  add("intensity", Unit::kNumber, "FLOPs a byte of memory traffic",
      [](const Subject& s) { return s.roof() ? Value::of(s.roof()->intensity) : Value::not_captured(); });
  add("roof_share", Unit::kShare, "`flops_per_s` ÷ the roofline at this intensity", point<&P::roof_share>);
  add("bound_margin", Unit::kNumber, "percentage points that decide what binds it", point<&P::margin>);
  fields.push_back({"roof_bound_by", Type::kText, Unit::kWords, Capture::kNcu, Place::kRoofline,
                    "compute, memory or latency, by the roofline", [](const Subject& s) {
                      return s.roof() && s.roof()->bound_by ? Value::of_text(key_of(*s.roof()->bound_by)) : Value::not_captured();
                    }});
  fields.push_back({"precision", Type::kText, Unit::kWords, Capture::kNcu, Place::kRoofline,
                    "the one with the most FLOPs: `tensor bf16`, `f32` …",
                    [](const Subject& s) { return s.roof() ? Value::of_text(s.roof()->precision) : Value::not_captured(); }});
}

}  // namespace

void add_kernel_fields(std::vector<Field>& fields) {
  add_timing(fields);
  add_counters(fields);
  add_bound_memory(fields);
  add_roofline(fields);
}

}  // namespace nl::analysis::rules
