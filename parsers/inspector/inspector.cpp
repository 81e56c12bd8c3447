#include "parsers/inspector/inspector.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "model/error_code.h"
#include "parsers/json/values.h"

namespace fs = std::filesystem;

namespace nl::parsers {
namespace inspector {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::size_t kLongestLine = std::size_t{16} << 20;  // a verbose line has some kilobytes
constexpr std::string_view kCollective = "coll_perf", kPointToPoint = "p2p_perf";

TimingSource source_named(std::string_view name) {
  if (name == "kernel_gpu") return TimingSource::kGpuKernel;
  if (name == "kernel_cpu") return TimingSource::kCpuKernel;
  if (name == "collective_cpu") return TimingSource::kCpuCall;
  return TimingSource::kUnknown;
}

// Of what a line says, all that is needed.
struct Line {
  TimedCalls series;
  TimedCall call;
  bool has_rank = false, has_kind = false, has_sequence = false, has_size = false, has_time = false;
  bool whole() const { return !series.communicator.empty() && has_rank && has_kind && has_sequence && has_size && has_time; }
};

std::optional<std::uint32_t> small_whole(ondemand::value& value) {
  const auto number = json_whole(value);
  if (!number || *number < 0 || *number > 0x7FFFFFFF) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

double not_negative(ondemand::value& value, double otherwise) {
  double number = 0;
  return value.get_double().get(number) || !std::isfinite(number) || number < 0 ? otherwise : number;
}

std::string name_or_none(std::string_view name, std::string_view none) { return name == none ? std::string() : std::string(name); }

void read_header(std::string_view key, ondemand::value& value, Line& line) {
  if (key == "id") line.series.communicator = json_text(value);
  else if (key == "comm_name") line.series.name = name_or_none(json_text(value), "unknown");
  else if (key == "n_ranks") line.series.ranks = small_whole(value).value_or(0);
  else if (key == "nnodes") line.series.nodes = small_whole(value).value_or(0);
  else if (key == "rank")
    if (const auto rank = small_whole(value)) line.series.rank = *rank, line.has_rank = true;
}

void read_metadata(std::string_view key, ondemand::value& value, Line& line) {
  if (key == "hostname") line.series.host = json_text(value);
  else if (key == "pid") line.series.pid = json_whole(value).value_or(0);
}

// "coll_sn", "p2p_sn": `key` is what follows the prefix; empty: the name of the call itself
void read_call(std::string_view key, ondemand::value& value, Line& line) {
  if (key.empty()) line.series.kind = json_text(value), line.has_kind = !line.series.kind.empty();
  else if (key == "_timing_source") line.series.source = source_named(json_text(value));
  else if (key == "_algobw_gbs") line.call.algorithm_gbs = static_cast<float>(not_negative(value, 0));
  else if (key == "_busbw_gbs") line.call.bus_gbs = static_cast<float>(not_negative(value, 0));
  else if (key == "_exec_time_us") line.call.time_us = not_negative(value, -1), line.has_time = line.call.time_us >= 0;
  else if (key == "_sn" || key == "_msg_size_bytes") {
    const auto number = json_whole(value);
    if (!number || *number < 0) return;
    if (key == "_sn") line.call.sequence = static_cast<std::uint64_t>(*number), line.has_sequence = true;
    else line.series.size_bytes = static_cast<std::uint64_t>(*number), line.has_size = true;
  }
}

template <class Read>
void read_members(ondemand::value& value, Line& line, Read read) {
  for_each_member(value, [&](std::string_view key, ondemand::value& member) {
    read(key, member, line);
    return true;
  });
}

void read_perf(std::string_view prefix, ondemand::value& value, Line& line) {
  line.series.point_to_point = prefix == "p2p";
  read_members(value, line, [prefix](std::string_view key, ondemand::value& member, Line& to) {
    if (key.starts_with(prefix)) read_call(key.substr(prefix.size()), member, to);
  });
}

bool read_member(std::string_view key, ondemand::value& value, Line& line) {
  if (key == "header") read_members(value, line, read_header);
  else if (key == "metadata") read_members(value, line, read_metadata);
  else if (key == kCollective) read_perf("coll", value, line);
  else if (key == kPointToPoint) read_perf("p2p", value, line);
  return true;
}

using SeriesKey = std::tuple<std::string, std::uint32_t, std::string, bool, std::uint64_t, TimingSource, std::string, std::int64_t>;

SeriesKey key_of(const TimedCalls& of) {
  return {of.communicator, of.rank, of.kind, of.point_to_point, of.size_bytes, of.source, of.host, of.pid};
}

class LineReader {
 public:
  explicit LineReader(InspectorFile& out) : out_(out) {}

  // `text` has so many readable bytes behind it as simdjson wants.
  void read(std::string_view text, std::size_t capacity) {
    if (text.find_first_not_of(" \t\r") == text.npos) return;
    Line line;
    if (!parse(text, capacity, line) || !line.whole()) {
      ++out_.lines_damaged;
      return;
    }
    const auto [found, is_new] = series_.emplace(key_of(line.series), out_.series.size());
    if (is_new) out_.series.push_back(line.series);
    out_.series[found->second].calls.push_back(line.call);
  }

 private:
  bool parse(std::string_view text, std::size_t capacity, Line& line) {
    ondemand::document document;
    ondemand::object members;
    if (parser_.iterate(text, capacity).get(document) || document.get_object().get(members)) return false;
    return for_each_member(members, [&](std::string_view key, ondemand::value& value) { return read_member(key, value, line); });
  }

  InspectorFile& out_;
  ondemand::parser parser_;
  std::map<SeriesKey, std::size_t> series_;
};

// Lines out of pieces, in memory that does not grow with the file.
void each_line(const fs::path& file, LineReader& reader) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  ByteSource source(file);
  std::string buffer;
  for (bool ended = false; !ended;) {
    const std::size_t before = buffer.size();
    buffer.resize(before + kPiece + simdjson::SIMDJSON_PADDING);
    const std::size_t more = source.read(buffer.data() + before, kPiece);
    ended = more < kPiece;
    const std::size_t used = before + more;
    std::size_t at = 0;
    for (std::size_t end; (end = std::string_view(buffer.data(), used).find('\n', at)) != std::string_view::npos; at = end + 1)
      reader.read({buffer.data() + at, end - at}, buffer.size() - at);
    if (ended && at < used) reader.read({buffer.data() + at, used - at}, buffer.size() - at);
    buffer = buffer.substr(at, used - at);
    if (buffer.size() > kLongestLine)
      throw Error(ErrorKind::kInput, "a line of the file is longer than 16 MiB", file.string(), "give a file of NCCL Inspector");
  }
}

}  // namespace
}  // namespace inspector

bool is_inspector_file(const FileHead& head) {
  if (head.json_opening() != '{') return false;
  const std::string_view line = std::string_view(head.text).substr(0, head.text.find('\n'));
  return line.find("\"header\"") != line.npos && (line.find("\"coll_perf\"") != line.npos || line.find("\"p2p_perf\"") != line.npos);
}

InspectorFile read_inspector(const fs::path& file) {
  InspectorFile out;
  out.file = file.string();
  inspector::LineReader reader(out);
  inspector::each_line(file, reader);
  if (out.series.empty())
    throw CodedError(ErrorCode::kUnknownFormat, "the file has no collective of NCCL Inspector", file.string(),
                     "give the files that NCCL_INSPECTOR_DUMP_DIR names, without NCCL_INSPECTOR_PROM_DUMP=1");
  return out;
}

}  // namespace nl::parsers
