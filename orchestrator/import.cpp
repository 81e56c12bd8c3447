#include "orchestrator/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "model/error_code.h"
#include "model/shell.h"
#include "orchestrator/bundle/files.h"
#include "orchestrator/bundle/sha256.h"
#include "orchestrator/capture/marks.h"
#include "orchestrator/collectives.h"
#include "orchestrator/config/config.h"
#include "orchestrator/config/knowledge.h"
#include "orchestrator/process/interrupts.h"
#include "orchestrator/session/session.h"
#include "parsers/collector/runs.h"
#include "parsers/collector/trace.h"
#include "parsers/input_files.h"
#include "parsers/kineto/graph_captures.h"
#include "parsers/stacks/stacks.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

using parsers::Gives;

std::uintmax_t bytes_of(const fs::path& capture) {
  if (!fs::is_directory(capture)) return fs::file_size(capture);
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(capture))
    if (entry.is_regular_file()) bytes += entry.file_size();
  return bytes;
}

// What stands in two of the files would count twice. Only files of one size are read for it; of empty ones there may be
// several, from processes that were killed.
void refuse_twins(const std::vector<fs::path>& files, const std::string& format) {
  std::map<std::uintmax_t, std::vector<fs::path>> by_size;
  for (const auto& file : files) by_size[bytes_of(file)].push_back(file);
  for (const auto& [size, alike] : by_size) {
    if (size == 0 || alike.size() < 2) continue;
    std::map<std::string, fs::path> by_digest;
    for (const auto& file : alike) {
      const std::string digest = sha256_capture(file);
      if (digest.empty()) continue;  // this machine has no libcrypto: unknown
      if (const auto [first, is_new] = by_digest.emplace(digest, file); !is_new)
        throw Error(ErrorKind::kUsage, fmt::format("--{} is given the same file twice, and its figures would count twice", format),
                    fmt::format("{} and {}", first->second.string(), file.string()), "name each file once");
    }
  }
}

constexpr std::size_t kMostListed = 8;  // files of a command that is suggested

std::string import_command(const parsers::CollectorRun& run) {
  std::string command = "nl-stage import";
  for (std::size_t i = 0; i < std::min(run.files.size(), kMostListed); ++i) command += " " + shell_quoted(run.files[i].string());
  return command + (run.files.size() > kMostListed ? " …" : "");
}

// "python3 of 2026-11-15T01:02:03Z (2 files)"
std::string run_text(const parsers::CollectorRun& run) {
  return fmt::format("{} of {} ({} {})", run.process.empty() ? "a program" : run.process, utc_text(run.utc_start_ns), run.files.size(),
                     run.files.size() == 1 ? "file" : "files");
}

// Their processes would be drawn beside each other, and their figures mixed.
void refuse_two_runs(const std::vector<fs::path>& files, bool found_in_folder) {
  if (files.size() < 2) return;
  const auto runs = parsers::runs_of_files(files, found_in_folder ? parsers::RunsBy::kTime : parsers::RunsBy::kLabel);
  if (runs.size() < 2) return;
  std::string which, commands;
  for (std::size_t i = 0; i < std::min<std::size_t>(runs.size(), 3); ++i) {
    which += (i == 0 ? "" : ", ") + run_text(runs[i]);
    commands += (i == 0 ? "" : ", or ") + import_command(runs[i]);
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("the traces of the collector are of {} runs: {}{}", runs.size(), which, runs.size() > 3 ? " …" : ""),
              files.front().parent_path().string(), "import one at a time: " + commands);
}

bool needs_capture(const std::string& name) {
  return std::any_of(parsers::formats().begin(), parsers::formats().end(),
                     [&](const parsers::Format* format) { return format->name == name && format->gives >= Gives::kCounters; });
}

bool any_capture(const ImportRequest& request) {
  return std::any_of(request.files.begin(), request.files.end(),
                     [](const auto& of_format) { return !of_format.second.empty() && !needs_capture(of_format.first); });
}

