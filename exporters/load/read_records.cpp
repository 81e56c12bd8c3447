#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "exporters/load/json_parts.h"
#include "exporters/load/records.h"
#include "model/error_code.h"
#include "model/input_bounds.h"

namespace nl::exporters {
namespace {

using nlohmann::json;

// A request takes about 20 values and one for each chunk.
constexpr InputBounds kRecordBounds{8, 80'000'000};
constexpr std::size_t kMostRecordText = 4'000;
constexpr std::uint64_t kLatest = 4'000'000'000'000'000'000;  // of times and counts, so that two can be added
constexpr std::size_t kRecordHeadBytes = 200;

// Reads one file. Every complaint names the place in it.
class RecordReader {
 public:
  explicit RecordReader(const std::string& where) : where_(where) {}

  LoadRun read(std::string_view text) {
    const json root = parsed(text);
    if (!root.is_object() || string_in(root, "format") != loads::kRecordsFormat) refuse("the file is no record of a load");
    if (number_in<int>(root, "format_version").value_or(0) > kLoadRecordsVersion)
      throw Error(ErrorKind::kInput, "a newer nl-stage wrote these records", where_, "read them with that version");
    LoadRun run;
    run.name = where_;
    read_head(root, run);
    for (const json& row : list_in(root, "requests")) {
      place_ = fmt::format("requests[{}]", run.requests.size());
      run.requests.push_back(request(row));
    }
    return run;
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw CodedError(ErrorCode::kRunJsonInvalid, what, place_.empty() ? where_ : fmt::format("{}, {}", where_, place_),
                     "give a file that nl-stage load --out wrote, unchanged");
  }

  json parsed(std::string_view text) const {
    json root = json::parse(json_within_bounds(text, where_, kRecordBounds), nullptr, false);
    if (root.is_discarded()) refuse("the file is no JSON");
    return root;
  }

  const json& value_in(const json& object, const char* key) const {
    static const json kNone;
    if (!object.is_object()) refuse("this is no object");
    const auto found = object.find(key);
    return found == object.end() ? kNone : *found;
  }

  std::string string_in(const json& object, const char* key) const {
    const json& value = value_in(object, key);
    if (value.is_null()) return {};
    if (!value.is_string() || value.get_ref<const std::string&>().size() > kMostRecordText) refuse(fmt::format("'{}' is no text", key));
    return value.get<std::string>();
  }

  template <class Number>
  std::optional<Number> number_in(const json& object, const char* key) const {
    const json& value = value_in(object, key);
    if (value.is_null()) return std::nullopt;
    if constexpr (std::is_floating_point_v<Number>) {
      if (value.is_number() && std::isfinite(value.get<double>())) return value.get<double>();
    } else if (value.is_number_unsigned() &&
               value.get<std::uint64_t>() <= std::min<std::uint64_t>(kLatest, std::numeric_limits<Number>::max())) {
      return value.get<Number>();
    }
    refuse(fmt::format("'{}' is no number", key));
  }

  bool flag_in(const json& object, const char* key) const {
    const json& value = value_in(object, key);
    if (!value.is_boolean()) refuse(fmt::format("'{}' is neither true nor false", key));
    return value.get<bool>();
  }

  const json& list_in(const json& object, const char* key) const {
    const json& value = value_in(object, key);
    if (!value.is_array()) refuse(fmt::format("'{}' is no list", key));
    return value;
  }

  template <class Enum>
  Enum key_in(const json& object, const char* key) const {
    const auto value = from_key<Enum>(string_in(object, key));
    if (!value) refuse(fmt::format("'{}' has no such value", key));
    return *value;
  }

