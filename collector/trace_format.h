#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

// The file that the injected collector writes, one per process, and parsers/collector_trace reads.
//
// A file is a row of chunks of kChunkBytes; the first begins with the FileHeader. One thread at a time
// owns a chunk and appends records to it, beginning with a ThreadStart that says whose they are; a chunk
// left by a thread that ended may be taken over by another, with a ThreadStart of its own. Fresh space is
// zero, and the eight bytes of a record's head are stored last, at once: so a head of zero ends a chunk,
// and a process that is killed loses no more than the record that each thread was writing. The header counts the
// chunks as they are claimed, each of them whole: a file with less was cut afterwards.
//
// All numbers are little-endian; records are multiples of eight bytes. Readers skip kinds they do not know.
namespace nl::trace_format {

static_assert(std::endian::native == std::endian::little);

inline constexpr char kMagic[8] = {'N', 'L', 'T', 'R', 'A', 'C', 'E', '\n'};
inline constexpr std::uint32_t kVersion = 1;
// A multiple of every page size in use (4, 16 and 64 KiB), because chunks are mapped one by one.
inline constexpr std::uint32_t kChunkBytes = 64 * 1024;
inline constexpr std::size_t kMaxStringBytes = 4096;

struct FileHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t header_bytes;
  std::uint32_t chunk_bytes;
  std::uint32_t pid;
  std::int64_t monotonic_ns;  // CLOCK_MONOTONIC and
  std::int64_t realtime_ns;   // CLOCK_REALTIME of one moment, when the file was made
  char collector_version[16];
  char process_name[64];  // the base name of the executable
  std::uint32_t chunks;   // that were claimed so far; 0: none, or a collector that did not count them
  std::uint32_t stopped;  // 1: a chunk more could not be claimed (disk full, a limit), and what came later is not recorded
};
static_assert(sizeof(FileHeader) == 128);

// Behind the header, where header_bytes has room for it. Files of an older collector have none.
struct RunLabel {
  char text[32];  // which run the process belongs to, as NL_STAGE_RUN says; empty: not known
};

// Behind the label. The files of a process that records all the time continue each other: one file after the other, the oldest of them go.
struct Segment {
  std::int64_t began_ns;  // CLOCK_MONOTONIC, when the process began to record; 0: the file stands alone
  std::uint32_t number;   // of the file, from 0
  std::uint32_t window;   // 1: it holds a window, with the work of the GPU
};

// Behind the segment. Which rank of a distributed run the process is, as its launcher told it, and the machine that it runs on.
struct Place {
  std::uint32_t rank;        // kNoRank: not told
  std::uint32_t world_size;  // of the run; 0: not told
  char host[64];
};
inline constexpr std::uint32_t kNoRank = 0xFFFFFFFF;

inline constexpr std::uint32_t kSegmentOffset = sizeof(FileHeader) + sizeof(RunLabel);
inline constexpr std::uint32_t kPlaceOffset = kSegmentOffset + sizeof(Segment);
inline constexpr std::uint32_t kHeaderBytes = kPlaceOffset + sizeof(Place);  // of a file that is written today

enum class Kind : std::uint16_t {
  kThreadStart = 1,
  kString = 2,
  kPush = 3,
  kPop = 4,
  kMark = 5,
  kStart = 6,
  kEnd = 7,
  kThreadName = 8,
  kGpuSession = 9,
  kGpuName = 10,
  kGpuBlock = 11,
  kDevice = 12,
  kContext = 13,
  kLoss = 14,
  kNote = 15,
  kClockCheck = 16,
  kMetricSet = 17,
  kStageCounters = 18,
  kKernelCounters = 19,
  kSamples = 20,
  kStallReason = 21,
  kStalls = 22,
  kWaitStream = 23,
  kGraphNode = 24,
  kLaunch = 25,
  kTracing = 26,
};

struct Head {
  Kind kind;
  std::uint16_t bytes;  // of the whole record
  std::uint32_t id;     // a string or domain; a domain is the string of its name, 0 the default one
};
static_assert(sizeof(Head) == 8);

struct ThreadStart {
  Head head;
  std::uint64_t sequence;  // orders the pieces of one thread that lie in several chunks
  std::uint32_t tid;
  std::uint32_t unused;
  char name[16];  // as the kernel knows it
};

struct String {  // head.id: its number; the text follows
  Head head;
  std::uint32_t length;
  std::uint32_t unused;
};