// Captures may be deleted, or were never there: the reports are.
[[noreturn]] void refuse_without_capture(const fs::path& bundle) {
  std::error_code ignored;
  const bool collector = fs::is_directory(bundle / "collector", ignored);
  throw Error(ErrorKind::kInput,
              fmt::format("this bundle has no capture: {} is missing", collector ? "a trace in collector/" : "nsys/run.sqlite"),
              bundle.string(), fmt::format("nl-stage report {} makes its reports again, without a capture", shell_quoted(bundle.string())));
}

bool is_any_report(const fs::path& file) {
  return std::any_of(parsers::formats().begin(), parsers::formats().end(),
                     [&](const parsers::Format* format) { return parsers::is_report(*format, file); });
}

// "run" of run_pqtdir/ and run_arwdir/, as nsys calls what it exports of run.nsys-rep; empty: of any other path.
std::string report_of_folder(const fs::path& capture) {
  const std::string name = capture.filename().string();
  for (const std::string_view ending : {"_pqtdir", "_arwdir"})
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  return {};
}

std::string capture_stem(const fs::path& capture) {
  const std::string report = report_of_folder(capture);
  return report.empty() ? capture.stem().string() : report;
}

// The file or folder of another name that stands for the same capture; nullptr: there is none.
const fs::path* export_of(const fs::path& report, const std::vector<fs::path>& files) {
  const auto found = std::find_if(files.begin(), files.end(), [&](const fs::path& file) {
    return file != report && file.parent_path() == report.parent_path() && capture_stem(file) == capture_stem(report) &&
           !is_any_report(file);
  });
  return found != files.end() ? &*found : nullptr;
}

void refuse_report_and_export(const ImportRequest& request) {
  for (const parsers::Format* format : parsers::formats()) {
    const auto given = request.files.find(format->name);
    if (!format->by_rank || given == request.files.end()) continue;
    for (const fs::path& file : given->second)
      if (const fs::path* twin = parsers::is_report(*format, file) ? export_of(file, given->second) : nullptr)
        throw Error(ErrorKind::kUsage, "one capture is given twice, as a report and as its export",
                    fmt::format("{} and {}", file.string(), twin->string()), "give one of them");
  }
}

}  // namespace

void check_inputs(const ImportRequest& request) {
  const bool any = !request.all_files().empty();
  if (any && !any_capture(request) && !request.facts.empty()) refuse_without_capture(request.facts.parent_path());
  if (!any_capture(request))
    throw Error(ErrorKind::kUsage, any ? "counters and stacks are joined to a capture, and none is given" : "there is nothing to import",
                "import", "give " + known_formats());
  for (const auto& file : request.all_files()) {
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored) && (!fs::is_directory(file, ignored) || parsers::sniff(file) == nullptr))
      throw CodedError(ErrorCode::kNoSuchFile, fs::exists(file, ignored) ? "not a file" : "there is no such file", file.string(),
                       "give the path of the export");
  }
  for (const auto& [name, files] : request.files) refuse_twins(files, name);
  refuse_report_and_export(request);
  for (const parsers::Format* format : parsers::formats())
    if (format->gives == Gives::kCollectorTraces)
      if (const auto found = request.files.find(format->name);
          found != request.files.end() && parsers::files_by_rank(found->second).empty())
        refuse_two_runs(found->second, request.found_in_folder);
}

