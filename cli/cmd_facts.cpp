#include <map>

#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "cli/ledger_flags.h"
#include "cli/print_result.h"
#include "cli/verbs.h"
#include "exporters/report/text/figure_text.h"
#include "model/error.h"
#include "model/visible_text.h"
#include "orchestrator/process/interrupts.h"
#include "runs/facts/facts.h"

namespace nl::cli {
namespace {

namespace fact_tables = exporters::fact_tables;

struct FactsFlags {
  std::vector<std::string> runs, sets;
  fact_tables::Format format = fact_tables::Format::kParquet;
  std::string out, ledger, model;
  bool replace = false, schema = false, json = false;
};

std::map<std::string, fact_tables::Format> formats() {
  std::map<std::string, fact_tables::Format> by_key;
  for (const fact_tables::Format format :
       {fact_tables::Format::kParquet, fact_tables::Format::kArrow, fact_tables::Format::kCsv, fact_tables::Format::kSqlite})
    by_key.emplace(key_of(format), format);
  return by_key;
}

int print_tables(const FactsFlags& flags) {
  write_answer(flags.json, flags.json ? fact_tables::listing_json() : fact_tables::tables_text(line_width()));
  return 0;
}

// That of the first run that was skipped.
int status_of(const runs::Facts& facts) { return facts.skipped.empty() ? 0 : exit_status_of(facts.skipped.front().error.kind); }

nlohmann::ordered_json facts_json(const runs::Facts& facts, fact_tables::Format format) {
  auto tables = nlohmann::ordered_json::array(), skipped = nlohmann::ordered_json::array();
  for (const runs::FactsTable& written : facts.tables) {
    tables.push_back(table_json(*written.table));
    tables.back().update({{"file", written.file.string()}, {"rows", written.rows}});
  }
  for (const runs::SkippedRun& each : facts.skipped) skipped.push_back({{"run", each.run}, {"error", error_json(each.error)}});
  return {{"facts_version", fact_tables::kFactsVersion},
          {"format", key_of(format)},
          {"folder", facts.folder.string()},
          {"runs", facts.runs},
          {"tables", tables},
          {"skipped", skipped},
          {"repeated", facts.repeated},
          {"exit_status", status_of(facts)}};
}

void print_text(const runs::Facts& facts) {
  for (const runs::FactsTable& written : facts.tables) {
    write_path(written.file);
    write_out(": {}, {}\n", written.table->name, exporters::plural(written.rows, "row"));
  }
  finish_output();
  for (const std::string& run : facts.repeated) write_err("{}: named before, its rows are written once\n", run);
  for (const runs::SkippedRun& each : facts.skipped) print_error(each.error);
  if (!facts.skipped.empty())
    write_err("{} of {} skipped: {}\n", facts.skipped.size(), exporters::plural(facts.runs + facts.skipped.size(), "run"),
              facts.tables.empty() ? "nothing was written" : "the tables have the others");
}

int write_tables(const FactsFlags& flags) {
  if (flags.schema) return print_tables(flags);
  if (flags.runs.empty())
    throw Error(ErrorKind::kUsage, "RUN is missing", "nl-stage facts", "nl-stage facts last; facts --schema lists tables and columns");
  const orchestrator::Interrupts interrupts;
  orchestrator::ProcessLauncher launcher;
  const orchestrator::Config config = orchestrator::load_config({.model_file = flags.model, .sets = flags.sets});
  try {
    const runs::Facts facts = runs::write_facts({flags.runs, flags.format, flags.out, flags.replace, config, flags.ledger}, launcher);
    if (flags.json) write_json(facts_json(facts, flags.format));
    else print_text(facts);
    return status_of(facts);
  } catch (const Error& error) {
    if (error.kind != ErrorKind::kInterrupted) throw;
    print_failure(error, flags.json);
    return exit_status_of(error.kind, orchestrator::Interrupts::signal());
  }
}

}  // namespace

void add_facts(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<FactsFlags>();
  CLI::App* verb =
      app.add_subcommand("facts", "Write runs as tables for DuckDB, Spark and ClickHouse: runs, stages, kernels, collectives, ranks");
  verb->add_option("runs", flags->runs, std::string("runs; each is ") + kRunOrCaptureHelp)->type_name("RUN");
  verb->add_option("-f,--format", flags->format, "parquet, arrow (IPC file) or csv (RFC 4180): a file for every table; sqlite: one file")
      ->transform(CLI::CheckedTransformer(formats()).description("{parquet,arrow,csv,sqlite}"))
      ->default_str("parquet")
      ->type_name("FORMAT");
  verb->add_option("-o,--out", flags->out, "the folder of the files; default: a new one in artifacts/facts")->type_name("DIR");
  verb->add_flag("--replace", flags->replace, "replace tables that are in the folder already");
  verb->add_flag("--schema", flags->schema, "print the tables and columns with their units, and write nothing");
  add_ledger_flag(*verb, flags->ledger);
  verb->add_option("--model", flags->model, "of raw captures: as for import")->type_name("MODEL");
  verb->add_option("--set", flags->sets, "of raw captures: set one key; repeatable")->allow_extra_args(false)->type_name("KEY=VALUE");
  verb->add_flag(
      "--json", flags->json,
      "print {facts_version, format, folder, runs, tables: [{name, help, columns, file, rows}], skipped: [{run, error}], repeated, "
      "exit_status}; with --schema {facts_version, tables}");
  verb->footer(
      "One row for every run, stage, kernel, collective and rank; docs/facts.md has the columns. What was not captured is null, never "
      "zero. "
      "Each\n"
      "file appears whole or not at all. A run that cannot be read is named and skipped where there are several; the tables have the\n"
      "others, and the exit status is that of the first skipped run: 3 where it is missing or damaged. It is 8 where a file cannot be\n"
      "written or is there already; then nothing is written.\n"
      "Examples:\n"
      "  nl-stage facts last --out facts\n"
      "  nl-stage facts artifacts/runs/* --out facts --replace\n"
      "  nl-stage facts tag:nightly bundle run.sqlite --format sqlite --out facts\n"
      "  nl-stage facts --schema\n"
      "  duckdb -c \"SELECT model, gpu, median(tpot_ms) FROM 'facts/runs.parquet' GROUP BY ALL\"");
  verb->callback([flags, &action] { action = [flags] { return write_tables(*flags); }; });
}

}  // namespace nl::cli
