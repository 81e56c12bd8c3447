#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "analysis/nsys_stats/reports.h"
#include "cli/output.h"
#include "cli/print_result.h"
#include "cli/verbs.h"
#include "exporters/report/text/figure_text.h"
#include "exporters/tables.h"
#include "model/error_code.h"
#include "model/words.h"
#include "orchestrator/process/activity.h"
#include "orchestrator/stat_tables.h"

namespace nl::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kNoData = 3;

struct StatsOptions {
  std::vector<std::string> reports;
  std::string format;  // empty: a table on a terminal, else CSV
  std::string prefix;
  std::string file;
  bool json = false;
};

void check_reports(const std::vector<std::string>& reports) {
  for (const std::string& report : reports) {
    const auto& known = analysis::stats_report_names();
    if (std::find(known.begin(), known.end(), report) == known.end())
      throw Error(ErrorKind::kUsage, fmt::format("unknown report '{}'", report), "--report",
                  fmt::format("the reports are {}", fmt::join(known, ", ")));
  }
}

void check_file(const std::string& file) {
  if (!file.ends_with(".nsys-rep") && !file.ends_with(".qdrep")) return;
  std::string exported = fs::path(file).replace_extension(".sqlite").string();
  throw CodedError(ErrorCode::kUnknownFormat, "stats reads the SQLite export of an nsys report, not the report itself", file,
                   fmt::format("nsys export --type sqlite --output {} {}", exported, file));
}

std::string rendered(const StatTable& table, const StatsOptions& options) {
  if (options.format == "json") return exporters::stat_json(table);
  if (options.format == "table") return exporters::stat_text(table, options.prefix.empty() ? line_width() : 0);
  return exporters::stat_csv(table);
}

// Whole or not at all: another name first, then the right one.
void write_file(const fs::path& path, const std::string& text) {
  fs::path unfinished = path;
  unfinished += fmt::format(".{}.tmp", ::getpid());
  std::ofstream out(unfinished, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  std::error_code failed;
  if (out) fs::rename(unfinished, path, failed);
  if (out && !failed) return;
  std::error_code ignored;
  fs::remove(unfinished, ignored);
  throw Error(ErrorKind::kOutput, "the report cannot be written", path.string(), "check that the folder exists, is writable and has space");
}

void put(const StatTable& table, const StatsOptions& options, bool first) {
  std::string text = rendered(table, options);
  if (!options.prefix.empty()) {
    const char* extension = options.format == "table" ? "txt" : options.format.c_str();
    fs::path path = fmt::format("{}_{}.{}", options.prefix, table.report, extension);
    write_file(path, text);
    write_err("{}\n", path.string());
    return;
  }
  std::string title;
  if (options.reports.size() > 1) {
    title = first ? "" : "\n";
    if (options.format != "table") title += fmt::format("** {} ({}):\n\n", table.title, table.report);
  }
  write_answer(options.format != "table", title + text);
}

// The tables that the capture has data for; the others are named on stderr.
std::vector<StatTable> tables_of(const StatsOptions& options) {
  const fs::path capture = options.file.ends_with('/') ? fs::path(options.file).parent_path() : fs::path(options.file);
  const orchestrator::Activity reading("reading " + capture.filename().string());
  orchestrator::StatTables read = orchestrator::read_stat_tables(capture, options.reports);
  for (const auto& [damage, rows] : read.damaged) write_err("{}: {}: {}\n", options.file, exporters::plural(rows, "row"), text_of(damage));
  std::vector<StatTable> tables;
  for (StatTable& table : read.tables) {
    if (table.missing.empty()) tables.push_back(std::move(table));
    else write_err("{}: {}\n", table.report, table.missing);
  }
  return tables;
}

// {"nvtx_sum": [rows], …}
void put_object(const std::vector<StatTable>& tables) {
  std::string text;
  for (const StatTable& table : tables)
    text += fmt::format("{}\"{}\": {}", text.empty() ? "" : ",\n", table.report, exporters::stat_json(table));
  write_data("{" + text + "}\n");
}

int stats(StatsOptions options) {
  check_reports(options.reports);
  check_file(options.file);
  if (options.format.empty()) options.format = options.prefix.empty() && is_terminal(stdout) ? "table" : "csv";
  const std::vector<StatTable> tables = tables_of(options);
  const bool one_object = options.json || (options.format == "json" && options.reports.size() > 1 && options.prefix.empty());
  if (one_object) put_object(tables);
  else
    for (std::size_t i = 0; i < tables.size(); ++i) put(tables[i], options, i == 0);
  return tables.empty() ? kNoData : 0;
}

// A program that asked for JSON reads an error as JSON, too; --json itself is looked at in main().
int stats_or_fault(const StatsOptions& options) {
  if (options.format != "json") return stats(options);
  try {
    return stats(options);
  } catch (const Error& error) {
    return print_failure(error, true);
  }
}

}  // namespace

void add_stats(CLI::App& app, std::function<int()>& action) {
  auto options = std::make_shared<StatsOptions>();
  for (std::string_view report : analysis::stats_report_names()) options->reports.emplace_back(report);
  CLI::App* verb = app.add_subcommand("stats", "Print the summaries that `nsys stats` prints, from the export of a report");
  verb->add_option("file", options->file, "export of an nsys report: SQLite, or a folder (parquetdir, arrowdir)")
      ->type_name("FILE.sqlite")
      ->required();
  verb->add_option("-r,--report", options->reports, "reports, separated by commas; default: all six")
      ->delimiter(',')
      ->type_name("REPORT,...");
  CLI::Option* format = verb->add_option("-f,--format", options->format,
                                         "csv (byte for byte as nsys 2025.3), json or table; default: table on a terminal, else csv")
                            ->check(CLI::IsMember({"table", "csv", "json"}));
  CLI::Option* prefix =
      verb->add_option("-o,--output", options->prefix, "write each report to PREFIX_<report>.csv (.json, .txt) instead of printing it")
          ->type_name("PREFIX");
  verb->add_flag("--json", options->json, "print one object, {REPORT: [rows], …}; several reports with --format json likewise")
      ->excludes(format)
      ->excludes(prefix);
  verb->footer(
      fmt::format("Reports: {}\n\n"
                  "Examples:\n"
                  "  nl-stage stats run.sqlite\n"
                  "  nl-stage stats --report cuda_gpu_kern_sum run.sqlite > kernels.csv\n"
                  "  nl-stage stats --report nvtx_sum,nvtx_kern_sum --format table run.sqlite\n"
                  "  nl-stage stats -o summary run.sqlite\n"
                  "  nl-stage stats run_pqtdir\n\n"
                  "The exit status is 3 if the capture has no data for any of the reports.",
                  fmt::join(analysis::stats_report_names(), ", ")));
  verb->callback([options, &action] { action = [options] { return stats_or_fault(*options); }; });
}

}  // namespace nl::cli
