#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "model/codes.h"
#include "model/stage.h"
#include "model/time.h"
#include "model/trace.h"

// What report.html explores: the whole capture in buckets, and stretches of it in which every slice is listed. Times are
// nanoseconds since the start of the capture; kNone where there is none.
namespace nl {

struct DetailLane {
  LaneKind kind = LaneKind::kRanges;
  std::string title;  // what it is: "python main thread 973: stages", "GPU 0 stream 7: kernels"
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;     // of ranges and calls
  std::int32_t device = 0;   // of GPU work,
  std::uint32_t stream = 0;  // of a lane of the GPU
  bool stages = false;       // its ranges are those of stages
  bool bands = false;        // collectives over all ranks, of no process
};

// A GPU as one process uses it. Each has its own budgets.
struct DetailDevice {
  std::optional<std::int32_t> device;  // empty: the process has no GPU work
  std::uint32_t pid = 0;
  std::string title;
};

struct DetailKernel {      // a name with its launch configuration
  std::uint32_t name = 0;  // index into Detail::names
  KernelClass kind = KernelClass::kOther;
  Dim3 grid, block;
  std::uint32_t registers = 0;
  std::uint64_t shared_bytes = 0;
};

struct DetailSite {     // a line of the program
  std::string place;    // "model.py:61 forward"
  bool nearby = false;  // the line is from the nearest sample, with other calls in between: it may be the line of another call
};

using BinTimes = std::array<Ns, kBudgetBins>;

struct DetailStep {         // one window of a stage
  std::uint32_t stage = 0;  // index into Detail::stages
  Ns start_ns = 0, wall_ns = 0;
  std::uint32_t iteration = kNone;
  std::uint32_t position = 0;  // among the windows of its stage in its iteration
  bool warmup = false;
  std::optional<std::int64_t> tokens;
  std::uint32_t window = kNone;                          // index into Detail::windows: the one that shows it whole
  std::vector<std::pair<std::uint32_t, BinTimes>> bins;  // by device: its budget
};

struct BucketSum {
  std::uint32_t bucket = 0;
  std::uint32_t what = 0;    // a kernel, or an operator
  std::uint32_t device = 0;  // index into Detail::devices
  Ns time_ns = 0;
  std::uint64_t calls = 0;
};

// Sums of what starts in a bucket, in the order of buckets. Each of these buckets is `scale` of the overview's.
struct BucketSums {
  std::uint32_t scale = 1;
  std::vector<BucketSum> sums;
};

struct LaneBucket {
  std::uint32_t bucket = 0;
  Ns busy_ns = 0;                          // of the bucket in which some slice is open
  std::uint32_t name = 0;                  // of the longest
  std::uint32_t slices = 0;                // that start in it
  KernelClass kind = KernelClass::kOther;  // of GPU work: the kind with most of its time, copies as kCopy
};

struct DetailOverview {
  Ns bucket_ns = 1;
  std::uint32_t count = 0;
  std::vector<std::vector<Ns>> busy;                           // by device and bucket
  std::vector<std::array<std::vector<Ns>, kBudgetBins>> bins;  // by device, bin and bucket: inside the windows of stages
  BucketSums kernels;                                          // `what`: the first entry of Detail::kernels with its name
  BucketSums operators;                                        // `what`: index into Detail::operators
  std::vector<std::vector<LaneBucket>> lanes;                  // by lane; those with nothing in them left out
};

struct DetailSlice {
  Ns start_ns = 0, duration_ns = 0;
  std::uint32_t name = kNone;                               // index into Detail::names
  std::uint32_t kernel = kNone;                             // index into Detail::kernels; then it has no name
  std::uint32_t launch_lane = kNone, launch_slice = kNone;  // of GPU work: the call, by its place in this window
  std::uint32_t operator_ = kNone, layer = kNone, site = kNone;
  std::uint32_t merged = 1;  // how many neighbours it stands for, gaps included; its name is that of the longest
};

using DetailSliceList = std::deque<DetailSlice>;  // not a vector, which would need up to twice the memory while it grows

struct DetailSlices {
  std::uint32_t lane = 0;  // index into Detail::lanes
  DetailSliceList slices;  // by start
};

struct DetailInterval {
  Ns start_ns = 0, end_ns = 0;
  BudgetBin bin = BudgetBin::kCompute;
};

struct DetailWindow {
  Ns start_ns = 0, end_ns = 0;
  bool whole = false;  // it is the whole capture
  std::vector<DetailSlices> lanes;
  std::vector<std::vector<DetailInterval>> bins;  // by device: every moment inside stages, told by the innermost one
};

// Idle time that comes again, as the run tells it of one of its stages.
struct DetailGap {
  std::uint32_t stage = 0;       // index into Detail::stages
  std::uint64_t of_windows = 0;  // that the stage has
  StageGap gap;
};

struct DetailFrame {
  std::string function, file;  // the file without its folders
  std::uint32_t line = 0;      // 0: native
  friend auto operator<=>(const DetailFrame&, const DetailFrame&) = default;
};

// A stack is a way up a tree whose roots are the outermost frames.
struct DetailStackNode {
  std::uint32_t parent = kNone;  // stands before it
  std::uint32_t frame = 0;
};

struct DetailStack {
  std::uint32_t node = 0;   // of its innermost frame that is kept
  std::uint32_t named = 0;  // the frame that it is told by: the program's own code where it runs its own, else the line that makes the call
};

struct DetailThreadSamples {
  std::uint32_t pid = 0, tid = 0;
  std::string title;                                  // "python main thread 973"
  std::vector<std::pair<Ns, std::uint32_t>> samples;  // time and stack, by time
};

// The sampled stacks. All of them, or where there are too many, those inside the exact windows and of the others one in `every`.
struct DetailSamples {
  HostSampler sampler = HostSampler::kNone;
  std::uint32_t every = 1;
  std::uint64_t in_all = 0;
  std::vector<DetailFrame> frames;
  std::vector<DetailStackNode> nodes;
  std::vector<DetailStack> stacks;
  std::vector<DetailThreadSamples> threads;
};

struct Detail {
  Ns start_ns = 0, end_ns = 0;
  std::vector<std::string> names;
  std::vector<DetailKernel> kernels;
  std::vector<std::string> operators, layers, stages;
  std::vector<DetailSite> sites;
  Ns sample_period_ns = 0;  // no sample is further away
  std::vector<DetailLane> lanes;
  std::vector<DetailDevice> devices;
  std::vector<DetailStep> steps;   // by start
  std::uint64_t steps_in_all = 0;  // more than are listed: the list is thinned
  DetailOverview overview;
  std::vector<DetailWindow> windows;  // by start, none overlapping another
  DetailSamples samples;
  std::uint32_t unit_stage = kNone;                       // the unit of what the program does: index into stages
  std::vector<DetailGap> gaps;                            // by stage, the longest first
  bool timeline_only = false;                             // made of run.json: one iteration, without budgets, operators and launches
  std::uint64_t lanes_left_out = 0, slices_left_out = 0;  // there are too many; slices: those that no lane has
};

}  // namespace nl
