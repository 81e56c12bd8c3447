#pragma once

#include <filesystem>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/run.h"
#include "model/trace.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/capture/capture.h"
#include "orchestrator/capture/plan.h"
#include "orchestrator/capture/power.h"

namespace nl::orchestrator {

// Operators that were recorded beside the capture: of another trace, or records of their own.
struct OperatorSource {
  std::string format;
  std::string file;
  Trace trace;
  std::optional<OperatorRecords> records = {};
  bool operator_pass = false;  // the workload once more, for its operators: their structure is here, their times in the capture
  std::vector<OperatorDtypes> dtypes = {};
};

// All that a run is made of, captured here or imported: facts and readings, nothing that is concluded from them.
struct Evidence {
  std::string run_id, created_at, name, mode;
  Hardware hardware;
  Software software;
  ModelInfo model;
  Workload workload;

  Tracer tracer = Tracer::kNone;
  Meter meter = Meter::kNone;  // what was to measure kernels
  Trace trace;
  std::optional<std::int64_t> traced_at_ns;  // UTC, when the pass that traces was started; the trace itself may know better
  std::vector<NcuReport> ncu;
  std::vector<CounterReport> counters;
  std::optional<Remark> counters_missing;  // why a chosen kernel has none
  std::vector<OperatorSource> operators;
  std::optional<ModelSession> session;  // a model file that a backend ran

  bool captured_any = false;  // the traced pass left something
  Repeats repeats;
  std::string overhead_note;                            // why no unprofiled pass was run
  std::vector<PowerSample> power;                       // while the workload was traced
  std::optional<std::vector<std::string>> meter_uuids;  // of the GPUs whose power was read; nothing: none was
  std::string power_note;                               // why

  std::optional<Remark> no_kernels_note;  // why the trace can have none; nothing: the analysis says
  std::vector<PassRecord> passes;
  std::size_t workload_starts = 0;  // that were planned; 0: it was captured elsewhere
  std::optional<double> expected_s, budget_s;
  std::vector<Remark> adaptations;
  std::shared_future<std::map<std::string, std::string>> inputs_sha256;  // of imported files: hashed while the rest is analysed
  std::vector<Problem> problems;
};

// A configuration that has the model's shape wins; else its keys are added to what the process noted.
ModelInfo model_of(const ModelOptions& configured, const std::optional<ModelInfo>& noted);

// What the operator pass left in its folder, beside its trace: the data types.
void add_operator_pass(Trace trace, const std::filesystem::path& folder, Evidence& evidence);

// What a backend recorded of a model file. A session that failed left nothing; its pass says why.
void read_session_record(const std::filesystem::path& file, Evidence& evidence);

// What a plan's capture shows. `power`: the meters that were read meanwhile.
Evidence read(const Plan& plan, Capture capture, const PowerSource& power, const Bundle& bundle, const Verdict& verdict);

}  // namespace nl::orchestrator