namespace {

std::string name_of(const ImportSource& source) {
  NameSources names{fs::absolute(source.files.front()).lexically_normal()};
  names.recorded = recorded_name(names.capture);
  if (source.format->gives == Gives::kCollectorTraces) names.process = parsers::process_name_of(names.capture);
  return import_name(names);
}

// Where no name was given, that of the capture; of the first file where there is none.
ImportRequest named(ImportRequest request) {
  const std::vector<ImportSource> sources = sources_of(request);
  if (request.config.run.name_given || sources.empty()) return request;
  const auto capture = std::find_if(sources.begin(), sources.end(), [](const ImportSource& source) { return source.has_timeline(); });
  request.config.run.name = name_of(capture != sources.end() ? *capture : sources.front());
  request.config.composed_yaml = compose_yaml(request.config);
  return request;
}

// Of one capture by torch.profiler: what its engine left beside it, unless the request names other files.
ImportRequest with_graph_captures(ImportRequest request) {
  const std::string captures(parsers::kGraphCapturesName);
  const auto kineto = request.files.find(parsers::kKinetoName);
  if (kineto == request.files.end() || kineto->second.size() != 1 || !request.files[captures].empty()) return request;
  request.files[captures] = parsers::graph_capture_files(fs::absolute(kineto->second.front()).parent_path());
  return request;
}

std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.is_regular_file(ignored)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

void add(const parsers::Format& format, const fs::path& file, ImportRequest& request) {
  request.files[std::string(format.name)].push_back(file);
}

void add(Gives gives, const fs::path& file, ImportRequest& request) {
  for (const parsers::Format* format : parsers::formats())
    if (format->gives == gives) return add(*format, file, request);
}

// False where no format knows it.
bool add_file(const fs::path& file, ImportRequest& request) {
  const parsers::Format* format = parsers::sniff(file);
  if (format != nullptr) add(*format, file, request);
  return format != nullptr;
}

// Folders that are a capture each.
std::vector<fs::path> folder_captures_in(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.is_directory(ignored) && parsers::sniff(entry.path()) != nullptr) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end(), std::greater<>());  // Parquet before Arrow, which takes more time to read
  return folders;
}

// Of one capture that nsys exported several times one export is taken; a report whose export lies beside it is left out.
void add_folder(const fs::path& folder, ImportRequest& request) {
  std::vector<fs::path> files = files_in(folder);
  std::vector<fs::path> folders;
  for (const fs::path& each : folder_captures_in(folder))
    if (export_of(each, files) == nullptr && export_of(each, folders) == nullptr) folders.push_back(each);
  files.insert(files.end(), folders.rbegin(), folders.rend());
  for (const fs::path& file : files)
    if (!is_any_report(file) || export_of(file, files) == nullptr) add_file(file, request);
}

// The nsys export or the collector's traces, then what counted kernels; the rest of a bundle is made of these.
void add_bundle(const fs::path& bundle, ImportRequest& request) {
  const fs::path sqlite = bundle / "nsys" / "run.sqlite", report = bundle / "nsys" / "run.nsys-rep";
  std::error_code ignored;
  if (fs::exists(sqlite, ignored) || fs::exists(report, ignored))
    add(Gives::kNsysExport, fs::exists(sqlite, ignored) ? sqlite : report, request);
  else
    for (const auto& file : files_in(bundle / "collector"))
      if (const parsers::Format* format = parsers::sniff(file); format && format->gives == Gives::kCollectorTraces)
        add(*format, file, request);
  for (const char* page : {"first-raw.csv", "raw.csv"})
    if (fs::exists(bundle / "ncu" / page, ignored)) add(Gives::kNcuLaunches, bundle / "ncu" / page, request);
  for (const char* counted : {"stages", "kernels", "kernels-2"})
    for (const auto& file : files_in(bundle / "counters" / counted)) add(Gives::kCounters, file, request);
  // Of bundles of several ranks the first one says what the run is; an operator pass or a session is that of one rank alone.
  const bool first = request.facts.empty();
  request.operators = first ? bundle / kOperatorsFolder : fs::path();
  request.session = first ? bundle / kSessionRecord : fs::path();
  if (first) request.facts = bundle / kFactsFolder;
  for (const auto& file : parsers::stack_files(bundle / kFactsFolder)) add(Gives::kHostStacks, file, request);
}

bool is_table(const fs::path& file) { return file.extension() == ".parquet" || file.extension() == ".arrow"; }

// What to do with a file of no known format.
std::string advice_on(const fs::path& file) {
  if (const fs::path folder = fs::absolute(file).parent_path(); parsers::sniff(folder) != nullptr && is_table(file))
    return "it is one table of an export of nsys; give the folder: nl-stage import " + shell_quoted(folder.string());
  const parsers::FileHead head(file);
  if (const std::string evidence = collective_evidence(file); !evidence.empty())
    return fmt::format("it is {}: nl-stage collectives {}", evidence, shell_quoted(file.string()));
  if (head.starts_with(parsers::kGzipMagic)) return "unpack it first: gunzip --keep " + shell_quoted(file.string());
  if (head.starts_with(parsers::kZstdMagic)) return "an archive of nl-stage export: nl-stage import-bundle " + shell_quoted(file.string());
  return "give " + known_formats();
}