struct Event {  // a push or a mark; head.id: its name. The payload follows where there is one
  Head head;
  std::int64_t time_ns;  // CLOCK_MONOTONIC
  std::uint32_t domain;
  std::uint32_t has_payload;
};

struct Pop {  // head.id: the domain
  Head head;
  std::int64_t time_ns;
};

struct Start {  // head.id: its name. The payload follows where there is one
  Head head;
  std::int64_t time_ns;
  std::uint32_t domain;
  std::uint32_t has_payload;
  std::uint64_t range;  // unique in the process
};

struct End {
  Head head;
  std::int64_t time_ns;
  std::uint64_t range;
};

struct ThreadName {  // head.id: the name
  Head head;
  std::uint32_t tid;
  std::uint32_t unused;
};

inline constexpr std::uint32_t kNoStream = 0xFFFFFFFF;  // a wait for none, or for one that is not known

struct WaitStream {  // head.id: the stream. What the thread's calls that wait for a stream wait for from this moment on
  Head head;
  std::int64_t time_ns;  // inside the first such call
  std::uint32_t context;
  std::uint32_t unused;
};

struct GraphNode {  // this thread made a node of a CUDA graph. Of a clone there are two: that it was made, and of what
  Head head;
  std::int64_t time_ns;
  std::uint64_t node;      // as kernels and copies name it
  std::uint64_t original;  // that it is a clone of; 0: none
};

struct Launch {  // head.id: what. This thread is about to launch a kernel or a CUDA graph; the only record of a pass that records launches
  Head head;
  std::int64_t time_ns;
};
// head.id: 1 from here on GPU work and calls are recorded, 0 they are not, 2 they are until those steps have ended that have begun: one that
// begins later may end outside. Without any, they are recorded from the session on.
struct Tracing {
  Head head;
  std::int64_t time_ns;
};
inline constexpr std::uint32_t kTracingOff = 0, kTracingOn = 1, kTracingEnds = 2;
inline constexpr std::uint32_t kGraphLaunched = 1;  // what: any CUDA graph. Kernels of one function have one number, which is even

// The GPU half. Its records lie in chunks of their own, whose ThreadStart has the thread id 0; these chunks
// are never left to others, so in a file they come in the order in which they were written.

inline constexpr std::size_t kMaxGpuNameBytes = 16 * 1024;  // templates make names of several kilobytes
inline constexpr std::size_t kMaxGpuBlockBytes = 2048;

struct GpuSession {  // CUPTI was found and records. head.id: its version, as cuptiGetVersion says
  Head head;
  std::int64_t time_ns;
  std::uint32_t calls;           // CallChoice
  std::uint32_t waits_by_calls;  // 1: waits are not recorded but as the calls that waited
};
enum class CallChoice : std::uint32_t { kNone = 0, kWork = 1, kAll = 2 };

// GpuName is a String of a numbering of its own: kernels (mangled, where the program's compiler did so) and
// functions. Note is a String of what went wrong, in words for the user; head.id is its NoteCode.
enum class NoteCode : std::uint32_t {
  kEarlier = 0,  // of a collector that wrote no codes
  kOther = 1,
  kNotRecorded = 2,     // kernels, copies and CUDA calls
  kCountersFailed = 3,  // nothing was counted
  kCountersDenied = 4,
  kCountersBusy = 5,    // another CUPTI client holds the process; its name stands in brackets
  kActivityFailed = 6,  // nothing was sampled
  kActivityDenied = 7,
  kStallsFailed = 8,
  kStallsDenied = 9,
};

// Notes of what is lost begin with one of these, or have it in them.
inline constexpr char kNotRecorded[] = "kernels, copies and CUDA calls are not recorded";
inline constexpr char kCountersNotMeasured[] = "counters are not measured";
inline constexpr char kActivityNotSampled[] = "activity is not sampled";
inline constexpr char kStallsNotSampled[] = "stalls are not sampled";

struct GpuBlock {  // packed records follow, filled up with zeros
  Head head;
  std::int64_t base_ns;  // what the first times of the block count from
};

