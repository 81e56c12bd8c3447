#include "parsers/collector/trace.h"

#include <algorithm>
#include <map>
#include <utility>

#include "model/error.h"
#include "parsers/clock_bounds.h"
#include "parsers/collector/merge.h"
#include "parsers/collector/records.h"
#include "parsers/registry.h"

// What becomes of what: a file, or a recorder's files of one process → Process; ThreadStart and ThreadName → Thread; Push with its Pop, Start
// with its End → Range; Mark → Mark; String → the pool. What the GPU half wrote is merged by
// merge.cpp and series.cpp. A bad header is an error, a bad record is counted.
namespace nl::parsers {
namespace {

namespace format = trace_format;
using collector_trace::File;
using collector_trace::fixed_text;

void add_gpu_half(collector_trace::GpuData&& half, collector_trace::Replay& replay, Ns origin_ns, collector_trace::GpuMerge& gpu,
                  Trace& trace) {
  std::vector<std::uint32_t> threads;
  for (const auto& thread : half.threads) threads.push_back(replay.thread(thread.tid, thread.name));
  for (NodeEvent& event : half.node_events) event.thread = replay.thread(static_cast<std::uint32_t>(event.thread), {});
  collector_trace::add_series(half.metrics, origin_ns, trace);
  collector_trace::add_stalls(half, trace);
  gpu.add_work(std::move(half), replay.process(), origin_ns, std::move(threads));
}

// One rank where all of them that were told one were told the same: a launcher has none, and what loads the data has its parent's.
RankFacts rank_of_all(const std::vector<File>& files) {
  RankFacts facts;
  for (const File& file : files) {
    if (!file.rank.rank) continue;
    if (facts.rank && facts.rank != file.rank.rank) return RankFacts{.host = files.front().rank.host};
    facts = file.rank;
  }
  if (facts.host.empty()) facts.host = files.front().rank.host;
  return facts;
}

void finish(Trace& trace) {
  for (Range& range : trace.ranges)
    if (range.open) range.end_ns = trace.duration_ns;
  // By time, the outer of two that start at once first: what a timeline shows.
  std::stable_sort(trace.ranges.begin(), trace.ranges.end(),
                   [](const Range& a, const Range& b) { return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns; });
  std::stable_sort(trace.marks.begin(), trace.marks.end(), [](const Mark& a, const Mark& b) { return a.time_ns < b.time_ns; });
  trace.stats.rows_read.insert({{"processes", trace.processes.size()},
                                {"threads", trace.threads.size()},
                                {"ranges", trace.ranges.size()},
                                {"marks", trace.marks.size()}});
  trace.has_range_data = true;
}

}  // namespace

Trace read_collector_traces(const std::vector<std::filesystem::path>& paths, CallRows rows) {
  Trace trace;
  trace.stats.source_format = SourceFormat::kCollector;
  trace.stats.schema_version = std::to_string(format::kVersion);
  // CLOCK_MONOTONIC is one clock for all processes; the capture begins with the earliest of them.
  std::vector<File> files = collector_trace::read_files(paths, trace.stats);
  collector_trace::GpuMerge gpu(trace, rows == CallRows::kAll);
  for (File& file : files) {
    Ns origin_ns = files.front().header.monotonic_ns;
    collector_trace::Replay replay(file, trace, origin_ns);
    replay.run();
    file.more_gpu.insert(file.more_gpu.begin(), std::move(file.gpu));
    for (collector_trace::GpuData& half : file.more_gpu) add_gpu_half(std::move(half), replay, origin_ns, gpu, trace);
  }
  gpu.add_calls();
  collector_trace::finish_series(trace);
  note_clocks(trace.syncs, trace);
  if (!files.empty()) {
    const format::FileHeader& first = files.front().header;
    trace.utc_start_ns = first.realtime_ns;
    trace.monotonic_start_ns = first.monotonic_ns;
    trace.rank = rank_of_all(files);
    trace.stats.tool_version = fixed_text(first.collector_version, sizeof first.collector_version);
  }
  finish(trace);
  return trace;
}

RecordedLaunches read_collector_launches(const std::vector<std::filesystem::path>& paths) {
  RecordedLaunches out;
  ImportStats stats;
  for (File& file : collector_trace::read_files(paths, stats)) {
    std::stable_sort(file.pieces.begin(), file.pieces.end(), [](const auto& a, const auto& b) { return a.sequence < b.sequence; });
    std::map<std::uint32_t, ThreadLaunches> threads;
    for (const auto& piece : file.pieces) {
      if (piece.launches.empty()) continue;
      std::vector<Launch>& all = threads[piece.tid].launches;
      all.insert(all.end(), piece.launches.begin(), piece.launches.end());
    }
    for (auto& [tid, thread] : threads) out.threads.push_back(std::move(thread));
    out.notes.insert(out.notes.end(), file.gpu.notes.begin(), file.gpu.notes.end());
  }
  return out;
}

bool gpu_half_recorded(const std::vector<std::filesystem::path>& paths) {
  return std::any_of(paths.begin(), paths.end(), [](const auto& path) {
    File file;
    ImportStats stats;
    collector_trace::read_file(path, file, stats, [](const File& some) { return some.gpu.recorded(); });
    return file.gpu.recorded();
  });
}

namespace {

// The header, and what else the first chunk has; of a file that cannot be read, which the reader of the whole file reports, nothing.
File beginning_of(const std::filesystem::path& path) {
  File file;
  ImportStats stats;
  try {
    collector_trace::read_file(path, file, stats, [](const File&) { return true; });
  } catch (const Error&) {
    return {};
  }
  return file;
}

}  // namespace

std::string process_name_of(const std::filesystem::path& path) {
  const File file = beginning_of(path);
  return fixed_text(file.header.process_name, sizeof file.header.process_name);
}

std::string host_name_of(const std::filesystem::path& path) { return beginning_of(path).rank.host; }

extern const Format kCollectorFormat = {
    .name = "collector",
    .help = "trace files of the collector",
    .known_as = "a collector trace",
    .gives = Gives::kCollectorTraces,
    .together = true,
    .is_own = [](const FileHead& head) { return head.starts_with(std::string_view(format::kMagic, sizeof format::kMagic)); },
    .read = [](const Files& files) -> Reading { return read_collector_traces(files); }};

}  // namespace nl::parsers
