#include <fmt/format.h>

#include <chrono>

#include "query/connection.h"
#include "query/query.h"

namespace nl::query {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) { return std::chrono::duration<double, std::milli>(Clock::now() - begin).count(); }

}  // namespace

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
