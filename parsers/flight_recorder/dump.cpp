#include "parsers/flight_recorder/dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "model/error_code.h"
#include "parsers/flight_recorder/call_kinds.h"
#include "parsers/flight_recorder/json_values.h"
#include "parsers/flight_recorder/pickle.h"

namespace fs = std::filesystem;

namespace nl::parsers {
namespace flight {
namespace {

constexpr std::uintmax_t kMostBytes = std::uintmax_t{4} << 30;
constexpr std::string_view kReadVersions = "2.";  // the first number changes where a field gets another meaning
constexpr std::uint32_t kNoStack = 0;             // stacks[0] has no frame

// "[0,1, 2]": the members of a group
std::vector<std::uint32_t> ranks_in(std::string_view text) {
  std::vector<std::uint32_t> ranks;
  for (const char* at = text.data(); at < text.data() + text.size();) {
    std::uint32_t rank = 0;
    const auto [end, fault] = std::from_chars(at, text.data() + text.size(), rank);
    if (fault == std::errc()) ranks.push_back(rank), at = end;
    else ++at;
  }
  return ranks;
}

// PyTorch writes a word where a group was made without a description.
std::string described(std::string_view text) { return text == "undefined" ? std::string() : std::string(text); }

std::optional<CallState> state_named(std::string_view name) {
  if (name == "scheduled") return CallState::kScheduled;
  if (name == "started") return CallState::kStarted;
  if (name == "completed") return CallState::kCompleted;
  return std::nullopt;
}

template <class Key>
std::uint32_t number_of(Key key, std::map<Key, std::uint32_t>& numbers, std::vector<Key>& all) {
  const auto [found, is_new] = numbers.emplace(std::move(key), static_cast<std::uint32_t>(all.size()));
  if (is_new) all.push_back(found->first);
  return found->second;
}

class DumpReader {
 public:
  DumpReader(const Values& values, ValueId root, FlightDump& dump) : values_(values), root_(root), dump_(dump) {
    stacks_.emplace(std::vector<CallFrame>(), kNoStack);
    dump_.stacks.emplace_back();
  }

  void read() {
    read_version();
    if (const auto config = values_.member(root_, "pg_config")) read_groups(*config);
    const auto entries = values_.member(root_, "entries");
    dump_.calls_dumped = entries.has_value();
    if (!entries) return;
    for (const ValueId entry : values_.parts(*entries))
      if (!read_call(entry)) ++dump_.damaged_calls;
    std::stable_sort(dump_.calls.begin(), dump_.calls.end(), [](const auto& a, const auto& b) { return a.record < b.record; });
    tell_coalesced();
  }

 private:
  // The recorder follows a batch as one call, "coalesced", behind those in it, which stay scheduled for ever.
  void tell_coalesced() {
    for (std::size_t i = 1; i < dump_.calls.size(); ++i) {
      RecordedCall& whole = dump_.calls[i];
      if (!is_batch(dump_.forms[whole.form].kind)) continue;
      for (std::size_t part = i; part-- > 0;) {
        RecordedCall& call = dump_.calls[part];
        if (call.group != whole.group || call.sequence != whole.sequence || call.peer_sequence != whole.peer_sequence) break;
        call.state = whole.state;
        whole.point_to_point |= call.point_to_point;
      }
    }
  }

  void read_version() {
    dump_.version = values_.text_member(root_, "version");
    if (dump_.version.empty() || !values_.member(root_, "pg_config"))
      throw CodedError(ErrorCode::kUnknownFormat, "the file is no dump of PyTorch's flight recorder: it has no version and no pg_config",
                       dump_.file, "give the files that TORCH_NCCL_DEBUG_INFO_TEMP_FILE names, one of each rank");
    if (!dump_.version.starts_with(kReadVersions))
      throw CodedError(ErrorCode::kUnknownFormat, fmt::format("the dump is of version {}, and 2.x is read", dump_.version), dump_.file,
                       "read it with torch.distributed.flight_recorder of the PyTorch that wrote it");
  }

  // {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}}
  void read_groups(ValueId config) {
    const std::span<const ValueId> groups = values_.parts(config);
    for (std::size_t i = 1; i < groups.size(); i += 2)
      group_numbered({std::string(values_.text_member(groups[i], "name")), described(values_.text_member(groups[i], "desc")),
                      ranks_in(values_.text_member(groups[i], "ranks"))});
  }

  std::uint32_t group_numbered(DumpGroup group) {
    const auto [found, is_new] = groups_.emplace(group.name, static_cast<std::uint32_t>(dump_.groups.size()));
    if (is_new) dump_.groups.push_back(std::move(group));
    return found->second;
  }

  // ("0", "default_pg")
  std::optional<std::uint32_t> group_of(ValueId entry) {
    const auto group = values_.member(entry, "process_group");
    if (!group) return std::nullopt;
    const std::span<const ValueId> names = values_.parts(*group);
    if (names.empty() || values_.text(names[0]).empty()) return std::nullopt;
    return group_numbered({std::string(values_.text(names[0])), names.size() > 1 ? described(values_.text(names[1])) : "", {}});
  }

