#include <iostream>
#include <iterator>
#include <string>

#include "cli/exit_status.h"
#include "cli/output.h"
#include "cli/print_result.h"
#include "cli/value_checks.h"
#include "cli/verbs.h"
#include "model/error.h"
#include "orchestrator/process/interrupts.h"
#include "query/query.h"

namespace nl::cli {
namespace {

struct QueryFlags {
  query::Subject subject;
  std::string sql, format;
  std::uint64_t limit = query::Limits{}.rows;
  double timeout_s = query::Limits{}.seconds;
  bool schema = false, json = false;
};

constexpr const char* kExample = "nl-stage query last 'SELECT kind, count(*) FROM slices GROUP BY kind'";

// Of a file it may be a whole statement, not more: no SQL is as long.
std::string sql_from_stdin() {
  constexpr std::size_t kMostBytes = 4 << 20;
  std::string sql(kMostBytes, '\0');
  std::cin.read(sql.data(), static_cast<std::streamsize>(sql.size()));
  sql.resize(static_cast<std::size_t>(std::cin.gcount()));
  return sql;
}

int print_tables(const QueryFlags& flags) {
  if (flags.json) write_data(query::schema_json());
  else write_text(query::schema_text(line_width()));
  return 0;
}

void check(const QueryFlags& flags) {
  if (flags.subject.run.empty()) throw Error(ErrorKind::kUsage, "the run to ask is missing", "query", kExample);
  if (flags.sql.empty())
    throw Error(ErrorKind::kUsage, "the SQL is missing", "query", std::string(kExample) + "; query --schema lists tables and columns");
}

void print_answer(const query::Answer& answer, const QueryFlags& flags) {
  const std::string format = flags.json ? "json" : !flags.format.empty() ? flags.format : is_terminal(stdout) ? "table" : "csv";
  if (format == "json") return write_data(query::answer_json(answer));
  if (format == "csv") write_data(query::answer_csv(answer));
  else write_text(query::answer_text(answer, line_width()));
  finish_output();  // remarks come after the rows
  write_text(query::answer_remarks(answer), stderr);
}

int ask(const QueryFlags& flags) {
  if (flags.schema) return print_tables(flags);
  check(flags);
  const orchestrator::Interrupts interrupts;
  query::Limits limits;
  limits.rows = flags.limit;
  limits.seconds = flags.timeout_s;
  limits.stopped = [] { return orchestrator::Interrupts::signal() != 0; };
  try {
    print_answer(query::ask(flags.subject, flags.sql == "-" ? sql_from_stdin() : flags.sql, limits), flags);
  } catch (const Error& error) {
    if (error.kind != ErrorKind::kInterrupted) throw;
    print_failure(error, flags.json);
    return exit_status_of(error.kind, orchestrator::Interrupts::signal());
  }
  return 0;
}

}  // namespace

void add_query(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<QueryFlags>();
  CLI::App* verb = app.add_subcommand("query", "Ask a run in SQL: slices, windows, gaps, kernels, stacks, findings and more");
  verb->add_option("run", flags->subject.run, "a bundle, a run.json, a capture that import reads, or a name of the ledger")
      ->type_name("RUN");
  verb->add_option("sql", flags->sql, "one SELECT of SQLite; -: it is read from stdin")->type_name("SQL");
  verb->add_flag("--schema", flags->schema, "print the tables and columns with their units, and ask nothing");
  CLI::Option* format =
      verb->add_option("-f,--format", flags->format, "table, csv (RFC 4180) or json; default: table on a terminal, else csv")
          ->check(CLI::IsMember({"table", "csv", "json"}));
  verb->add_option("--limit", flags->limit, "print at most so many rows; 0: all")
      ->capture_default_str()
      ->type_name("ROWS")
      ->check(not_negative());
  verb->add_option("--timeout", flags->timeout_s, "end a query that takes longer, once the run is read")
      ->capture_default_str()
      ->type_name("SECONDS")
      ->check(above_zero<double>());
  verb->add_option("--ledger", flags->subject.ledger, "where names are looked up; default: $NL_STAGE_LEDGER, or the user's own")
      ->type_name("PATH|URL");
  verb->add_option("--set", flags->subject.sets, "set one key of the configuration, such as the warm-up rule; repeatable")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  verb->add_flag("--json", flags->json,
                 "print {columns: [{name, unit}], rows, row_count, truncated, read_ms, query_ms, notes}; with --schema {tables}")
      ->excludes(format);
  verb->footer(
      "Only what the SQL touches is read: findings and figures of a bundle come from run.json, kernels from the table of kernels.\n"
      "It reads and writes nothing else; a query that is not one SELECT, needs 512 MiB or answers with 256 MiB is refused (status 2),\n"
      "one that takes too long ends with status 7. Beside the functions of SQLite there are median(x) and percentile(x, p).\n"
      "docs/query.md has ten worked examples.\n"
      "Examples:\n"
      "  nl-stage query --schema\n"
      "  nl-stage query last \"SELECT short_name, count(*) AS calls, sum(duration_ns) AS total_ns FROM slices WHERE kind = 'kernel'\n"
      "                       GROUP BY short_name ORDER BY total_ns DESC LIMIT 10\"\n"
      "  nl-stage query run.sqlite 'SELECT bin, sum(duration_ns) / 1e6 AS idle_ms FROM gaps GROUP BY bin' --json\n"
      "  nl-stage query artifacts/runs/20250101-120000-llama-deep 'SELECT severity, message, action FROM findings'");
  verb->callback([flags, &action] { action = [flags] { return ask(*flags); }; });
}

}  // namespace nl::cli