// Packed records: a tag, then the fields named below. Numbers are LEB128; "~" marks a signed one (zigzag), which
// is the difference from the same field of the last such record of the block. Each block stands for itself, but
// for the definitions (shape, queue, thread, function), which come before their first use in the file.
enum class Tag : std::uint8_t {
  kEnd = 0,
  kKernel = 1,    // [queue] shape ~start duration ~correlation [~node graph]
  kCopy = 2,      // [queue] kind source destination ~start duration ~correlation bytes [~node graph]
  kSet = 3,       // [queue] memory value ~start duration ~correlation bytes [~node graph]
  kCall = 4,      // [thread] function ~start duration ~correlation [result]
  kSync = 5,      // type context stream event ~start duration ~correlation; with the calls
  kShape = 6,     // number name grid.x .y .z block.x .y .z registers static_shared dynamic_shared
  kQueue = 7,     // number device context stream
  kThread = 8,    // number tid length text
  kFunction = 9,  // number domain name
  kGraph = 10,    // [queue] graph ~start duration ~correlation; a CUDA graph as a whole, without its nodes
};
inline constexpr std::uint8_t kTagMask = 0x0F;
inline constexpr std::uint8_t kTagSamePlace = 0x10;  // the queue or thread is that of the last such record
inline constexpr std::uint8_t kTagGraphNode = 0x20;
inline constexpr std::uint8_t kTagResult = 0x40;                       // the call returned something other than 0
inline constexpr std::uint32_t kDomainDriver = 1, kDomainRuntime = 2;  // of functions, as CUPTI numbers them

struct Device {  // head.id: its number. The name follows
  Head head;
  std::uint64_t memory_bytes, bandwidth_bytes_per_s, clock_hz;
  std::uint32_t l2_bytes, sm_count, compute_major, compute_minor;
  std::uint8_t uuid[16];
  std::uint32_t name_length;
  std::uint32_t unused;
};

struct Context {  // head.id: its number
  Head head;
  std::uint32_t device;
  std::uint32_t null_stream;
};

struct Loss {  // head.id: LossReason
  Head head;
  std::uint64_t records;
};
enum class LossReason : std::uint32_t { kDropped = 1, kUnfinished = 2 };

struct ClockCheck {  // what CUPTI's clock showed between two readings of CLOCK_MONOTONIC
  Head head;
  std::int64_t time_ns;    // in the middle of them
  std::int64_t ahead_ns;   // CUPTI's clock less that
  std::int64_t window_ns;  // between them
};

// Counters. Where they are measured, kernels and calls may not be recorded: a file of a counter pass has ranges and
// these. They lie in the GPU half's chunks.

enum class MetricUse : std::uint32_t { kStage = 1, kKernel = 2, kSamples = 3 };

struct MetricSet {  // head.id: its number. The names follow, as ncu spells them, each ended by '\n'
  Head head;
  MetricUse use;
  std::uint32_t device;
  std::uint64_t interval_ns;  // of samples, as asked for
  std::uint32_t count;        // of metrics
  std::uint32_t length;       // of the text
  std::uint32_t passes;       // a kernel was replayed so often; 1: it ran once, as it would have
  std::uint32_t unused;
};

// Values follow their record as doubles, in the order of their MetricSet. A metric that could not be measured is NaN.

struct StageCounters {  // head.id: the MetricSet. One window of a stage, or several of one stage together
  Head head;
  std::int64_t start_ns;       // of the (first) window: its push, and
  std::int64_t end_ns;         // of the (last) one: its pop
  std::uint32_t domain, name;  // strings of the range
  std::uint32_t tid;
  std::uint32_t first;    // the number of the (first) window among those of this domain and name in the process, from 0
  std::uint32_t windows;  // how many
  std::uint32_t device;
};

struct KernelCounters {  // head.id: the MetricSet. One launch
  Head head;
  std::int64_t time_ns;  // of the launch
  std::uint32_t kernel;  // GpuName
  std::uint32_t tid, device, context;
  std::uint32_t grid[3], block[3];
};

struct Samples {  // head.id: the MetricSet. `count` times a Sample and the metrics' values as floats, filled up with zeros
  Head head;
  std::uint32_t count;
  std::uint32_t lost;  // 1: the GPU's buffer overflowed before these
};
struct Sample {
  std::int64_t start_ns;
  std::uint32_t duration_ns;
};
inline constexpr std::size_t kSampleBytes = 12;  // of a Sample, without what a compiler would fill it up with

// StallReason is a String of a numbering of its own, "smsp__pcsamp_warps_issue_stalled_wait".
struct Stalls {  // head.id: the function's GpuName. `count` StallCounts follow: samples since its last record
  Head head;
  std::uint32_t count;
  std::uint32_t device;
};
struct StallCount {
  std::uint32_t reason;  // StallReason
  std::uint32_t samples;
};

}  // namespace nl::trace_format
