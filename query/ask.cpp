#include <fmt/format.h>

#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include "query/connection.h"
#include "query/query.h"

namespace nl::query {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) { return std::chrono::duration<double, std::milli>(Clock::now() - begin).count(); }

}  // namespace

// "total_ns", "sum(duration_ns)", "max(s.end_ns)": what counts and divides has no unit.
std::string_view unit_of_name(std::string_view name) {
  for (const std::string_view function : {"sum(", "min(", "max(", "avg(", "total(", "median("})
    if (name.starts_with(function) && name.ends_with(")"))
      return unit_of_name(name.substr(function.size(), name.size() - function.size() - 1));
  if (name.find_first_of(" ()+-*/|") != std::string_view::npos) return {};
  constexpr auto kEndings = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"_ns", "ns"}, {"_us", "µs"}, {"_ms", "ms"}, {"_s", "s"}, {"_bytes", "bytes"}, {"_share", "of 1"}, {"_pct", "%"}});
  for (const auto& [ending, unit] : kEndings)
    if (name.ends_with(ending)) return unit;
  return name == "bytes" ? name : name == "confidence" ? "of 1" : std::string_view();
}

Answer ask(const Subject& subject, const std::string& sql, const Limits& limits) {
  Connection connection(limits);
  connection.prepare(sql);
  const Needs needs = connection.explains() ? 0 : connection.session().needs();
  Answer answer;
  const auto begin = Clock::now();
  with_sources(subject, needs, [&](const Sources& sources) {
    answer.read_ms = ms_since(begin);
    connection.session().open(sources);
    const auto asked = Clock::now();
    connection.run(answer);
    answer.query_ms = ms_since(asked);
    if (connection.explains()) return;
    for (const Table* table : connection.session().touched())
      if (answer.rows.empty() && !table->when_empty.empty() && connection.session().rows_of(*table).size() == 0)
        answer.notes.push_back(fmt::format("{} has no rows: {}", table->name, table->when_empty));
  });
  return answer;
}

}  // namespace nl::query
