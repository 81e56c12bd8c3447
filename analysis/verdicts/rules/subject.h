#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/headline.h"
#include "model/rule.h"
#include "model/run.h"

// What rules are asked about: the run, one of its stages, kernels or operators.
namespace nl::analysis::rules {

// Communication of a stage or of the run, of one GPU on average.
struct CommunicationTotals {
  double overlapped_ns = 0;
  std::uint64_t count = 0;             // of all GPUs
  std::optional<double> late_peer_ns;  // empty: no collective could be paired
};

// Totals of the whole capture, all GPUs added up.
struct CaptureTotals {
  double busy_ns = 0, exposed_ns = 0, overlapped_ns = 0, late_peer_ns = 0;
  bool paired = false;
};

// A stage as one GPU sees it.
struct StageTotals {
  double gpus = 1;                        // that one window's process uses
  std::optional<StageActivity> activity;  // GPU work: of one GPU on average; host calls: all
  CommunicationTotals communication;
  std::string slowest_gpu;                  // "GPU 1 (process 4711)"; empty: there is one
  std::uint64_t slowest_last = 0;           // how often it reaches a collective last
  const RankEntry* slowest_rank = nullptr;  // of it; nullptr: the capture is not of several ranks
  struct Launches {
    std::size_t kernel = 0;
    Ns total_ns = 0;
  };
  std::vector<Launches> launches;  // of each kernel in its measured windows
};

// The nodes of a model file that a backend ran, as rules ask about them: of one iteration, and of one operator in it.
struct NodeTotals {
  std::uint64_t nodes = 0;
  Ns own_ns = 0;
  std::string provider;              // that runs most of its time
  std::uint64_t fallback_nodes = 0;  // on the CPU, while another provider runs the rest
  Ns fallback_ns = 0;
  std::uint64_t chain_nodes = 0, longest_chain = 0;  // casts beside casts; transposes beside what only changes shapes
  Ns chain_ns = 0;
  std::string top_node;
  Ns top_node_ns = 0;
};

struct StepTotals {
  std::size_t step = 0;               // index into Run::operator_steps
  Ns own_ns = 0;                      // of all nodes
  Ns compute_ns = 0;                  // of them: products, convolutions and attention
  std::string main_provider;          // that runs most of the time, another than the CPU where there is one
  bool cpu_only = false;              // every node's provider is known and is the CPU
  std::vector<NodeTotals> operators;  // by entry of the operator table
};

// Sums over the run that several fields need, computed once.
struct RunTotals {
  std::optional<Ns> span_ns;              // of the measured iterations
  std::optional<Budget> budget;           // of all phases
  std::optional<StageActivity> activity;  // of the outermost stages; empty where they overlap
  std::optional<Ns> idle_ns, mixed_ns;    // time of these phases
  std::optional<double> first_iteration_ratio, iteration_spread;
  std::optional<double> worst_slowdown;
  std::optional<double> throttled_share;  // of the device with the most
  std::string throttle_reasons;
  std::optional<std::size_t> clock_device;  // index into Energy::devices: the one meant above
  double measured_part = 1;                 // of a kernel's time: what lies in the measured iterations
  double gpu_paced_part = 1;                // of the measured time: the GPU does not wait for the host
  double steps = 0;                         // decode steps that were measured; 0: not known
  bool has_steps = false;                   // decode_step is a stage
  bool incomplete = false;                  // the trace has a part of the run
  bool generates = false;                   // as generates() says, which looks at every stage
  std::vector<StageTotals> stages;          // by stage
  CommunicationTotals communication;        // of all phases
  CaptureTotals capture;
  std::string waiting_ranks, absent_ranks;       // "rank 0 and rank 3"; empty: none waits for another when the captures end
  std::string busiest_experts;                   // "GPU 1 (rank 1, process 4711)"; empty: no experts are known
  std::vector<std::optional<StepTotals>> nodes;  // by operator table
  WorkingKernels working;                        // the kernels that are judged
  std::vector<std::size_t> working_place;        // by kernel: in that list; its size: not in it
  NamedBackend backend;                          // what runs the model
  bool pytorch = false, jax = false, low_precision = false;

