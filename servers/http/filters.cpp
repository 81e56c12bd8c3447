#include "servers/http/filters.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>

#include "model/error.h"

namespace nl::servers::http {
namespace {

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end == text.data() + text.size();
}

}  // namespace

const std::vector<Parameter>& filter_parameters() {
  static const std::vector<Parameter> all = {
      {"q", "words, or beginnings of words, of names, model, GPU, command, kernels, findings, tags or notes; all must be there"},
      {"name", "runs of this name"},
      {"model", "whose model's name has this in it"},
      {"gpu", "whose GPU's name has this in it"},
      {"precision", "whose precision has this in it"},
      {"backend", "whose backend has this in it"},
      {"commit", "whose git revision begins so"},
      {"workload", "of this workload: its key, or its beginning"},
      {"mode", "deep, light, import …"},
      {"status", "complete, partial, interrupted or failed"},
      {"tag", "with this tag; repeated: with all of them", false, true},
      {"since", "made at this time or later: 2026-11-16, 2026-11-16T12:00:00Z, 24h, 7d"},
      {"until", "made at this time or earlier; a date is all of that day"},
      {"all", "1: also the rounds of try and bisect, and the timing runs of suites"}};
  return all;
}

runs::LedgerFilter filter_of(const Fields& query) {
  runs::LedgerFilter filter;
  for (const auto& [name, member] : {std::pair{"q", &runs::LedgerFilter::words},
                                     {"name", &runs::LedgerFilter::name},
                                     {"model", &runs::LedgerFilter::model},
                                     {"gpu", &runs::LedgerFilter::gpu},
                                     {"precision", &runs::LedgerFilter::precision},
                                     {"backend", &runs::LedgerFilter::backend},
                                     {"commit", &runs::LedgerFilter::revision},
                                     {"workload", &runs::LedgerFilter::workload},
                                     {"mode", &runs::LedgerFilter::mode},
                                     {"status", &runs::LedgerFilter::status}})
    filter.*member = query.first(name);
  const auto now = std::chrono::system_clock::now();
  filter.since = runs::moment_text(query.first("since"), "since", now);
  filter.until = runs::moment_text(query.first("until"), "until", now);
  for (std::string& tag : query.all("tag"))
    if (!tag.empty()) filter.tags.push_back(std::move(tag));
  filter.parts = query.first("all") == "1";
  if (const std::string after = query.first("after"); !after.empty()) filter.after = key_of_text(after);
  return filter;
}

std::string key_text(const runs::LedgerEntry& entry) { return fmt::format("{}~{}", entry.created_at, entry.number); }

runs::LedgerKey key_of_text(const std::string& text) {
  const std::size_t split = text.rfind('~');
  runs::LedgerKey key;
  if (split == std::string::npos || !read_number(std::string_view(text).substr(split + 1), key.number))
    throw Error(ErrorKind::kUsage, fmt::format("'{}' is no page", text), "after", "take `next` of the page before");
  key.created_at = text.substr(0, split);
  return key;
}

std::size_t number_in(const Fields& query, const std::string& name, std::size_t otherwise, std::size_t most) {
  const std::string given = query.first(name);
  std::size_t number = otherwise;
  if (!given.empty() && (!read_number(std::string_view(given), number) || number == 0 || number > most))
    throw Error(ErrorKind::kUsage, fmt::format("{} is a number from 1 to {}", name, most), given, "");
  return number;
}

}  // namespace nl::servers::http
