#include "exporters/run_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "model/run_status.h"

namespace nl {
namespace {

using Json = nlohmann::ordered_json;

// "Not captured" is null: an empty text, or a number that cannot be zero.
Json known(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
Json known(std::uint64_t number) { return number == 0 ? Json(nullptr) : Json(number); }
template <class T>
Json known(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json finite(const std::optional<double>& value) { return value && std::isfinite(*value) ? Json(*value) : Json(nullptr); }

Json dim(const Dim3& d) { return Json::array({d.x, d.y, d.z}); }

void put_time(Json& out, const char* count_key, const TimeSummary& time) {
  const bool any = time.count > 0;
  out["total_ns"] = time.total_ns;
  out[count_key] = time.count;
  out["mean_ns"] = any ? Json(time.mean_ns) : Json(nullptr);
  out["median_ns"] = any ? Json(time.median_ns) : Json(nullptr);
  out["p99_ns"] = any ? Json(time.p99_ns) : Json(nullptr);
  out["min_ns"] = any ? Json(time.min_ns) : Json(nullptr);
  out["max_ns"] = any ? Json(time.max_ns) : Json(nullptr);
  out["stddev_ns"] = any ? Json(time.stddev_ns) : Json(nullptr);
}

template <class Items, class Make>
Json array_of(const Items& items, Make make) {
  Json out = Json::array();
  for (const auto& item : items) out.push_back(make(item));
  return out;
}

template <class Value>
Json map_of(const std::map<std::string, Value>& map) {
  Json out = Json::object();
  for (const auto& [key, value] : map) out[key] = value;
  return out;
}

Json problem(const Problem& p) { return {{"what", p.what}, {"where", known(p.where)}, {"hint", known(p.hint)}}; }

Json device(const Device& d) {
  return {{"id", d.id},
          {"name", known(d.name)},
          {"uuid", known(d.uuid)},
          {"bus", known(d.bus)},
          {"chip", known(d.chip)},
          {"sm_count", known(std::uint64_t{d.sm_count})},
          {"clock_hz", known(d.clock_hz)},
          {"memory_bytes", known(d.memory_bytes)},
          {"bandwidth_bytes_per_s", known(d.bandwidth_bytes_per_s)},
          {"l2_bytes", known(d.l2_bytes)},
          {"compute_major", known(std::uint64_t{d.compute_major})},
          {"compute_minor", d.compute_major == 0 ? Json(nullptr) : Json(d.compute_minor)}};
}

Json hardware(const Hardware& h) {
  return {{"gpus", array_of(h.gpus, device)},
          {"driver_version", known(h.driver_version)},
          {"cpu_model", known(h.cpu_model)},
          {"cpu_count", known(std::uint64_t{h.cpu_count})},
          {"memory_bytes", known(h.memory_bytes)},
          {"architecture", known(h.architecture)}};
}

Json software(const Software& s) {
  return {{"nl_stage_version", known(s.nl_stage_version)},
          {"os", known(s.os)},
          {"kernel", known(s.kernel)},
          {"cuda_driver_version", known(s.cuda_driver_version)},
          {"nsys_version", known(s.nsys_version)},
          {"ncu_version", known(s.ncu_version)}};
}

Json workload(const Workload& w) {
  return {{"command", w.command}, {"working_directory", known(w.working_directory)}, {"exit_status", known(w.exit_status)}};
}

Json stage(const StageEntry& s) {
  Json out = {{"name", s.name}, {"ranges", s.ranges}};
  put_time(out, "count", s.wall);
  out["gpu_busy_ns"] = known(s.gpu_busy_ns);
  out["gpu_sum_ns"] = known(s.gpu_sum_ns);
  out["kernel_calls"] = known(s.kernel_calls);
  out["open_ranges"] = s.open_ranges;
  return out;
}

Json sample(const NcuSample& s) {
  return {{"ncu_id", s.ncu_id},
          {"ncu_kernel_name", s.ncu_kernel_name},
          {"matched_by", s.matched_by},
          {"grid", dim(s.grid)},
          {"block", dim(s.block)},
          {"stage", known(s.stage)},
          {"nsys_median_ns", s.nsys_median_ns},
          {"nsys_min_ns", s.nsys_min_ns},
          {"nsys_max_ns", s.nsys_max_ns},
          {"nsys_calls", s.nsys_calls},
          {"ncu_duration_ns", known(s.ncu_duration_ns)},
          {"durations_agree", known(s.durations_agree)},
          {"sm_pct", finite(s.sm_pct)},
          {"dram_pct", finite(s.dram_pct)},
          {"occupancy_pct", finite(s.occupancy_pct)},
          {"tensor_pct", finite(s.tensor_pct)},
          {"l2_pct", finite(s.l2_pct)},
          {"dram_bytes", finite(s.dram_bytes)},
          {"bound_by", known(s.bound_by)},
          {"metrics", map_of(s.metrics)}};
}

Json split(const StageSplit& s) { return {{"stage", s.stage}, {"total_ns", s.total_ns}, {"calls", s.calls}}; }

Json kernel(const KernelEntry& k) {
  Json out = {{"name", k.name}, {"mangled_name", known(k.mangled_name)}, {"short_name", known(k.short_name)}, {"device", k.device}};
  put_time(out, "calls", k.time);
  out["gpu_share"] = k.gpu_share;
  out["graph_calls"] = k.graph_calls;
  out["stages"] = array_of(k.stages, split);
  out["selected"] = k.selected;
  out["ncu"] = array_of(k.ncu, sample);
  out["ncu_note"] = known(k.ncu_note);
  return out;
}

Json api(const ApiEntry& a) {
  Json out;
  out["name"] = a.name;
  put_time(out, "calls", a.time);
  return out;
}

Json range(const RangeEntry& r) {
  Json out = {{"domain", r.domain}, {"name", r.name}, {"style", r.style == RangeStyle::kPushPop ? "push_pop" : "start_end"}};
  put_time(out, "count", r.wall);
  out["gpu_busy_ns"] = known(r.gpu_busy_ns);
  out["kernel_calls"] = known(r.kernel_calls);
  return out;
}

Json coverage(const Coverage& c) {
  return {{"gpu_busy_ns", known(c.gpu_busy_ns)},
          {"kernel_sum_ns", known(c.kernel_sum_ns)},
          {"in_stage_share", finite(c.in_stage_share)},
          {"unlinked_share", finite(c.unlinked_share)},
          {"graph_only_share", finite(c.graph_only_share)}};
}

Json import_stats(const ImportStats& s) {
  return {{"source_format", known(s.source_format)},   {"schema_version", known(s.schema_version)},
          {"tool_version", known(s.tool_version)},     {"rows_read", map_of(s.rows_read)},
          {"rows_damaged", map_of(s.rows_damaged)},    {"tables_absent", s.tables_absent},
          {"notes", s.notes}};
}

Json pass(const PassRecord& p) {
  return {{"name", p.name},
          {"argv", p.argv},
          {"exit_status", known(p.exit_status)},
          {"duration_ns", p.duration_ns},
          {"outcome", p.outcome},
          {"detail", known(p.detail)},
          {"outputs", p.outputs}};
}

Json provenance(const Provenance& p) {
  return {{"captured_by", known(p.captured_by)},
          {"passes", array_of(p.passes, pass)},
          {"adaptations", p.adaptations},
          {"inputs_sha256", map_of(p.inputs_sha256)}};
}

}  // namespace

std::string run_to_json(const Run& run) {
  Json out;
  out["schema_version"] = run.schema_version;
  out["run_id"] = run.run_id;
  out["created_at"] = run.created_at;
  out["status"] = run_status_word(run.status);
  out["problems"] = array_of(run.problems, problem);
  out["name"] = run.name;
  out["mode"] = run.mode;
  out["hardware"] = hardware(run.hardware);
  out["software"] = software(run.software);
  out["model"] = {{"name", known(run.model.name)}, {"attributes", map_of(run.model.attributes)}};
  out["workload"] = workload(run.workload);
  out["stages"] = array_of(run.stages, stage);
  out["kernels"] = run.kernels ? array_of(*run.kernels, kernel) : Json(nullptr);
  out["kernels_note"] = known(run.kernels_note);
  out["api"] = array_of(run.api, api);
  out["ranges"] = array_of(run.ranges, range);
  out["coverage"] = coverage(run.coverage);
  out["import_stats"] = import_stats(run.import_stats);
  out["ncu_rows_damaged"] = map_of(run.ncu_rows_damaged);
  out["provenance"] = provenance(run.provenance);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace nl