  std::vector<std::vector<std::int64_t>> sizes_of(ValueId entry, std::string_view key) {
    std::vector<std::vector<std::int64_t>> tensors;
    const auto found = values_.member(entry, key);
    if (!found) return tensors;
    for (const ValueId tensor : values_.parts(*found)) {
      std::vector<std::int64_t>& sizes = tensors.emplace_back();
      for (const ValueId size : values_.parts(tensor)) sizes.push_back(values_[size].integer);
    }
    return tensors;
  }

  std::vector<std::string> texts_of(ValueId entry, std::string_view key) {
    std::vector<std::string> texts;
    if (const auto found = values_.member(entry, key))
      for (const ValueId text : values_.parts(*found)) texts.emplace_back(values_.text(text));
    return texts;
  }

  std::uint32_t form_of(ValueId entry) {
    const std::string_view kind = without_library(values_.text_member(entry, "profiling_name"));
    return number_of(CallForm{std::string(kind), call_rule(kind), peer_place(kind), sizes_of(entry, "input_sizes"),
                              sizes_of(entry, "output_sizes"), texts_of(entry, "input_dtypes"), texts_of(entry, "output_dtypes")},
                     forms_, dump_.forms);
  }

  // [{"name": "step", "filename": "/code/train.py", "line": 88}], innermost first
  std::uint32_t stack_of(ValueId entry) {
    const auto found = values_.member(entry, "frames");
    if (!found) return kNoStack;
    std::vector<CallFrame> frames;
    for (const ValueId frame : values_.parts(*found))
      frames.push_back({std::string(values_.text_member(frame, "name")), std::string(values_.text_member(frame, "filename")),
                        static_cast<std::uint64_t>(std::max<std::int64_t>(0, values_.integer_member(frame, "line").value_or(0)))});
    return number_of(std::move(frames), stacks_, dump_.stacks);
  }

  bool read_call(ValueId entry) {
    const auto flag = values_.member(entry, "is_p2p");
    RecordedCall call;
    call.point_to_point = flag && *flag == Values::kTrue;
    const auto record = values_.integer_member(entry, "record_id"), sequence = values_.integer_member(entry, "collective_seq_id");
    const auto state = state_named(values_.text_member(entry, "state"));
    if (!record || !sequence || *record < 0 || *sequence < 0 || !state) return false;
    const auto group = group_of(entry);
    if (!group) return false;
    call.record = static_cast<std::uint64_t>(*record);
    call.sequence = static_cast<std::uint64_t>(*sequence);
    call.peer_sequence = static_cast<std::uint64_t>(std::max<std::int64_t>(0, values_.integer_member(entry, "p2p_seq_id").value_or(0)));
    call.created_ns = values_.integer_member(entry, "time_created_ns").value_or(0);
    call.group = *group;
    call.form = form_of(entry);
    call.stack = stack_of(entry);
    call.state = *state;
    dump_.calls.push_back(call);
    return true;
  }

  const Values& values_;
  ValueId root_;
  FlightDump& dump_;
  std::map<std::string, std::uint32_t> groups_;
  std::map<CallForm, std::uint32_t> forms_;
  std::map<std::vector<CallFrame>, std::uint32_t> stacks_;
};

std::string whole_file(const fs::path& file) {
  ByteSource source(file);
  std::string bytes;
  for (std::size_t more = 1 << 20; more > 0;) {
    const std::size_t before = bytes.size();
    if (before > kMostBytes)
      throw Error(ErrorKind::kInput, "the file is larger than 4 GiB", file.string(), "a dump has some megabytes: give another file");
    bytes.resize(before + (1 << 20));
    more = source.read(bytes.data() + before, 1 << 20);
    bytes.resize(before + more);
  }
  return bytes;
}

template <class Document>
FlightDump dump_of(const Document& document, const std::string& where) {
  FlightDump dump;
  dump.file = where;
  DumpReader(document.values, document.root, dump).read();
  return dump;
}

}  // namespace
}  // namespace flight

bool is_flight_dump(const FileHead& head) {
  const bool pickle = std::string_view(head.text).starts_with(kPickleMagic);
  if (!pickle && head.json_opening() != '{') return false;
  const auto has = [&](const char* key) { return head.text.find(key) != head.text.npos; };
  return has("pg_config") || (has("collective_seq_id") && has("profiling_name"));  // JSON has its keys sorted: "entries" comes first
}

FlightDump read_flight_dump(const fs::path& file) {
  const std::string bytes = flight::whole_file(file), where = file.string();
  if (bytes.empty())
    throw CodedError(ErrorCode::kCaptureDamaged, "the file is empty", where,
                     "its process was killed before it wrote; leave the file out, and its rank counts as one without a dump");
  if (bytes.starts_with(kPickleMagic)) return flight::dump_of(read_pickle(bytes, where), where);
  return flight::dump_of(read_json_values(bytes, where), where);
}

}  // namespace nl::parsers
