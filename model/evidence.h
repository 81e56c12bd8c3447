#pragma once

#include <cstdint>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/codes.h"
#include "model/counters.h"
#include "model/load.h"
#include "model/perturbation.h"
#include "model/run.h"
#include "model/session.h"
#include "model/trace.h"

// What a run is made of, before anything is concluded from it.
namespace nl {

struct PassStage {
  std::string stage;
  double median_ns = 0;       // of the measured windows
  std::uint64_t windows = 0;  // warm-up included: how often the workload did it
};

struct Launch {
  Ns time_ns = 0;          // on the host, by any clock
  std::uint32_t what = 0;  // equal for launches of one function, within a process; all CUDA graphs have one number
};
struct ThreadLaunches {
  std::vector<Launch> launches;  // in their order
};

// How long one pass of the workload took.
struct PassTimes {
  PassKind profiler = PassKind::kUnprofiled;  // or kNsys, kCollector, kNcu
  std::vector<PassStage> stages;
  Ns duration_ns = 0;  // of the whole process
  // Of an unprofiled pass of a workload that marks no stage: the steps of the trace are found again by its launches.
  std::vector<ThreadLaunches> launches = {};
  bool profiled() const { return profiler != PassKind::kUnprofiled; }
};

using UtcWindow = std::pair<Ns, Ns>;  // from, to, since the epoch

struct StageWindows {
  std::string stage;
  std::vector<UtcWindow> utc_ns;
  std::optional<double> tokens_per_window;
};

// A pass whose GPUs' meters were read.
struct SampledPass {
  std::vector<PowerSample> samples;
  std::vector<StageWindows> stages;
};

// The passes beside the capture, which show the overhead of profiling.
struct Repeats {
  std::vector<PassTimes> before, after;       // the capture
  std::vector<SampledPass> unprofiled_power;  // as far as the meters were read
  std::vector<std::string> notes;             // passes that were left out, or do not count
  RepeatsEnd end = RepeatsEnd::kFixed;        // why there are no more of them
};

// Operators that were recorded beside the capture: of another trace, or records of their own.
struct OperatorSource {
  std::string format;
  std::string file;
  Trace trace;
  std::optional<OperatorRecords> records = {};
  bool operator_pass = false;  // the workload once more, for its operators: their structure is here, their times are in the capture
  std::vector<OperatorDtypes> dtypes = {};
};

// All that a run is made of, captured here or imported: facts and readings. The analysis draws the conclusions.
struct Evidence {
  std::string run_id, created_at, name;
  std::string mode = "import";  // which passes there were: deep, light; import: it was captured elsewhere
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
  std::vector<LoadRun> loads;           // what clients recorded meanwhile

  bool captured_any = false;  // the traced pass left something
  Repeats repeats;
  Calibration calibration;                              // of the tracers, on this machine
  std::string overhead_note;                            // why no unprofiled pass was run
  std::vector<PowerSample> power;                       // while the workload was traced
  std::optional<std::vector<std::string>> meter_uuids;  // of the GPUs whose power was read; nothing: power was not read
  std::string power_note;                               // why it was not read

  std::optional<Remark> no_kernels_note;  // why the trace can have no kernels; nothing: the analysis finds out
  std::vector<PassRecord> passes;
  std::size_t workload_starts = 0;  // how many were planned; 0: the workload was captured elsewhere
  std::optional<double> expected_s, budget_s;
  std::vector<Remark> adaptations;
  std::shared_future<std::map<std::string, std::string>> inputs_sha256;  // of imported files: hashed while the rest is analysed
  std::vector<Problem> problems;
};

}  // namespace nl
