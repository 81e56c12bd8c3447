#include "orchestrator/live/live_runs.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "model/error.h"
#include "model/input_bounds.h"
#include "model/time.h"
#include "orchestrator/bundle/bundle.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

constexpr std::uintmax_t kMostBytes = 64 << 10;  // of a file; ours have a few hundred

struct LivePlace {
  fs::path base;  // has to be there: only the system makes /run/user/1000
  const char* below = "";
  fs::path folder() const { return base / below / "nl-stage" / "live"; }
};

fs::path folder_named_by(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value == '/' ? fs::path(value) : fs::path();
}

std::vector<LivePlace> live_places() {
  std::vector<LivePlace> places = {{folder_named_by("XDG_RUNTIME_DIR")},
                                   {fmt::format("/run/user/{}", ::geteuid())},
                                   {folder_named_by("XDG_DATA_HOME")},
                                   {folder_named_by("HOME"), ".local/share"}};
  std::error_code ignored;
  std::erase_if(places, [&](const LivePlace& place) { return place.base.empty() || !fs::is_directory(place.base, ignored); });
  return places;
}

// Sample: 4711 (my (odd) name) S 4242 …; the time of its start is the 22nd word. Nothing where the process is gone, or a zombie.
std::optional<std::uint64_t> start_ticks(int pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string line{std::istreambuf_iterator<char>(file), {}};
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream words(line.substr(name_end + 1));
  constexpr int kStartTime = 20;  // counted from the state
  std::string word;
  for (int i = 1; i <= kStartTime && words >> word; ++i)
    if (i == 1 && (word == "Z" || word == "X")) return std::nullopt;
  return words ? std::optional(std::strtoull(word.c_str(), nullptr, 10)) : std::nullopt;
}

bool still_lives(const LiveRun& run) { return run.pid > 1 && start_ticks(run.pid) == run.started_ticks; }

std::string note_text(const LiveRun& run) {
  const nlohmann::ordered_json json = {{"pid", run.pid},          {"started_ticks", run.started_ticks},
                                       {"run_id", run.run_id},    {"name", run.name},
                                       {"bundle", run.bundle},    {"since", run.since},
                                       {"progress", run.progress}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// Nothing where it is not ours: another user's, a link, too large, or no such JSON.
std::optional<LiveRun> read_note(const fs::path& file) {
  struct stat about = {};
  if (::lstat(file.c_str(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != ::geteuid()) return std::nullopt;
  if (static_cast<std::uintmax_t>(about.st_size) > kMostBytes) return std::nullopt;
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  try {
    const auto json = nlohmann::json::parse(json_within_bounds(text, file.string()));
    return LiveRun{json.at("pid"),    json.at("started_ticks"), json.at("run_id"),  json.at("name"),
                   json.at("bundle"), json.at("since"),         json.at("progress")};
  } catch (const std::exception&) {  // JSON's, or ours of a text beyond all bounds
    return std::nullopt;
  }
}

// 0700, and ours alone: who may write there could have us signal any process of ours.
bool is_private_folder(const fs::path& folder) {
  struct stat about = {};
  return ::lstat(folder.c_str(), &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == ::geteuid() && (about.st_mode & 077) == 0;
}

bool make_private_folder(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder.parent_path(), failure);
  ::mkdir(folder.c_str(), 0700);
  return is_private_folder(folder);
}

}  // namespace

std::vector<fs::path> live_folders() {
  std::vector<fs::path> folders;
  for (const LivePlace& place : live_places())
    if (std::find(folders.begin(), folders.end(), place.folder()) == folders.end()) folders.push_back(place.folder());
  return folders;
}

LiveNote::LiveNote(std::string run_id, std::string name, const fs::path& bundle) {
  static std::atomic<int> count = 0;
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  run_ = {::getpid(), start_ticks(::getpid()).value_or(0), std::move(run_id), std::move(name), fs::absolute(bundle).string(), utc_text(now),
          "starting"};
  for (const fs::path& folder : live_folders())
    if (make_private_folder(folder)) {
      file_ = folder / fmt::format("{}-{}.json", run_.pid, ++count);
      break;
    }
  say(run_.progress);
}

LiveNote::~LiveNote() {
  std::error_code ignored;
  if (!file_.empty()) fs::remove(file_, ignored);
}

void LiveNote::say(const std::string& progress) {
  run_.progress = progress;
  if (file_.empty()) return;
  try {
    write_file_whole(file_, note_text(run_));
    ::chmod(file_.c_str(), 0600);
  } catch (const Error&) {  // a run does not fail because its file cannot be written
    file_.clear();
  }
}

std::vector<LiveRun> live_runs() {
  std::vector<LiveRun> runs;
  for (const fs::path& folder : live_folders()) {
    if (!is_private_folder(folder)) continue;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      if (entry.path().extension() != ".json") continue;
      auto run = read_note(entry.path());
      if (!run) continue;
      if (still_lives(*run)) runs.push_back(std::move(*run));
      else fs::remove(entry.path(), ignored);
    }
  }
  std::sort(runs.begin(), runs.end(), [](const LiveRun& a, const LiveRun& b) { return a.since < b.since; });
  return runs;
}

bool stop_live_run(const std::string& run_id) {
  for (const LiveRun& run : live_runs()) {
    if (run.run_id != run_id) continue;
    // The descriptor is of one process, also where its number is given to another between the look and the signal.
    const int process = static_cast<int>(::syscall(SYS_pidfd_open, run.pid, 0));
    if (process < 0) return false;
    const bool sent = still_lives(run) && ::syscall(SYS_pidfd_send_signal, process, SIGINT, nullptr, 0) == 0;
    ::close(process);
    return sent;
  }
  return false;
}

}  // namespace nl::orchestrator
