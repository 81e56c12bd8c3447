#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "load/prompts.h"
#include "model/error_code.h"
#include "model/input_bounds.h"

namespace nl::load {
namespace {

using nlohmann::json;

constexpr std::uintmax_t kMostFile = std::uintmax_t{256} << 20;
constexpr std::size_t kMostRows = 1'000'000;
constexpr double kLatest_s = 1e11;  // a trace may count from 1970
constexpr Ns kLongest_ns = 86'400 * Ns{1'000'000'000};
constexpr InputBounds kRowBounds{16, 1'000'000};

// Reads lines; every complaint names the line.
class RowReader {
 public:
  RowReader(const std::filesystem::path& file, const char* fix) : file_(file), fix_(fix), stream_(file, std::ios::binary) {
    std::error_code failure;
    const std::uintmax_t size = std::filesystem::file_size(file, failure);
    if (!stream_ || failure)
      throw CodedError(ErrorCode::kNoSuchFile, "the file cannot be read", file.string(), "check its path and permissions");
    if (size > kMostFile) throw Error(ErrorKind::kInput, "the file is larger than 256 MB", file.string(), "give a part of it");
  }

  bool next(std::string& line) {
    while (std::getline(stream_, line)) {
      ++number_;
      if (line.ends_with('\r')) line.pop_back();
      if (line.find_first_not_of(" \t") == std::string::npos) continue;
      if (++rows_ > kMostRows) refuse(fmt::format("the file has more than {} rows", kMostRows));
      return true;
    }
    return false;
  }

  json object(const std::string& line) const {
    json row = json::parse(json_within_bounds(line, where(), kRowBounds), nullptr, false);
    if (!row.is_object()) refuse("the line is no JSON object");
    return row;
  }

  // Nothing where it is absent or null.
  std::optional<double> number(const json& row, const char* key, double most) const {
    const auto found = row.find(key);
    if (found == row.end() || found->is_null()) return std::nullopt;
    const double value = found->is_number() ? found->get<double>() : -1;
    if (!(value >= 0 && value <= most)) refuse(fmt::format("'{}' is not a number from 0 to {}", key, most));
    return value;
  }

  std::optional<std::uint64_t> tokens(const json& row, const char* key, const char* other = "") const {
    const auto value = number(row, row.contains(key) ? key : other, static_cast<double>(kMostTokens));
    return value && *value >= 1 ? std::optional(static_cast<std::uint64_t>(*value)) : std::nullopt;
  }

  std::string text(const json& row, const char* key) const {
    const auto found = row.find(key);
    if (found == row.end() || found->is_null()) return {};
    if (!found->is_string()) refuse(fmt::format("'{}' is no text", key));
    return found->get<std::string>();
  }

  [[noreturn]] void refuse(const std::string& what) const { throw Error(ErrorKind::kInput, what, where(), fix_); }

 private:
  std::string where() const { return fmt::format("{}, line {}", file_.string(), number_); }

  std::filesystem::path file_;
  const char* fix_;
  std::ifstream stream_;
  std::size_t number_ = 0, rows_ = 0;
};

}  // namespace

std::vector<Prompt> read_prompts(const std::filesystem::path& file) {
  RowReader reader(file, R"(write a prompt in each line, as text or as {"prompt": "…", "output_tokens": 64})");
  std::vector<Prompt> prompts;
  for (std::string line; reader.next(line);) {
    Prompt prompt{line, std::nullopt, 0};
    if (line.front() == '{') {
      const json row = reader.object(line);
      prompt.text = reader.text(row, "prompt");
      prompt.output_tokens = reader.tokens(row, "output_tokens").value_or(0);
      if (prompt.text.empty()) reader.refuse("the row has no prompt");
    }
    prompts.push_back(std::move(prompt));
  }
  if (prompts.empty()) reader.refuse("the file has no prompts");
  return prompts;
}

Replay read_replay(const std::filesystem::path& file) {
  RowReader reader(file, R"(write each request as {"at_s": 1.25, "prompt_tokens": 512, "output_tokens": 64})");
  std::vector<std::pair<double, Prompt>> rows;
  for (std::string line; reader.next(line);) {
    const json row = reader.object(line);
    const auto at_s = reader.number(row, "at_s", kLatest_s), at_ms = reader.number(row, "timestamp", kLatest_s * 1e3);
    if (!at_s && !at_ms) reader.refuse("the row has neither 'at_s' nor 'timestamp'");
    Prompt prompt{reader.text(row, "prompt"), reader.tokens(row, "prompt_tokens", "input_length"),
                  reader.tokens(row, "output_tokens", "output_length").value_or(0)};
    if (prompt.text.empty() && !prompt.asked_tokens) reader.refuse("the row has neither a prompt nor 'prompt_tokens'");
    rows.emplace_back(at_s ? *at_s * 1e9 : *at_ms * 1e6, std::move(prompt));
  }
  if (rows.empty()) reader.refuse("the file has no requests");
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const double first_ns = rows.front().first;
  if (rows.back().first - first_ns > static_cast<double>(kLongest_ns)) reader.refuse("the requests span more than a day");
  Replay replay;
  for (auto& [due_ns, prompt] : rows) {
    replay.due_ns.push_back(std::llround(due_ns - first_ns));
    replay.prompts.push_back(std::move(prompt));
  }
  return replay;
}

}  // namespace nl::load
