#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <type_traits>

#include "exporters/run_json.h"
#include "model/error.h"

namespace nl {
namespace {

using nlohmann::json;

// null stays what the field is by default: empty, zero, nothing.
template <class T>
void get(const json& from, const char* key, T& out) {
  if (const json& value = from.at(key); !value.is_null()) value.get_to(out);
}
template <class T>
void get(const json& from, const char* key, std::optional<T>& out) {
  if (const json& value = from.at(key); !value.is_null()) out = value.get<T>();
}

template <class T, class Read>
void get_array(const json& from, const char* key, std::vector<T>& out, Read read) {
  for (const json& item : from.at(key)) {
    T value;
    read(item, value);
    out.push_back(std::move(value));
  }
}

void read_dim(const json& from, const char* key, Dim3& out) {
  const json& d = from.at(key);
  out = {d.at(0).get<std::uint32_t>(), d.at(1).get<std::uint32_t>(), d.at(2).get<std::uint32_t>()};
}

void read_time(const json& from, const char* count_key, TimeSummary& out) {
  get(from, "total_ns", out.total_ns);
  get(from, count_key, out.count);
  get(from, "mean_ns", out.mean_ns);
  get(from, "median_ns", out.median_ns);
  get(from, "p99_ns", out.p99_ns);
  get(from, "min_ns", out.min_ns);
  get(from, "max_ns", out.max_ns);
  get(from, "stddev_ns", out.stddev_ns);
}

RunStatus read_status(const std::string& text) {
  if (text == "complete") return RunStatus::kComplete;
  if (text == "partial") return RunStatus::kPartial;
  if (text == "interrupted") return RunStatus::kInterrupted;
  if (text == "failed") return RunStatus::kFailed;
  throw Error(ErrorKind::kInput, fmt::format("unknown status '{}'", text), "run.json: /status");
}

void read_problem(const json& from, Problem& out) {
  get(from, "what", out.what);
  get(from, "where", out.where);
  get(from, "hint", out.hint);
}

void read_device(const json& from, Device& out) {
  get(from, "id", out.id);
  get(from, "name", out.name);
  get(from, "uuid", out.uuid);
  get(from, "bus", out.bus);
  get(from, "chip", out.chip);
  get(from, "sm_count", out.sm_count);
  get(from, "clock_hz", out.clock_hz);
  get(from, "memory_bytes", out.memory_bytes);
  get(from, "bandwidth_bytes_per_s", out.bandwidth_bytes_per_s);
  get(from, "l2_bytes", out.l2_bytes);
  get(from, "compute_major", out.compute_major);
  get(from, "compute_minor", out.compute_minor);
}

void read_hardware(const json& from, Hardware& out) {
  get_array(from, "gpus", out.gpus, read_device);
  get(from, "driver_version", out.driver_version);
  get(from, "cpu_model", out.cpu_model);
  get(from, "cpu_count", out.cpu_count);
  get(from, "memory_bytes", out.memory_bytes);
  get(from, "architecture", out.architecture);
}

void read_software(const json& from, Software& out) {
  get(from, "nl_stage_version", out.nl_stage_version);
  get(from, "os", out.os);
  get(from, "kernel", out.kernel);
  get(from, "cuda_driver_version", out.cuda_driver_version);
  get(from, "nsys_version", out.nsys_version);
  get(from, "ncu_version", out.ncu_version);
}

void read_workload(const json& from, Workload& out) {
  get(from, "command", out.command);
  get(from, "working_directory", out.working_directory);
  get(from, "exit_status", out.exit_status);
}

void read_stage(const json& from, StageEntry& out) {
  get(from, "name", out.name);
  get(from, "ranges", out.ranges);
  read_time(from, "count", out.wall);
  get(from, "gpu_busy_ns", out.gpu_busy_ns);
  get(from, "gpu_sum_ns", out.gpu_sum_ns);
  get(from, "kernel_calls", out.kernel_calls);
  get(from, "open_ranges", out.open_ranges);
}

void read_sample(const json& from, NcuSample& out) {
  get(from, "ncu_id", out.ncu_id);
  get(from, "ncu_kernel_name", out.ncu_kernel_name);
  get(from, "matched_by", out.matched_by);
  read_dim(from, "grid", out.grid);
  read_dim(from, "block", out.block);
  get(from, "stage", out.stage);
  get(from, "nsys_median_ns", out.nsys_median_ns);
  get(from, "nsys_min_ns", out.nsys_min_ns);
  get(from, "nsys_max_ns", out.nsys_max_ns);
  get(from, "nsys_calls", out.nsys_calls);
  get(from, "ncu_duration_ns", out.ncu_duration_ns);
  get(from, "durations_agree", out.durations_agree);
  get(from, "sm_pct", out.sm_pct);
  get(from, "dram_pct", out.dram_pct);
  get(from, "occupancy_pct", out.occupancy_pct);
  get(from, "tensor_pct", out.tensor_pct);
  get(from, "l2_pct", out.l2_pct);
  get(from, "dram_bytes", out.dram_bytes);
  get(from, "bound_by", out.bound_by);
  get(from, "metrics", out.metrics);
}

void read_split(const json& from, StageSplit& out) {
  get(from, "stage", out.stage);
  get(from, "total_ns", out.total_ns);
  get(from, "calls", out.calls);
}

void read_kernel(const json& from, KernelEntry& out) {
  get(from, "name", out.name);
  get(from, "mangled_name", out.mangled_name);
  get(from, "short_name", out.short_name);
  get(from, "device", out.device);
  read_time(from, "calls", out.time);
  get(from, "gpu_share", out.gpu_share);
  get(from, "graph_calls", out.graph_calls);
  get_array(from, "stages", out.stages, read_split);
  get(from, "selected", out.selected);
  get_array(from, "ncu", out.ncu, read_sample);
  get(from, "ncu_note", out.ncu_note);
}

void read_api(const json& from, ApiEntry& out) {
  get(from, "name", out.name);
  read_time(from, "calls", out.time);
}

void read_range(const json& from, RangeEntry& out) {
  get(from, "domain", out.domain);
  get(from, "name", out.name);
  out.style = from.at("style") == "start_end" ? RangeStyle::kStartEnd : RangeStyle::kPushPop;
  read_time(from, "count", out.wall);
  get(from, "gpu_busy_ns", out.gpu_busy_ns);
  get(from, "kernel_calls", out.kernel_calls);
}

void read_coverage(const json& from, Coverage& out) {
  get(from, "gpu_busy_ns", out.gpu_busy_ns);
  get(from, "kernel_sum_ns", out.kernel_sum_ns);
  get(from, "in_stage_share", out.in_stage_share);
  get(from, "unlinked_share", out.unlinked_share);
  get(from, "graph_only_share", out.graph_only_share);
}

void read_import_stats(const json& from, ImportStats& out) {
  get(from, "source_format", out.source_format);
  get(from, "schema_version", out.schema_version);
  get(from, "tool_version", out.tool_version);
  get(from, "rows_read", out.rows_read);
  get(from, "rows_damaged", out.rows_damaged);
  get(from, "tables_absent", out.tables_absent);
  get(from, "notes", out.notes);
}

void read_pass(const json& from, PassRecord& out) {
  get(from, "name", out.name);
  get(from, "argv", out.argv);
  get(from, "exit_status", out.exit_status);
  get(from, "duration_ns", out.duration_ns);
  get(from, "outcome", out.outcome);
  get(from, "detail", out.detail);
  get(from, "outputs", out.outputs);
}

void read_provenance(const json& from, Provenance& out) {
  get(from, "captured_by", out.captured_by);
  get_array(from, "passes", out.passes, read_pass);
  get(from, "adaptations", out.adaptations);
  get(from, "inputs_sha256", out.inputs_sha256);
}

void check_version(const std::string& version) {
  const std::string ours = kRunSchemaVersion;
  if (version.substr(0, version.find('.')) != ours.substr(0, ours.find('.')))
    throw Error(ErrorKind::kInput, fmt::format("a run.json of schema version {}; this nl-stage reads {}", version, ours), "run.json: /schema_version",
                "use the nl-stage that wrote it, or import its captures anew");
}

Run read_run(const json& from) {
  Run run;
  get(from, "schema_version", run.schema_version);
  check_version(run.schema_version);
  get(from, "run_id", run.run_id);
  get(from, "created_at", run.created_at);
  run.status = read_status(from.at("status").get<std::string>());
  get_array(from, "problems", run.problems, read_problem);
  get(from, "name", run.name);
  get(from, "mode", run.mode);
  read_hardware(from.at("hardware"), run.hardware);
  read_software(from.at("software"), run.software);
  get(from.at("model"), "name", run.model.name);
  get(from.at("model"), "attributes", run.model.attributes);
  read_workload(from.at("workload"), run.workload);
  get_array(from, "stages", run.stages, read_stage);
  if (!from.at("kernels").is_null()) get_array(from, "kernels", run.kernels.emplace(), read_kernel);
  get(from, "kernels_note", run.kernels_note);
  get_array(from, "api", run.api, read_api);
  get_array(from, "ranges", run.ranges, read_range);
  read_coverage(from.at("coverage"), run.coverage);
  read_import_stats(from.at("import_stats"), run.import_stats);
  get(from, "ncu_rows_damaged", run.ncu_rows_damaged);
  read_provenance(from.at("provenance"), run.provenance);
  return run;
}

}  // namespace

Run run_from_json(std::string_view text) {
  try {
    return read_run(json::parse(text));
  } catch (const json::exception& broken) {
    throw Error(ErrorKind::kInput, fmt::format("not a run.json: {}", broken.what()), "run.json", "`nl-stage validate FILE` says more");
  }
}

}  // namespace nl
