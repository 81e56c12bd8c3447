#include "parsers/ncu/csv.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <tuple>
#include <utility>

#include "model/error_code.h"
#include "parsers/ncu/cells.h"
#include "parsers/registry.h"

namespace nl::parsers {
namespace {

constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);
constexpr std::size_t kMaxMessages = 1000;  // one ==PROF== line per launch adds up
constexpr std::string_view kDuration = "gpu__time_duration.";

// Where things stand in one table of the file.
struct Columns {
  std::size_t id = kAbsent, pid = kAbsent, kernel = kAbsent, context = kAbsent, stream = kAbsent, block = kAbsent, grid = kAbsent,
              device = kAbsent, push_pop = kAbsent, start_end = kAbsent, first_metric = kAbsent;
  std::size_t section = kAbsent, metric = kAbsent, unit = kAbsent, value = kAbsent;  // details only
  std::size_t count = 0;
  bool details = false;
  CsvFields names;
};

Columns find_columns(const CsvFields& header) {
  Columns columns;
  const auto at = [&](std::string_view name) {
    const auto found = std::find(header.begin(), header.end(), name);
    return found == header.end() ? kAbsent : static_cast<std::size_t>(found - header.begin());
  };
  const auto containing = [&](std::string_view part) {
    const auto found =
        std::find_if(header.begin(), header.end(), [&](const std::string& name) { return name.find(part) != std::string::npos; });
    return found == header.end() ? kAbsent : static_cast<std::size_t>(found - header.begin());
  };
  columns.id = at("ID");
  columns.pid = at("Process ID");
  columns.kernel = at("Kernel Name");
  columns.context = at("Context");
  columns.stream = at("Stream");
  columns.block = at("Block Size");
  columns.grid = at("Grid Size");
  columns.device = at("Device");
  columns.push_pop = containing("Push/Pop_Range");
  columns.start_end = containing("Start/Stop_Range");
  columns.section = at("Section Name");
  columns.metric = at("Metric Name");
  columns.unit = at("Metric Unit");
  columns.value = at("Metric Value");
  columns.details = columns.metric != kAbsent && columns.value != kAbsent;
  columns.count = header.size();
  columns.names = header;
  columns.first_metric = 0;
  for (const std::size_t column : {columns.kernel, columns.context, columns.stream, columns.block, columns.grid, columns.device,
                                   columns.push_pop, columns.start_end, at("CC")})
    if (column != kAbsent) columns.first_metric = std::max(columns.first_metric, column + 1);
  return columns;
}

// A value as it stands in the file, until the whole file has said how it writes numbers.
struct PendingValue {
  std::size_t launch = 0;
  StringId metric, unit;
  std::string text;
};

template <class Number>
bool read_integer(std::string_view text, Number& out) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && rest == text.data() + text.size();
}

// "(128, 1, 1)"
bool read_dim(std::string_view text, Dim3& out) {
  std::uint32_t* const parts[] = {&out.x, &out.y, &out.z};
  std::size_t at = 0;
  for (std::uint32_t* part : parts) {
    at = text.find_first_of("0123456789", at);
    if (at == std::string_view::npos) return false;
    const auto [rest, error] = std::from_chars(text.data() + at, text.data() + text.size(), *part);
    if (error != std::errc{}) return false;
    at = static_cast<std::size_t>(rest - text.data());
  }
  return true;
}

// "ID","Process ID","Process Name","Host Name": as no other table begins, also where the file ends in the middle of it.
bool begins_ncu_header(std::string_view text) { return text.find("\"ID\",\"Process ID\",\"Process Name\"") != std::string_view::npos; }

class Reader {
 public:
  explicit Reader(NcuReport& report) : report_(report) {}

  void header(const CsvFields& fields) {
    columns_ = find_columns(fields);
    if (columns_.kernel == kAbsent || columns_.grid == kAbsent || columns_.block == kAbsent) {
      damaged({Code::kTableUnusable});
      usable_ = false;
      return;
    }
    usable_ = true;
    units_.clear();
    launch_of_.clear();
    const char* page = columns_.details ? "details" : "raw";
    report_.page = report_.page.empty() || report_.page == page ? page : "mixed";
  }

