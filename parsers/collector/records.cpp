#include "parsers/collector/records.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "model/error_code.h"
#include "parsers/collector/gpu.h"
#include "parsers/nsys/strings.h"

namespace nl::parsers::collector_trace {
namespace {

namespace format = trace_format;
using format::Kind;

// The least a record of each kind must hold; 0 for kinds of later versions.
std::size_t smallest(Kind kind) {
  switch (kind) {
    case Kind::kThreadStart: return sizeof(format::ThreadStart);
    case Kind::kString: return sizeof(format::String);
    case Kind::kPush:
    case Kind::kMark: return sizeof(format::Event);
    case Kind::kPop: return sizeof(format::Pop);
    case Kind::kStart: return sizeof(format::Start);
    case Kind::kEnd: return sizeof(format::End);
    case Kind::kThreadName: return sizeof(format::ThreadName);
    case Kind::kGpuSession: return sizeof(format::GpuSession);
    case Kind::kGpuName:
    case Kind::kNote: return sizeof(format::String);
    case Kind::kGpuBlock: return sizeof(format::GpuBlock);
    case Kind::kDevice: return sizeof(format::Device);
    case Kind::kContext: return sizeof(format::Context);
    case Kind::kLoss: return sizeof(format::Loss);
    case Kind::kClockCheck: return sizeof(format::ClockCheck);
    case Kind::kMetricSet: return sizeof(format::MetricSet);
    case Kind::kStageCounters: return sizeof(format::StageCounters);
    case Kind::kKernelCounters: return sizeof(format::KernelCounters);
    case Kind::kSamples: return sizeof(format::Samples);
    case Kind::kStallReason: return sizeof(format::String);
    case Kind::kStalls: return sizeof(format::Stalls);
    case Kind::kWaitStream: return sizeof(format::WaitStream);
    case Kind::kGraphNode: return sizeof(format::GraphNode);
    case Kind::kLaunch: return sizeof(format::Launch);
    case Kind::kTracing: return sizeof(format::Tracing);
  }
  return 0;
}

template <typename Record>
Event read_event(const char* at, const Record& record) {
  Event event;
  event.kind = record.head.kind;
  event.time_ns = record.time_ns;
  event.name = record.head.id;
  event.domain = record.domain;
  if (record.has_payload != 0 && record.head.bytes >= sizeof record + sizeof(std::int64_t))
    event.payload = load<std::int64_t>(at + sizeof record);
  return event;
}

void read_thread_start(const char* at, File& file) {
  auto record = load<format::ThreadStart>(at);
  Piece piece;
  piece.sequence = record.sequence;
  piece.tid = record.tid;
  if (record.tid != 0)  // 0: the GPU half
    file.thread_names.emplace(record.tid, fixed_text(record.name, sizeof record.name));
  file.pieces.push_back(std::move(piece));
}

void read_string(const char* at, const format::Head& head, File& file, Damage& damage) {
  if (auto text = read_text(at, head, damage)) file.strings.insert_or_assign(head.id, std::move(*text));
}

void read_graph_node(const char* at, File& file, Damage& damage) {
  const auto record = load<format::GraphNode>(at);
  const std::uint32_t tid = file.pieces.back().tid;
  if (record.time_ns < 0 || tid == 0) {
    ++damage[{Code::kImpossibleRecord}];
    return;
  }
  const std::int64_t original = record.original == 0 ? NodeEvent::kNotCloned : static_cast<std::int64_t>(record.original);
  file.gpu.node_events.push_back({{0, static_cast<std::int64_t>(record.node)}, original, tid, record.time_ns});
}

void read_record(const char* at, const format::Head& head, File& file, Damage& damage) {
  if (head.kind == Kind::kThreadStart) return read_thread_start(at, file);
  if (head.kind == Kind::kString) return read_string(at, head, file, damage);
  if (read_gpu_record(at, head, file.gpu, damage)) return;
  if (head.kind == Kind::kThreadName) {
    file.nvtx_thread_names.insert_or_assign(load<format::ThreadName>(at).tid, head.id);
    return;
  }
  if (head.kind == Kind::kWaitStream) {
    auto record = load<format::WaitStream>(at);
    file.gpu.streams_waited.push_back({file.pieces.back().tid, record.time_ns, record.context, head.id});
    return;
  }
  if (head.kind == Kind::kGraphNode) return read_graph_node(at, file, damage);
  if (head.kind == Kind::kLaunch) {
    file.pieces.back().launches.push_back({load<format::Launch>(at).time_ns, head.id});
    return;
  }
  Event event;
  if (head.kind == Kind::kPush || head.kind == Kind::kMark) {
    event = read_event(at, load<format::Event>(at));
  } else if (head.kind == Kind::kStart) {
    auto record = load<format::Start>(at);
    event = read_event(at, record);
    event.range = record.range;
  } else if (head.kind == Kind::kPop) {
    auto record = load<format::Pop>(at);
    event = {Kind::kPop, record.time_ns, 0, head.id, 0, {}};
  } else if (head.kind == Kind::kEnd) {
    auto record = load<format::End>(at);
    event = {Kind::kEnd, record.time_ns, 0, 0, record.range, {}};
  } else {
    ++damage[{Code::kUnknownRecord}];
    return;
  }
  if (event.time_ns < 0 || file.pieces.back().tid == 0) ++damage[{Code::kImpossibleRecord}];
  else file.pieces.back().events.push_back(event);
}

// A chunk: head, body, head, body … until a head of zero:
//   01 00 28 00 00 00 00 00 <thread start> 02 00 18 00 01 00 00 00 <string 1> 03 00 18 00 01 00 00 00 <push> 00 …
void read_chunk(const char* begin, const char* end, File& file, Damage& damage) {
  std::size_t pieces_before = file.pieces.size();
  for (const char* at = begin; at < end;) {
    auto left = static_cast<std::size_t>(end - at);
    if (left < sizeof(format::Head)) {
      if (std::any_of(at, end, [](char c) { return c != 0; })) ++damage[{Code::kRecordCut}];
      return;
    }
    auto head = load<format::Head>(at);
    if (head.kind == Kind{0}) return;
    std::size_t least = std::max(smallest(head.kind), sizeof head);
    bool first = file.pieces.size() == pieces_before;
    if (head.bytes < least || head.bytes % 8 != 0 || (first && head.kind != Kind::kThreadStart)) {
      ++damage[{Code::kRestLost, {"record", "chunk"}}];
      return;
    }
    if (head.bytes > left) {
      ++damage[{Code::kRecordCut}];
      // A block holds many records; those before the cut are whole.
      head.bytes = static_cast<std::uint16_t>(left);
      if (head.kind == Kind::kGpuBlock && left >= least) read_gpu_record(at, head, file.gpu, damage);
      return;
    }
    read_record(at, head, file, damage);
    at += head.bytes;
  }
}

[[noreturn]] void refuse(const std::filesystem::path& path, std::string what, std::string fix) {
  throw CodedError(ErrorCode::kCaptureDamaged, std::move(what), path.string(), std::move(fix));
}

// False where the process was killed before the header was written.
bool read_header(const std::filesystem::path& path, const std::vector<char>& bytes, format::FileHeader& header) {
  std::size_t magic = std::min(bytes.size(), sizeof format::kMagic);
  bool blank = std::all_of(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(magic), [](char c) { return c == 0; });
  if (blank) return false;
  if (std::memcmp(bytes.data(), format::kMagic, magic) != 0)
    refuse(path, "not a trace of the nl-stage collector", "give the nvtx-*.nltrace files that the collector wrote");
  if (bytes.size() < sizeof header) return false;
  header = load<format::FileHeader>(bytes.data());
  if (header.version != format::kVersion)
    refuse(path, fmt::format("collector trace of version {}, this build reads {}", header.version, format::kVersion),
           "read it with the nl-stage that recorded it");
  if (header.chunk_bytes != format::kChunkBytes || header.header_bytes < sizeof header || header.header_bytes > header.chunk_bytes ||
      header.monotonic_ns < 0)
    refuse(path, "the header of the collector trace is damaged", "record it again");
  return true;
}

RankFacts rank_of(const format::Place& place) {
  RankFacts facts;
  facts.host = as_utf8(fixed_text(place.host, sizeof place.host));
  if (place.rank == format::kNoRank) return facts;
  facts.rank = place.rank;
  if (place.world_size > 0) facts.world_size = place.world_size;
  facts.source = RankSource::kEnvironment;
  return facts;
}

// Chunks are claimed whole. What the header counts must be there; of a collector that did not count, the last one must be whole.
void note_cut(const std::filesystem::path& path, const format::FileHeader& header, std::uint64_t bytes, ImportStats& stats) {
  const std::uint64_t begun = (bytes + format::kChunkBytes - 1) / format::kChunkBytes;
  const bool header_only = bytes <= header.header_bytes;
  const std::uint64_t claimed =
      (header.chunks > 0 || header.stopped != 0 || header_only ? header.chunks : begun) * std::uint64_t{format::kChunkBytes};
  if (bytes < claimed)
    stats.notes.push_back({Code::kCaptureCut, {std::to_string(bytes), std::to_string(claimed)}, path.filename().string()});
  if (header.stopped != 0) stats.notes.push_back({Code::kCaptureStopped, {std::to_string(claimed)}, path.filename().string()});
}

}  // namespace

std::string fixed_text(const char* text, std::size_t capacity) { return std::string(text, strnlen(text, capacity)); }

bool read_file(const std::filesystem::path& path, File& file, ImportStats& stats, bool (*enough)(const File& file)) {
  std::ifstream in(path, std::ios::binary);
  if (!in) refuse(path, "cannot read the collector trace", "check that the file exists and may be read");
  std::vector<char> chunk(format::kChunkBytes);
  auto fill = [&] {
    in.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    return static_cast<std::size_t>(in.gcount());
  };
  std::size_t got = fill();
  chunk.resize(got);
  if (!read_header(path, chunk, file.header)) {
    ++stats.rows_damaged[{Code::kHeaderCut}];
    // The header is written at once: a part of it was cut. Nothing at all may be what a killed process left.
    if (got > 0 && chunk[0] != 0)
      stats.notes.push_back({Code::kCaptureCut, {std::to_string(got), std::to_string(sizeof file.header)}, path.filename().string()});
    return false;
  }
  std::size_t skip = std::min<std::size_t>(file.header.header_bytes, got);
  if (skip >= format::kSegmentOffset) file.run = fixed_text(chunk.data() + sizeof file.header, sizeof(format::RunLabel));
  if (skip >= format::kPlaceOffset) file.segment = load<format::Segment>(chunk.data() + format::kSegmentOffset);
  if (skip >= format::kHeaderBytes) file.rank = rank_of(load<format::Place>(chunk.data() + format::kPlaceOffset));
  std::uint64_t bytes = 0;
  chunk.resize(format::kChunkBytes);
  for (; got > 0; got = fill(), skip = 0) {
    bytes += got;
    read_chunk(chunk.data() + skip, chunk.data() + got, file, stats.rows_damaged);
    if (enough != nullptr && enough(file)) return true;
  }
  note_cut(path, file.header, bytes, stats);
  return true;
}

std::vector<File> read_files(const std::vector<std::filesystem::path>& paths, ImportStats& stats) {
  std::vector<File> files;
  for (const auto& path : paths) {
    File file;
    if (read_file(path, file, stats)) files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) {
    return std::pair(a.header.monotonic_ns, a.header.pid) < std::pair(b.header.monotonic_ns, b.header.pid);
  });
  join_segments(files);
  return files;
}

}  // namespace nl::parsers::collector_trace
