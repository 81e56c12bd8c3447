#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "analysis/stats/reports.h"
#include "cli/verbs.h"
#include "exporters/stat_text.h"
#include "model/error.h"
#include "model/words.h"
#include "parsers/nsys/sqlite.h"

namespace nl::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kNoData = 3;

struct StatsOptions {
  std::vector<std::string> reports;
  std::string format = "csv";
  std::string prefix;
  std::string file;
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
  throw Error(ErrorKind::kInput, "stats reads the SQLite export of an nsys report, not the report itself", file,
              fmt::format("nsys export --type sqlite --output {} {}", exported, file));
}

parsers::NsysTables tables_for(const std::vector<std::string>& reports) {
  parsers::NsysTables tables{false, false, false, false, false};
  for (const std::string& report : reports) {
    bool projection = report == "nvtx_gpu_proj_sum", range_kernels = report == "nvtx_kern_sum";
    tables.kernels |= projection || range_kernels || report == "cuda_gpu_kern_sum";
    tables.api |= projection || range_kernels || report == "cuda_api_sum";
    tables.mem_ops |= projection || report == "cuda_gpu_mem_time_sum";
    tables.ranges |= projection || range_kernels || report == "nvtx_sum";
  }
  return tables;
}

std::string rendered(const StatTable& table, const std::string& format) {
  if (format == "json") return exporters::stat_json(table);
  if (format == "table") return exporters::stat_text(table);
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
  throw Error(ErrorKind::kOutput, "the report cannot be written", path.string(),
              "check that the folder exists, is writable and has space");
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw Error(ErrorKind::kOutput, "the report cannot be written to standard output", {},
                "check the free space of its target");
}

void put(const StatTable& table, const StatsOptions& options, bool first) {
  std::string text = rendered(table, options.format);
  if (!options.prefix.empty()) {
    const char* extension = options.format == "table" ? "txt" : options.format.c_str();
    fs::path path = fmt::format("{}_{}.{}", options.prefix, table.report, extension);
    write_file(path, text);
    fmt::print(stderr, "{}\n", path.string());
    return;
  }
  std::string title;
  if (options.reports.size() > 1) {
    title = first ? "" : "\n";
    if (options.format != "table") title += fmt::format("** {} ({}):\n\n", table.title, table.report);
  }
  print(title + text);
}

int stats(const StatsOptions& options) {
  check_reports(options.reports);
  check_file(options.file);
  Trace trace = parsers::read_nsys_sqlite(options.file, tables_for(options.reports));
  for (const auto& [damage, rows] : trace.stats.rows_damaged)
    fmt::print(stderr, "{}: {} rows: {}\n", options.file, rows, text_of(damage));
  bool any = false;
  for (const std::string& report : options.reports) {
    StatTable table = analysis::make_stats_report(trace, report);
    if (!table.missing.empty()) {
      fmt::print(stderr, "{}: {}\n", report, table.missing);
      continue;
    }
    put(table, options, !any);
    any = true;
  }
  return any ? 0 : kNoData;
}

}  // namespace

void add_stats(CLI::App& app, std::function<int()>& action) {
  auto options = std::make_shared<StatsOptions>();
  for (std::string_view report : analysis::stats_report_names()) options->reports.emplace_back(report);
  CLI::App* verb =
      app.add_subcommand("stats", "Print the summaries that `nsys stats` prints, from the SQLite export of a report");
  verb->add_option("file", options->file, "SQLite export of an nsys report")->type_name("FILE.sqlite")->required();
  verb->add_option("-r,--report", options->reports, "reports, separated by commas; default: all six")
      ->delimiter(',')
      ->type_name("REPORT,...");
  verb->add_option("-f,--format", options->format, "csv (byte for byte as nsys 2025.3), json or table")
      ->check(CLI::IsMember({"table", "csv", "json"}))
      ->capture_default_str();
  verb->add_option("-o,--output", options->prefix,
                   "write each report to PREFIX_<report>.csv (.json, .txt) instead of printing it")
      ->type_name("PREFIX");
  verb->footer(
      fmt::format("Reports: {}\n\n"
                  "Examples:\n"
                  "  nl-stage stats run.sqlite\n"
                  "  nl-stage stats --report cuda_gpu_kern_sum run.sqlite > kernels.csv\n"
                  "  nl-stage stats --report nvtx_sum,nvtx_kern_sum --format table run.sqlite\n"
                  "  nl-stage stats -o summary run.sqlite\n\n"
                  "The exit status is 3 if the capture has no data for any of the reports.",
                  fmt::join(analysis::stats_report_names(), ", ")));
  verb->callback([options, &action] { action = [options] { return stats(*options); }; });
}

}  // namespace nl::cli
