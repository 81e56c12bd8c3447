#include "analysis/analyse.h"

#include <algorithm>

#include "model/words.h"
#include "tests/catch.h"
#include "tests/unit/analysis/trace_builder.h"

using namespace nl;
using namespace nl::analysis;

namespace {

Evidence traced() {
  TraceBuilder builder;
  builder.stage("prefill", 1000, 5000);
  Evidence evidence;
  evidence.trace = std::move(builder.trace);
  evidence.trace.has_range_data = true;
  return evidence;
}

}  // namespace

namespace {

// Three kernels, the longest first; the second runs only in CUDA graphs, and two are chosen.
Run counted(Meter meter, const std::optional<Remark>& counters_missing) {
  TraceBuilder builder;
  builder.stage("prefill", 1000, 9000);
  builder.kernel("long", 1200, 3000, builder.call(1100));
  builder.kernel("graphed", 4300, 2000, builder.call(4250)).in_graph = 1;
  builder.kernel("short", 6400, 100, builder.call(6350));
  Evidence evidence;
  evidence.trace = std::move(builder.trace);
  evidence.meter = meter;
  evidence.counters_missing = counters_missing;
  Knowledge knowledge;
  knowledge.options.kernels.top_n = 2;
  return analyse(evidence, knowledge);
}

}  // namespace

TEST_CASE("a chosen kernel without counters says why, and any other that it was not chosen") {
  const Remark denied{Code::kCountersDenied, {"CUPTI"}}, in_graphs{Code::kOnlyInGraphs}, not_measured{Code::kNotMeasured},
      not_chosen{Code::kNotChosen};
  const auto notes = [](const Run& run) {
    REQUIRE(run.kernels);
    REQUIRE(run.kernels->size() == 3);
    CHECK((*run.kernels)[0].name == "long");
    std::vector<std::optional<Remark>> found;
    for (const KernelEntry& kernel : *run.kernels) found.push_back(kernel.ncu_note);
    return found;
  };
  using Notes = std::vector<std::optional<Remark>>;
  CHECK((notes(counted(Meter::kNcu, denied)) == Notes{denied, denied, not_chosen}));
  CHECK((notes(counted(Meter::kCupti, denied)) == Notes{denied, in_graphs, not_chosen}));
  CHECK((notes(counted(Meter::kCupti, std::nullopt)) == Notes{not_measured, in_graphs, not_chosen}));
}

TEST_CASE("a run from a trace alone has its kind, and what was captured beside it does not change that") {
  Evidence evidence = traced();
  CHECK(traced_run(StagedTrace(evidence.trace, {}), {}).workload.verdict.kind == WorkloadKind::kGeneration);
  evidence.workload.command = {"python3", "generate.py"};
  evidence.workload.verdict.kind = WorkloadKind::kTraining;  // only the analysis concludes it
  const Run run = analyse(evidence, {});
  CHECK(run.workload.command == evidence.workload.command);
  CHECK(run.workload.verdict.kind == WorkloadKind::kGeneration);
  CHECK(run.workload.verdict.unit_stage == "prefill");
}

TEST_CASE("what was recorded beside the capture is in the run: operators, notes and damage, with their file") {
  Evidence evidence = traced();
  OperatorSource& beside = evidence.operators.emplace_back();
  beside.format = "onnxruntime";
  beside.file = "profile.json";
  TraceBuilder builder;
  builder.range("onnxruntime", "MatMul", 100, 200);
  beside.trace = std::move(builder.trace);
  beside.trace.stats.notes = {{Code::kProfileCutShort, {"9"}}};
  beside.trace.stats.rows_damaged = {{{Code::kNotJson}, 3}};
  OperatorSource& table = evidence.operators.emplace_back();
  table.format = "trtexec";
  table.file = "layers.json";
  table.records.emplace().table.source = "trtexec";
  table.records->table.file = "layers.json";
  const Run run = analyse(evidence, {});
  REQUIRE_FALSE(run.operators.empty());
  CHECK(run.operators.back().source == "trtexec");
  CHECK(run.operators_note.empty());
  CHECK(std::find(run.import_stats.notes.begin(), run.import_stats.notes.end(), Remark{Code::kProfileCutShort, {"9"}, "profile.json"}) !=
        run.import_stats.notes.end());
  CHECK(run.import_stats.rows_damaged == DamagedRows{{{Code::kNotJson, {}, "onnxruntime"}, 3}});
}

TEST_CASE("what a session measured becomes a table and its nodes one by one") {
  nl::Evidence evidence;
  ModelSession& session = evidence.session.emplace();
  session.backend = "onnxruntime";
  session.nodes.resize(1);
  session.nodes[0].name = "/a/MatMul";
  session.nodes[0].type = "MatMul";
  session.profiled_ns = {90, 110};
  session.runs = {{0, 0, 5, 70, {}}, {1, 0, 205, 80, {}}};
  const Run run = analyse(evidence, {});
  REQUIRE(run.operators.size() == 1);
  CHECK(run.operators[0].source == "onnxruntime");
  CHECK(run.operators[0].entries.at(0).self_ns == 150);
  CHECK(run.operators_note.empty());
  REQUIRE(run.operator_steps.size() == 1);
  CHECK(run.operator_steps[0].calls.at(0).type == OperatorType::kMatmul);
  CHECK(run.operator_steps[0].calls.at(0).host_ns == 75);
  CHECK(run.operator_steps[0].wall_ns == 100);
}

