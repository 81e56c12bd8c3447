#include "orchestrator/recorder/folders.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "model/error_code.h"
#include "model/strings.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

bool is_ours(const fs::path& folder) {
  struct stat about = {};
  return ::lstat(folder.c_str(), &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == ::geteuid() && (about.st_mode & 077) == 0;
}

// No other user can put another folder in the place of one in it.
bool is_safe(const fs::path& folder) {
  struct stat about = {};
  return ::lstat(folder.c_str(), &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == ::geteuid() && (about.st_mode & 022) == 0;
}

bool lives(int pid) { return ::kill(pid, 0) == 0 || errno == EPERM; }

std::optional<int> number_in(std::string_view text) {
  int number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failure == std::errc() && end == text.data() + text.size() && number > 0 ? std::optional(number) : std::nullopt;
}

// "4711.sock" of a process that lives. Sockets of others are removed: their process was killed.
std::vector<int> processes_in(const fs::path& folder) {
  std::vector<int> pids;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() != ".sock") continue;
    const std::optional<int> pid = number_in(entry.path().stem().string());
    if (pid && lives(*pid)) pids.push_back(*pid);
    else fs::remove(entry.path(), ignored);
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

// A window in it was not fetched: it is the only copy.
bool has_window(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(folder / "windows", ignored) && !fs::is_empty(folder / "windows", ignored);
}

void check_name(const std::string& name) {
  const bool good = !name.empty() && name.size() <= 48 && name.front() != '.' && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == '.';
  });
  if (!good)
    throw Error(ErrorKind::kUsage, fmt::format("a recorder cannot be called '{}'", name), "--name",
                "take letters, digits, '-', '_' and '.', at most 48 of them");
}

}  // namespace

fs::path recorders_folder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime == '/') return fs::path(runtime) / "nl-stage" / "recorders";
  return fs::path(fmt::format("/tmp/nl-stage-{}", ::geteuid())) / "recorders";
}

fs::path make_recorder_folder(const std::string& name) {
  check_name(name);
  const fs::path folder = recorders_folder() / name;
  if (is_ours(folder)) {
    const std::vector<int> pids = processes_in(folder);
    if (!pids.empty())
      throw Error(ErrorKind::kUsage, fmt::format("a recorder '{}' runs already (process {})", name, pids.front()), "--name",
                  "give another name; nl-stage recorder lists those that run");
    if (has_window(folder))
      throw Error(ErrorKind::kUsage, fmt::format("a recorder '{}' left a window that was not imported", name),
                  (folder / "windows").string(),
                  fmt::format("import it (nl-stage import {}/*) or remove it", (folder / "windows").string()));
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  for (const fs::path& part : {folder.parent_path().parent_path(), folder.parent_path(), folder}) {
    ::mkdir(part.c_str(), 0700);
    if (part == folder ? !is_ours(part) : !is_safe(part))
      throw Error(ErrorKind::kOutput, "the folder of the recorder is not of this user alone", part.string(),
                  "remove it, or set XDG_RUNTIME_DIR to a folder of your own with mode 0700");
  }
  return folder;
}

std::vector<Recorder> list_recorders() {
  std::vector<Recorder> all;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(recorders_folder(), ignored)) {
    if (!is_ours(entry.path())) continue;
    Recorder recorder{entry.path().filename().string(), entry.path(), processes_in(entry.path())};
    if (!recorder.pids.empty()) all.push_back(std::move(recorder));
    else if (!has_window(entry.path())) fs::remove_all(entry.path(), ignored);
  }
  std::sort(all.begin(), all.end(), [](const Recorder& a, const Recorder& b) { return a.name < b.name; });
  return all;
}

Recorder find_recorder(const std::string& name_or_pid) {
  const std::vector<Recorder> all = list_recorders();
  const std::optional<int> pid = number_in(name_or_pid);
  for (const Recorder& each : all)
    if (each.name == name_or_pid || (pid && std::find(each.pids.begin(), each.pids.end(), *pid) != each.pids.end())) return each;
  // One that was given a folder of its own (NL_STAGE_RECORD_DIR) is in no list.
  if (const fs::path folder = name_or_pid; name_or_pid.find('/') != std::string::npos && is_ours(folder))
    if (std::vector<int> pids = processes_in(folder); !pids.empty())
      return {folder.filename().string(), fs::absolute(folder), std::move(pids)};
  std::string names;
  for (const Recorder& each : all) names += (names.empty() ? "" : ", ") + each.name;
  throw CodedError(ErrorCode::kNoRecorder, fmt::format("no recorder '{}' runs", name_or_pid), recorders_folder().string(),
                   all.empty() ? "start the program with nl-stage recorder -- COMMAND" : "name one of these: " + names);
}

}  // namespace nl::orchestrator