  void record(const CsvFields& fields) {
    if (!usable_) return damaged({Code::kRowOfUnusableTable});
    columns_.details ? details_row(fields) : raw_row(fields);
  }

  void damaged(const Remark& damage) { ++report_.rows_damaged[damage]; }
  bool any_table() const { return usable_ || !report_.launches.empty(); }

  // All cells are known: decide how numbers are written, and read them.
  void finish() {
    for (const auto& value : pending_) format_.observe(value.text, is_kernel_ns(value));
    for (const auto& value : pending_) store(value);
  }

 private:
  bool is_kernel_ns(const PendingValue& value) const {
    const std::string& unit = names_[value.unit];
    return names_[value.metric].compare(0, kDuration.size(), kDuration) == 0 && (unit == "ns" || unit == "nsecond");
  }
  void keep(std::size_t launch, std::string_view metric, std::string_view unit, std::string text) {
    pending_.push_back({launch, names_.intern(metric), names_.intern(unit), std::move(text)});
  }

  // "ID","Process ID",…,"Kernel Name",…,"CC","dram__bytes_read.sum","gpu__time_duration.sum"
  // "","",…,"",…,"","byte","ns"
  // "0","1838",…,"void scale<float>(T1 *, int)",…,"9.0","1,024","3,104"
  void raw_row(const CsvFields& fields) {
    if (fields.size() != columns_.count) return damaged({Code::kRowLength});
    if (fields[columns_.id].empty()) {
      units_ = fields;
      return;
    }
    NcuLaunch launch;
    if (!read_launch(fields, launch)) return damaged({Code::kRowWithoutLaunch});
    report_.launches.push_back(std::move(launch));
    // Without the units row no number has a meaning; the launch itself still proves that it was profiled.
    if (units_.empty()) return damaged({Code::kRowBeforeUnits});
    for (std::size_t i = columns_.first_metric; i < fields.size(); ++i)
      keep(report_.launches.size() - 1, columns_.names[i], units_[i], fields[i]);
  }

  // …,"9.0","GPU Speed Of Light Throughput","Duration","us","3.23",
  // …,"9.0","SpeedOfLight","","","","SOLBottleneck","OPT","This kernel grid is …","",""   (a rule: no metric)
  void details_row(const CsvFields& fields) {
    if (fields.size() <= columns_.value) return damaged({Code::kRowWithoutValue});
    NcuLaunch launch;
    if (!read_launch(fields, launch)) return damaged({Code::kRowWithoutLaunch});
    const auto [found, added] = launch_of_.try_emplace(std::pair(launch.pid, launch.id), report_.launches.size());
    if (added) report_.launches.push_back(std::move(launch));
    // A row that is cut may still have its value, where the columns are in another order.
    const auto cell = [&](std::size_t column) { return column < fields.size() ? fields[column] : std::string(); };
    const std::string metric = cell(columns_.metric), unit = cell(columns_.unit), section = cell(columns_.section);
    if (metric.empty()) return;
    const bool rate = unit.find("/s") != std::string::npos || unit.find("/n") != std::string::npos;
    keep(found->second, raw_metric_name(section, metric, rate), unit, fields[columns_.value]);
  }

  bool read_launch(const CsvFields& fields, NcuLaunch& launch) const {
    if (fields.size() <= std::max({columns_.kernel, columns_.grid, columns_.block})) return false;
    if (!read_integer(fields[columns_.id], launch.id)) return false;
    if (!read_dim(fields[columns_.grid], launch.grid) || !read_dim(fields[columns_.block], launch.block)) return false;
    launch.kernel_name = fields[columns_.kernel];
    optional_integer(fields, columns_.pid, launch.pid);
    optional_integer(fields, columns_.context, launch.context);
    optional_integer(fields, columns_.stream, launch.stream);
    optional_integer(fields, columns_.device, launch.device);
    if (columns_.push_pop < fields.size()) read_ncu_ranges(fields[columns_.push_pop], RangeStyle::kPushPop, launch.ranges);
    if (columns_.start_end < fields.size()) read_ncu_ranges(fields[columns_.start_end], RangeStyle::kStartEnd, launch.ranges);
    return true;
  }

