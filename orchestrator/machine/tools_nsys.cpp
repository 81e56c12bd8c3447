#include "orchestrator/machine/tools.h"

#include <fmt/format.h>
#include <unistd.h>

#include <sstream>

#include "model/error.h"

namespace nl::orchestrator {
namespace fs = std::filesystem;
namespace {

constexpr const char* kImporter = "QdstrmImporter";

std::string host_folder_name(const Host& host) { return host.architecture == "x86_64" ? "host-linux-x64" : "host-linux-armv8"; }

// Relative to the folder that holds target-linux-*: where Nsight Compute and Debian keep the importer.
fs::path importer_elsewhere(const fs::path& home, const Host& host) {
  Host below, debian;
  below.root = home;
  debian.root = home.parent_path().parent_path();
  std::vector<fs::path> candidates = below.match("/linux-desktop-*");
  for (auto& path : debian.match("/nsight-systems/" + host_folder_name(host))) candidates.push_back(path);
  for (const auto& folder : candidates)
    if (is_executable_file(folder / kImporter)) return folder;
  return {};
}

// The same tool gets the same folder again; another build of it gets another.
std::string fingerprint(const fs::path& file) {
  std::error_code failed;
  const std::string text =
      fmt::format("{}|{}|{}", file.string(), fs::file_size(file, failed), fs::last_write_time(file, failed).time_since_epoch().count());
  std::uint64_t hash = 14695981039346656037ULL;
  for (unsigned char c : text) hash = (hash ^ c) * 1099511628211ULL;
  return fmt::format("{:016x}", hash);
}

// nsys asks /proc/self/exe where it lies, which sees through symbolic links: it is hard-linked or copied,
// everything else is linked.
void fill_private_folder(const fs::path& folder, const fs::path& nsys, const fs::path& host_folder, const std::string& host_name) {
  const fs::path target = folder / nsys.parent_path().filename();
  fs::create_directories(target);
  for (const auto& entry : fs::directory_iterator(nsys.parent_path()))
    if (entry.path().filename() != nsys.filename()) fs::create_symlink(entry.path(), target / entry.path().filename());
  std::error_code failed;
  fs::create_hard_link(nsys, target / nsys.filename(), failed);
  if (failed) fs::copy_file(nsys, target / nsys.filename());
  fs::create_directory_symlink(host_folder, folder / host_name);
}

fs::path private_nsys(const fs::path& nsys, const fs::path& host_folder, const Host& host) {
  const std::string host_name = host_folder_name(host);
  const fs::path folder = host.cache / ("nsys-" + fingerprint(nsys));
  const fs::path program = folder / nsys.parent_path().filename() / nsys.filename();
  if (is_executable_file(program) && is_executable_file(folder / host_name / kImporter)) return program;
  const fs::path draft = folder.string() + fmt::format(".{}", getpid());
  std::error_code ignored;
  try {
    fs::remove_all(draft);
    fill_private_folder(draft, nsys, host_folder, host_name);
    fs::remove_all(folder);
    fs::rename(draft, folder);
  } catch (const fs::filesystem_error&) {
    fs::remove_all(draft, ignored);
    return is_executable_file(program) ? program : fs::path();
  }
  return program;
}

// What the loader does not find for the importer, and for the library that nsys loads into the workload.
std::vector<std::string> missing_of(const Tool& nsys, const fs::path& target, const Host& host) {
  ProcessSpec spec;
  spec.env = {{"LD_TRACE_LOADED_OBJECTS", "1"}};  // the loader lists what it finds and does not start the program
  for (const auto& [name, value] : nsys.env) spec.env[name] = value;
  spec.timeout_s = 20;
  spec.argv = {nsys.importer.string()};
  std::string trace = host.start(spec).stdout_text;
  if (const fs::path injected = target / "libToolsInjection64.so"; fs::exists(injected)) {
    spec.argv = {"/bin/true"};
    spec.env["LD_PRELOAD"] = injected.string();
    trace += "\n" + host.start(spec).stdout_text;
  }
  return parse_missing_libraries(trace);
}

// Where a missing library is after all: in nsys' own folders, which Debian's build does not look into,
// or, for libssh.so, which only a development package has, the runtime library of that name.
fs::path stray_library(const std::string& library, const std::vector<fs::path>& folders, const Host& host) {
  std::error_code failed;
  for (const auto& folder : folders)
    if (fs::exists(folder / library, failed)) return folder / library;
  if (library != "libssh.so") return {};
  std::istringstream path(host.variable("LD_LIBRARY_PATH"));
  for (std::string folder; std::getline(path, folder, ':');)
    if (!folder.empty() && fs::exists(fs::path(folder) / "libssh.so.4", failed)) return fs::path(folder) / "libssh.so.4";
  for (const char* pattern : {"/usr/lib/*/libssh.so.4", "/usr/lib64/libssh.so.4", "/lib/*/libssh.so.4"})
    if (auto found = host.match(pattern); !found.empty()) return found.front();
  return {};
}

// Links what is missing, and only that, into a folder of ours for LD_LIBRARY_PATH: nsys hands the
// variable on to the workload, which must not meet the other libraries of nsys' folders.
void supply_libraries(Tool& nsys, const fs::path& program, const Host& host) {
  const fs::path ours = host.cache / ("nsys-" + fingerprint(program) + "-lib");
  const std::vector<fs::path> folders = {nsys.importer.parent_path(), program.parent_path()};
  std::error_code failed;
  for (int round = 0; round < 8; ++round) {  // what is supplied may itself miss something
    nsys.missing_libraries = missing_of(nsys, program.parent_path(), host);
    bool supplied = false;
    for (const auto& library : nsys.missing_libraries) {
      const fs::path stray = host.cache.empty() ? fs::path() : stray_library(library, folders, host);
      if (stray.empty()) continue;
      fs::create_directories(ours, failed);
      if (fs::read_symlink(ours / library, failed) != stray) {
        fs::remove(ours / library, failed);
        fs::create_symlink(stray, ours / library, failed);
        supplied |= !failed;
      } else {
        supplied |= nsys.env.empty();
      }
    }
    if (!supplied) return;
    const std::string before = host.variable("LD_LIBRARY_PATH");
    nsys.env = {{"LD_LIBRARY_PATH", ours.string() + (before.empty() ? "" : ":" + before)}};
  }
}

void test_importer(Tool& nsys, const fs::path& program, const Host& host) {
  supply_libraries(nsys, program, host);
  if (!nsys.missing_libraries.empty()) {
    nsys.importer_trouble = fmt::format("{} was not found", nsys.missing_libraries.front());
    return;
  }
  ProcessSpec spec;
  spec.argv = {nsys.importer.string(), "--version"};
  spec.env.insert(nsys.env.begin(), nsys.env.end());
  spec.timeout_s = 20;
  const ProcessResult result = host.start(spec);
  if (result.exit_status != 0) nsys.importer_trouble = fmt::format("it ends with status {}", result.exit_status);
}

}  // namespace

void settle_importer(Tool& nsys, const Host& host) {
  std::error_code failed;
  const fs::path program = fs::weakly_canonical(nsys.path, failed);
  const fs::path target = program.parent_path();
  // A wrapper script knows its own way; only a trial capture can tell.
  if (!target.filename().string().starts_with("target-linux")) return;
  const fs::path expected = target.parent_path() / host_folder_name(host);
  if (is_executable_file(expected / kImporter)) {
    nsys.importer = expected / kImporter;
  } else {
    const fs::path elsewhere = importer_elsewhere(target.parent_path(), host);
    if (elsewhere.empty()) {
      nsys.importer_trouble = fmt::format("there is no {}", (expected / kImporter).string());
      return;
    }
    nsys.importer = elsewhere / kImporter;
    const fs::path copy = host.cache.empty() ? fs::path() : private_nsys(program, elsewhere, host);
    if (copy.empty()) {
      nsys.importer_trouble =
          fmt::format("nsys looks for it in {}, and no private folder could be made in {}", expected.string(), host.cache.string());
      return;
    }
    nsys.path = copy;
  }
  try {
    test_importer(nsys, program, host);
  } catch (const Error& error) {
    nsys.importer_trouble = error.message;
  }
}

}  // namespace nl::orchestrator