bool has_tables(const fs::path& folder) {
  const std::vector<fs::path> files = files_in(folder);
  return std::any_of(files.begin(), files.end(), is_table);
}

using nlohmann::json;

constexpr std::array<std::string_view, 4> kPassFolders = {"nsys", "collector", "ncu", "counters"};
constexpr std::array<std::string_view, 18> kToolsNames = {"rank",    "proc",    "trace_rank", "nsys",   "nvtx", "ncu",
                                                          "run",     "report",  "trace",      "export", "raw",  "first-raw",
                                                          "profile", "capture", "collector",  "output", "out",  "tmp"};

// "nsys", "report1", "nvtx-4242", "Trace_0", and a number alone.
bool says_nothing(std::string name) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  name.resize(name.find_last_not_of("0123456789.-_") + 1);
  return name.empty() || std::find(kToolsNames.begin(), kToolsNames.end(), name) != kToolsNames.end();
}

// Ends the reading at the name, which stands before the long lists.
struct NameReader {
  std::string name;
  int depth = 0;
  bool is_name = false;

  bool other() {
    is_name = false;
    return true;
  }
  bool open() {
    ++depth;
    return other();
  }
  bool close() {
    --depth;
    return other();
  }
  bool key(std::string& key) {
    is_name = depth == 1 && key == "name";
    return true;
  }
  bool string(std::string& text) {
    if (is_name) name = text;
    return !is_name;
  }
  bool null() { return other(); }
  bool boolean(bool) { return other(); }
  bool number_integer(json::number_integer_t) { return other(); }
  bool number_unsigned(json::number_unsigned_t) { return other(); }
  bool number_float(json::number_float_t, const std::string&) { return other(); }
  bool binary(json::binary_t&) { return other(); }
  bool start_object(std::size_t) { return open(); }
  bool end_object() { return close(); }
  bool start_array(std::size_t) { return open(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t, const std::string&, const json::exception&) { return false; }
};

}  // namespace

std::vector<fs::path> ImportRequest::all_files() const {
  std::vector<fs::path> all;
  for (const auto& [name, some] : files) all.insert(all.end(), some.begin(), some.end());
  return all;
}

void with_evidence(const ImportRequest& asked, Launcher& launcher,
                   const std::function<void(const Evidence&, const analysis::Knowledge&)>& use) {
  check_inputs(asked);
  const ImportRequest request = named(with_graph_captures(asked));
  const analysis::Knowledge knowledge = load_knowledge(request.config);
  // For what a vendor's tool has to export first.
  const Bundle scratch =
      Bundle::create({fs::temp_directory_path(), {}, request.config.run.name, "import"}, std::chrono::system_clock::now());
  const std::unique_ptr<const Bundle, void (*)(const Bundle*)> cleanup(&scratch, [](const Bundle* bundle) { bundle->discard(); });
  Verdict verdict;
  PassRunner runner(launcher, scratch, verdict, Echo::kNothing);
  use(read_import(request, scratch, runner), knowledge);
}

Run import_run(const ImportRequest& request, Launcher& launcher) {
  Run run;
  with_evidence(request, launcher,
                [&](const Evidence& evidence, const analysis::Knowledge& knowledge) { run = analysis::analyse(evidence, knowledge); });
  return run;
}

namespace {

// By name where both are on one disk, else as a copy; nothing is removed before all of it is there.
void move_file(const fs::path& from, const fs::path& to) {
  std::error_code failure;
  fs::rename(from, to, failure);
  if (!failure) return;
  if (!fs::copy_file(from, to, failure))
    throw Error(ErrorKind::kOutput, fmt::format("the capture cannot be copied: {}", failure.message()), to.string(),
                fmt::format("it is still at {}: {}", from.string(), free_space_of(to)));
  fs::remove(from, failure);
}

void make_own(ImportRequest& request, const Bundle& bundle) {
  if (request.own.empty()) return;
  const fs::path folder = bundle.path() / "collector";
  fs::create_directories(folder);
  for (const fs::path& file : files_in(request.own)) move_file(file, folder / file.filename());
  for (auto& [format, files] : request.files)
    for (fs::path& file : files)
      if (file.parent_path() == request.own) file = folder / file.filename();
  std::error_code ignored;
  fs::remove(request.own, ignored);
}

}  // namespace