namespace {

NcuReport launches_of(const std::vector<std::string>& names) {
  NcuReport report;
  report.page = "raw";
  for (const auto& name : names) {
    NcuLaunch& launch = report.launches.emplace_back();
    launch.kernel_name = name;
    launch.metrics["gpu__time_duration.sum"] = 100;
  }
  return report;
}

Evidence one_kernel() {
  TraceBuilder builder;
  builder.stage("prefill", 1000, 9000);
  builder.kernel("k", 1200, 100, builder.call(1100));
  Evidence evidence;
  evidence.trace = std::move(builder.trace);
  evidence.tracer = Tracer::kNsys;
  return evidence;
}

}  // namespace

TEST_CASE("launches that match no kernel: a note of a run, a problem of an import") {
  Evidence evidence = one_kernel();
  evidence.ncu = {launches_of({"k"}), launches_of({"other", "third"})};
  Run run = analyse(evidence, {});
  REQUIRE(run.kernels->at(0).ncu.size() == 1);
  CHECK(run.kernels->at(0).ncu[0].measured_by == Meter::kNcu);
  CHECK(run.provenance.meter == Meter::kNcu);
  CHECK(run.problems.empty());
  const auto unmatched = std::find_if(run.import_stats.notes.begin(), run.import_stats.notes.end(),
                                      [](const Remark& note) { return note.code == Code::kLaunchesUnmatched; });
  REQUIRE(unmatched != run.import_stats.notes.end());
  CHECK(unmatched->details.at(0) == "2");
  CHECK(unmatched->details.at(1) == "ncu");
  CHECK(unmatched->details.at(2).starts_with("other"));

  evidence.ncu = {launches_of({"other"})};
  run = analyse(evidence, {});
  CHECK(run.problems.empty());  // its own passes have said why
  CHECK(run.provenance.meter == Meter::kNone);

  evidence.tracer = Tracer::kImport;
  run = analyse(evidence, {});
  REQUIRE(run.problems.size() == 1);
  CHECK(run.problems[0].what.starts_with("None of the launches that ncu measured is a kernel of this trace. The first is other"));
  evidence.ncu = {launches_of({})};
  CHECK(analyse(evidence, {}).problems.at(0).what ==
        "None of the launches that ncu measured is a kernel of this trace: its files hold no launch.");
  evidence.ncu = {launches_of({"k"})};
  run = analyse(evidence, {});
  CHECK(run.problems.empty());
  CHECK(run.provenance.meter == Meter::kNone);  // who measured what is imported is not known
}

TEST_CASE("files without counters say why, where they are imported") {
  Evidence evidence = one_kernel();
  evidence.counters.resize(2);
  evidence.counters[0].notes = {{Code::kNote, {"x"}}, {Code::kCountersDenied, {"CUPTI"}}};
  CHECK(analyse(evidence, {}).problems.empty());
  evidence.tracer = Tracer::kImport;
  CHECK(analyse(evidence, {}).problems.at(0).what ==
        "The counter files hold no counters: CUPTI may not read the GPU's performance counters.");
  evidence.counters[0].notes.clear();
  CHECK(analyse(evidence, {}).problems.at(0).what == "The counter files hold no counters.");
  evidence.counters[1].windows.resize(1);
  CHECK(analyse(evidence, {}).problems.empty());
  evidence.counters[1].windows.clear();
  evidence.counters[1].kernels = launches_of({"k"});
  CHECK(analyse(evidence, {}).problems.empty());
}

TEST_CASE("a stage that was counted, or a kernel, names its meter; a run without kernels says why") {
  Evidence evidence = one_kernel();
  evidence.counters.resize(1);
  CHECK(analyse(evidence, {}).provenance.meter == Meter::kNone);
  evidence.counters[0].windows.resize(1);
  CHECK(analyse(evidence, {}).provenance.meter == Meter::kCupti);
  evidence.counters[0].windows.clear();
  evidence.counters[0].kernels = launches_of({"k"});
  CHECK(analyse(evidence, {}).provenance.meter == Meter::kCupti);

  evidence = traced();
  evidence.trace.has_kernel_data = false;
  evidence.tracer = Tracer::kCupti;
  CHECK(analyse(evidence, {}).kernels_note == Remark{Code::kNoKernels});
  evidence.trace.stats.notes = {{Code::kNotRecorded, {"no libcupti"}}};
  CHECK(analyse(evidence, {}).kernels_note == Remark{Code::kNotRecorded, {"no libcupti"}});
  evidence.no_kernels_note = Remark{Code::kNoGpu, {""}};
  CHECK(analyse(evidence, {}).kernels_note == Remark{Code::kNoGpu, {""}});
  evidence.tracer = Tracer::kImport;
  CHECK(analyse(evidence, {}).kernels_note != Remark{Code::kNoGpu, {""}});
}

TEST_CASE("a run is partial where its trace has anything, and failed where it has nothing") {
  Evidence evidence;
  evidence.tracer = Tracer::kNsys;
  evidence.problems = {problem_of(Remark{Code::kNsysKilled, {"9"}})};
  CHECK(analyse(evidence, {}).status == RunStatus::kFailed);
  const int has = GENERATE(0, 1, 2);
  (has == 0 ? evidence.trace.has_range_data : has == 1 ? evidence.trace.has_kernel_data : evidence.trace.has_api_data) = true;
  CHECK(analyse(evidence, {}).status == RunStatus::kPartial);
}

TEST_CASE("overhead and energy are of runs, not of imports") {
  Evidence evidence = traced();
  evidence.overhead_note = "no pass";
  evidence.power_note = "no meter";
  evidence.tracer = Tracer::kNsys;
  CHECK(analyse(evidence, {}).perturbation.note == "no pass");
  CHECK(analyse(evidence, {}).energy.note == "no meter");
  evidence.tracer = Tracer::kImport;
  CHECK(analyse(evidence, {}).perturbation.note == "");
  CHECK(analyse(evidence, {}).energy.note == "");
}