  double steps_per(const StageEntry& stage) const;  // in one window of a decode stage
};

RunTotals total(const Run& run);
void total_software(const Run& run, RunTotals& totals);  // a part of it: what runs
// True for a request, which encloses the other stages: a finding about them is not repeated for it.
bool encloses_others(const Run& run, const StageEntry& stage);
// False for ncu: it replays kernels, so its passes say nothing about the times in the report.
bool is_tracer(PassKind profiler);

// What is left of the waits for launches of a stage without those in which the host does something else: the user's own code in a long gap,
// a tokenizer, a logger. CUDA graphs and faster launches save no more than this. `waits_ns`: all of them.
double launching_ns(const StageEntry& stage, double waits_ns);
// What overlaps at most once no call waits for the GPU: the host then works while the GPU does, and neither gets faster by itself.
double overlap_ns(const Budget& budget, const StageActivity& activity);

// The part of the time in which the GPU works, or could begin its next work by itself. In the rest it waits for the host.
double paced_part(const Budget& budget);

struct Subject {
  const Run* run = nullptr;
  const RunTotals* totals = nullptr;
  RuleScope scope = RuleScope::kRun;
  std::size_t index = 0;                                    // of the stage, kernel, or operator in its table
  std::size_t table = 0;                                    // of the operator
  std::optional<std::size_t> efficiency, slowdown, energy;  // of the stage
  std::optional<std::size_t> sample, point;                 // of the kernel: its main ncu sample, and its roofline point

  const StageEntry& stage() const { return run->stages[index]; }
  const KernelEntry& kernel() const { return (*run->kernels)[index]; }
  const OperatorEntry& op() const { return run->operators[table].entries[index]; }
  const WorkingKernel& working() const { return totals->working.list[totals->working_place[index]]; }
  const NcuSample* ncu() const { return sample ? &kernel().ncu[*sample] : nullptr; }
  const RooflinePoint* roof() const { return point ? &run->roofline.points[*point] : nullptr; }
  const StageEfficiency* work() const { return efficiency ? &run->efficiency[*efficiency] : nullptr; }
  const StageSlowdown* slower() const { return slowdown ? &run->perturbation.stages[*slowdown] : nullptr; }
  const StageEnergy* joules() const { return energy ? &run->energy.stages[*energy] : nullptr; }
  const Budget* budget() const;  // of the stage, or of the run
  const StageActivity* activity() const;
  std::optional<Ns> time_ns() const;  // that its gains are part of
  std::string name() const;           // empty: the run
  Subject of_run() const { return {run, totals, RuleScope::kRun, 0, 0, {}, {}, {}, {}, {}}; }
};

std::vector<Subject> subjects_of(const Run& run, const RunTotals& totals, RuleScope scope);

// Where in run.json a field's number stands.
enum class Place {
  kSelf,
  kBudget,
  kActivity,
  kGap,
  kEfficiency,
  kSlowdown,
  kEnergy,
  kNcu,
  kRoofline,
  kStages,
  kKernels,
  kCoverage,
  kPhases,
  kIterations,
  kLatency,
  kPerturbation,
  kClocks,
  kModel,
  kWorkload,
  kHardware,
  kImport,
  kCounters,
  kSampling,
  kLaunchWaits,
  kHostCode,
  kRecurringGaps,
  kNodes,
  kSoftware,
  kProblems,
  kServing,
  kRankHang,
};
// The step whose nodes its fields are of, an index into Run::operator_steps.
std::optional<std::size_t> nodes_step(const Subject& subject);
// A JSON pointer that resolves in the run's run.json.
std::string pointer_to(const Subject& subject, Place place);

}  // namespace nl::analysis::rules