RunResult import_captures(const ImportRequest& asked, Launcher& launcher) {
  check_inputs(asked);
  ImportRequest request = named(with_graph_captures(asked));
  const analysis::Knowledge knowledge = load_knowledge(request.config);
  Interrupts interrupts;
  const Bundle bundle =
      Bundle::create({request.config.artifacts.dir, request.out, request.config.run.name, "import"}, std::chrono::system_clock::now());
  Verdict verdict;
  PassRunner runner(launcher, bundle, verdict, Echo::kNothing);
  try {
    make_own(request, bundle);
    write_configuration(bundle, request.config, name_inputs(request.config.workload));
    return conclude(read_import(request, bundle, runner), knowledge, request.config, bundle, request.record);
  } catch (const Error& error) {
    // The captures stay where they are, so an empty bundle is of no use. After a full disk, what was written is kept.
    if (error.kind != ErrorKind::kOutput && asked.own.empty()) bundle.discard();
    throw;
  }
}

std::string known_formats() {
  std::string all;
  for (const parsers::Format* format : parsers::formats())
    if (!format->known_as.empty()) all += fmt::format("{}, ", format->known_as);
  return all + "or a bundle";
}

// Of a run that was killed: config.yaml and the logs are there from the start, run.json comes last.
bool is_unfinished_bundle(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / "config.yaml", ignored) && fs::is_directory(folder / "logs", ignored);
}

void add_input(const fs::path& given, ImportRequest& request) {
  const fs::path path = given.has_filename() ? given : given.parent_path();  // "run_pqtdir/"
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw CodedError(ErrorCode::kNoSuchFile, "there is no such file or folder", path.string(), "give the path of a capture");
  if (!fs::is_directory(path, ignored) || parsers::sniff(path) != nullptr) {
    if (add_file(path, request)) return;
    throw CodedError(ErrorCode::kUnknownFormat, "no format that nl-stage reads", path.string(), advice_on(path));
  }
  const std::size_t before = request.all_files().size();
  const bool bundle = fs::exists(path / "run.json", ignored) || is_unfinished_bundle(path);
  request.found_in_folder = request.found_in_folder || !bundle || before > 0;  // a bundle alone is of one run
  if (bundle) add_bundle(path, request);
  else add_folder(path, request);
  if (bundle && request.all_files().empty()) refuse_without_capture(path);
  if (request.all_files().size() == before && has_tables(path))
    throw CodedError(ErrorCode::kNoCapture, "the folder has tables of Parquet or Arrow, and none is one of nsys, such as StringIds.parquet",
                     path.string(), "give the folder that nsys wrote: nsys export --type parquetdir --output FOLDER REPORT.nsys-rep");
  if (request.all_files().size() == before)
    throw CodedError(ErrorCode::kNoCapture, "the folder has no capture in it", path.string(),
                     "give the folder that holds the exports, or the files themselves");
}

fs::path bundle_of_capture(const fs::path& capture) {
  const fs::path folder = capture.parent_path();
  return std::find(kPassFolders.begin(), kPassFolders.end(), folder.filename().string()) != kPassFolders.end() ? folder.parent_path()
                                                                                                               : folder;
}

std::string import_name(const NameSources& sources) {
  if (!sources.recorded.empty()) return as_run_name(sources.recorded);
  const std::string report = report_of_folder(sources.capture);
  for (const std::string& name :
       {report.empty() ? run_name_of(sources.capture) : report, bundle_of_capture(sources.capture).filename().string(), sources.process})
    if (!says_nothing(name)) return as_run_name(name);
  return Config{}.run.name;
}

std::string recorded_name(const fs::path& capture) {
  const fs::path file = bundle_of_capture(capture) / "run.json";
  std::error_code ignored;
  if (bundle_of_capture(capture) == capture.parent_path() || !fs::is_regular_file(file, ignored)) return {};
  std::ifstream stream(file, std::ios::binary);
  NameReader reader;
  json::sax_parse(stream, &reader, json::input_format_t::json, false);
  return reader.name;
}

}  // namespace nl::orchestrator