  template <class Number>
  static void optional_integer(const CsvFields& fields, std::size_t column, Number& out) {
    if (column < fields.size()) read_integer(fields[column], out);
  }

  void store(const PendingValue& value) {
    NcuLaunch& launch = report_.launches[value.launch];
    const std::string& metric = names_[value.metric];
    const auto read = format_.read(value.text);
    switch (read.kind) {
      case NumberFormat::Kind::kNoData: return;
      case NumberFormat::Kind::kText: launch.text_metrics.emplace(metric, value.text); return;
      case NumberFormat::Kind::kUndecidable: return damaged({Code::kAmbiguousNumber});
      case NumberFormat::Kind::kNotFinite: return damaged({Code::kNotFinite, {metric}});
      case NumberFormat::Kind::kNumber: break;
    }
    const auto factor = to_base_unit(names_[value.unit]);
    if (!factor) return damaged({Code::kUnknownUnit, {names_[value.unit]}});
    const double number = read.number * *factor;
    if (!std::isfinite(number)) return damaged({Code::kNotFinite, {metric}});
    launch.metrics.emplace(metric, number);
  }

  NcuReport& report_;
  Columns columns_;
  bool usable_ = false;
  CsvFields units_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> launch_of_;  // (pid, id) → launch, of one table
  StringPool names_;
  std::vector<PendingValue> pending_;
  NumberFormat format_;
};

}  // namespace

NcuReport parse_ncu_csv(std::string_view text, const std::string& where) {
  NcuReport report;
  Reader reader(report);
  NcuCsvSink sink;
  sink.header = [&](const CsvFields& fields) { reader.header(fields); };
  sink.record = [&](const CsvFields& fields) { reader.record(fields); };
  sink.message = [&](std::string_view line) {
    if (report.tool_messages.size() < kMaxMessages) report.tool_messages.emplace_back(line);
  };
  sink.damaged = [&](Code code) { reader.damaged({code}); };
  split_ncu_csv(text, sink);
  // ncu writes a header only where it profiled something: without a launch the file ends before its first row.
  const bool cut = report.launches.empty() && begins_ncu_header(text) && report.rows_damaged.count({Code::kRowOfUnusableTable}) == 0;
  if (cut) reader.damaged({Code::kHeaderCut});
  if (!cut && !reader.any_table() && report.tool_messages.empty())
    throw CodedError(ErrorCode::kUnknownFormat, "no table of ncu --csv in the file", where,
                     "export it with: ncu --import REPORT.ncu-rep --csv --page raw --print-units base");
  reader.finish();
  return report;
}

NcuReport read_ncu_csv(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw CodedError(ErrorCode::kNoSuchFile, fmt::format("cannot open the ncu CSV: {}", std::strerror(errno)), file.string());
  std::string text;
  try {
    text.assign(std::istreambuf_iterator<char>(stream), {});
  } catch (const std::ios_base::failure& failure) {  // a folder, a medium that fails
    throw Error(ErrorKind::kInput, fmt::format("cannot read the ncu CSV: {}", failure.what()), file.string());
  }
  return parse_ncu_csv(text, file.string());
}

namespace {

// The header of ncu's table, behind whatever ncu and the program printed before it; or, where ncu profiled no kernel, its
// ==PROF== lines alone.
bool is_ncu_csv(const FileHead& head) {
  bool table = false;
  NcuCsvSink sink;
  sink.header = [&](const CsvFields& fields) { table = table || std::find(fields.begin(), fields.end(), "Kernel Name") != fields.end(); };
  sink.record = [](const CsvFields&) {};
  sink.damaged = [](Code) {};
  split_ncu_csv(head.bytes, sink);
  return table || head.starts_with("==PROF==") || begins_ncu_header(head.bytes);
}

}  // namespace

extern const Format kNcuFormat = {.name = "ncu",
                                  .help = "CSV of ncu (raw or details page), or a .ncu-rep (needs ncu)",
                                  .known_as = "an ncu CSV or .ncu-rep",
                                  .gives = Gives::kNcuLaunches,
                                  .is_own = is_ncu_csv,
                                  .read = [](const Files& files) -> Reading { return read_ncu_csv(files[0]); },
                                  .report_extensions = " .ncu-rep "};

}  // namespace nl::parsers