  void read_head(const json& root, LoadRun& run) const {
    run.tool = key_in<LoadTool>(root, "tool");
    run.clock = key_in<LoadClock>(root, "clock");
    run.epoch_offset_ns = number_in<Ns>(root, "epoch_offset_ns");
    run.created_at = string_in(root, "created_at");
    run.target = string_in(root, "target");
    run.model = string_in(root, "model");
    if (!value_in(root, "endpoint").is_null()) run.endpoint = key_in<LoadEndpoint>(root, "endpoint");
    const json& arrivals = value_in(root, "arrivals");
    run.arrivals = {key_in<ArrivalKind>(arrivals, "kind"), number_in<double>(arrivals, "rate_per_s"),
                    number_in<double>(arrivals, "burstiness"), number_in<std::uint64_t>(arrivals, "concurrency"),
                    number_in<std::uint64_t>(arrivals, "seed")};
    run.duration_ns = number_in<Ns>(root, "duration_ns");
    run.interrupted = flag_in(root, "interrupted");
    run.damaged = number_in<std::uint64_t>(root, "damaged_rows").value_or(0);
  }

  // Whole nanoseconds since the request was sent.
  std::vector<Ns> times_in(const json& row, const char* key, Ns sent_ns) const {
    std::vector<Ns> times;
    if (value_in(row, key).is_null()) return times;
    for (const json& each : list_in(row, key)) {
      if (!each.is_number_unsigned() || each.get<std::uint64_t>() > kLatest) refuse(fmt::format("'{}' has what is no time", key));
      times.push_back(sent_ns + each.get<Ns>());
    }
    return times;
  }

  void read_chunks(const json& row, LoadRequest& out) const {
    const Ns sent_ns = out.sent_ns.value_or(0);
    const std::string& kinds = value_in(row, "chunk_kinds").is_string() ? value_in(row, "chunk_kinds").get_ref<const std::string&>() : "";
    const std::vector<Ns> times = times_in(row, "chunk_ns", sent_ns);
    if (kinds.size() != times.size()) refuse("'chunk_kinds' and 'chunk_ns' have not the same length");
    for (std::size_t i = 0; i < times.size(); ++i) {
      const std::size_t kind = loads::kChunkLetters.find(kinds[i]);
      if (kind == std::string_view::npos) refuse("'chunk_kinds' has a letter that is none of its own");
      out.chunks.push_back({times[i], static_cast<ChunkKind>(kind)});
    }
    out.token_ns = times_in(row, "token_ns", sent_ns);
    out.every_chunk = flag_in(row, "every_chunk");
    out.chunk_count = number_in<std::uint64_t>(row, "chunk_count").value_or(0);
  }

  LoadRequest request(const json& row) const {
    LoadRequest out;
    out.id = string_in(row, "id");
    out.warmup = flag_in(row, "warmup");
    out.scheduled_ns = number_in<Ns>(row, "scheduled_ns");
    out.sent_ns = number_in<Ns>(row, "sent_ns");
    out.connected_ns = number_in<Ns>(row, "connected_ns");
    out.first_byte_ns = number_in<Ns>(row, "first_byte_ns");
    out.end_ns = number_in<Ns>(row, "end_ns");
    out.outcome = key_in<RequestOutcome>(row, "outcome");
    out.http_status = number_in<int>(row, "http_status").value_or(0);
    out.error = string_in(row, "error");
    out.asked_prompt_tokens = number_in<std::uint64_t>(row, "asked_prompt_tokens");
    out.asked_output_tokens = number_in<std::uint64_t>(row, "asked_output_tokens");
    out.prompt_tokens = number_in<std::uint64_t>(row, "prompt_tokens");
    out.output_tokens = number_in<std::uint64_t>(row, "output_tokens");
    read_chunks(row, out);
    return out;
  }

  const std::string& where_;
  std::string place_;
};

}  // namespace

bool is_load_records(std::string_view text) {
  return text.starts_with('{') &&
         text.substr(0, kRecordHeadBytes).find(fmt::format("\"{}\"", loads::kRecordsFormat)) != std::string_view::npos;
}

LoadRun read_load_records(std::string_view text, const std::string& where) { return RecordReader(where).read(text); }

}  // namespace nl::exporters
