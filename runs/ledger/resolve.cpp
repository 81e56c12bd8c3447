#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "model/error.h"
#include "runs/ledger/ledger.h"

namespace nl::runs {
namespace {

constexpr const char* kNewestFirst = "ORDER BY created_at DESC, number DESC";
constexpr std::string_view kLast = "last", kBeforeLast = "last~", kTagPrefix = "tag:";
constexpr std::size_t kCandidates = 5;  // named where a beginning fits several runs

// last → 0, last~2 → 2
std::optional<std::int64_t> runs_before_last(std::string_view name) {
  if (name == kLast) return 0;
  if (!name.starts_with(kBeforeLast)) return std::nullopt;
  const std::string_view digits = name.substr(kBeforeLast.size());
  std::int64_t count = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (failure != std::errc() || end != digits.data() + digits.size() || count < 0)
    throw Error(ErrorKind::kUsage, fmt::format("'{}' names no run", name), "the name of a run", "write last, last~1, last~2 …");
  return count;
}

[[noreturn]] void throw_ambiguous(const std::string& name, const std::vector<LedgerEntry>& entries) {
  std::string candidates;
  for (std::size_t i = 0; i < entries.size() && i < kCandidates; ++i) candidates += (i > 0 ? ", " : "") + entries[i].run_id;
  if (entries.size() > kCandidates) candidates += " …";
  throw Error(ErrorKind::kInput, fmt::format("'{}' begins the ids of several runs", name), candidates, "give more letters of the id");
}

}  // namespace

LedgerEntry Ledger::resolve(const std::string& name) {
  std::vector<LedgerEntry> found;
  if (const auto before = runs_before_last(name)) {
    found = select_entries(fmt::format("WHERE {} = '' {} LIMIT 1 OFFSET {}", part_column(), kNewestFirst, *before), {});
  } else if (name.starts_with(kTagPrefix)) {
    found = select_entries(fmt::format("WHERE number IN (SELECT run FROM tags WHERE tag = ?) {} LIMIT 1", kNewestFirst),
                           {name.substr(kTagPrefix.size())});
  } else if (!name.empty()) {
    found = select_entries("WHERE run_id = ?", {name});
    if (found.empty())
      found = select_entries(fmt::format("WHERE name = ? ORDER BY {} <> '', created_at DESC, number DESC LIMIT 1", part_column()), {name});
    if (found.empty())
      found =
          select_entries(fmt::format("WHERE run_id >= ? AND substr(run_id, 1, length(?)) = ? {} LIMIT {}", kNewestFirst, kCandidates + 1),
                         {name, name, name});
    if (found.size() > 1) throw_ambiguous(name, found);
  }
  if (found.empty())
    throw Error(ErrorKind::kInput, fmt::format("the ledger has no run '{}'", name), location(),
                "`nl-stage ls` lists the runs; give an id, the beginning of one, a name, tag:NAME or last");
  return std::move(found.front());
}

}  // namespace nl::runs
