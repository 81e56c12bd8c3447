#include "runs/queue/queue.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "exporters/run_json/reader.h"
#include "exporters/run_json/writer.h"
#include "model/error.h"
#include "model/visible_text.h"
#include "orchestrator/bundle/bundle.h"

namespace nl::runs {
namespace fs = std::filesystem;

void fields(auto& io, exporters::Ref<decltype(io), QueueEntry> entry) {
  io("command", entry.command);
  io("directory", entry.directory);
  io("queued_at", entry.queued_at);
  io("attempts", entry.attempts);
}

namespace {

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 && *name != '\0' ? name : "localhost";
}

std::string file_name(int number) { return fmt::format("{:06}.json", number); }

// "000012.json" → 12; 0: a file that is being written, or no entry of ours.
int number_of(const fs::path& file) {
  const std::string name = file.filename().string();
  int number = 0;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return name == file_name(number) ? number : 0;
}

std::vector<int> numbers_in(const fs::path& folder) {
  std::vector<int> numbers;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed))
    if (const int number = number_of(entry->path()); number > 0) numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

// Nothing where another process has just moved it.
std::optional<QueueEntry> read_entry(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  const std::string text(std::istreambuf_iterator<char>(in), {});
  auto entry = exporters::read_json<QueueEntry>(text, {.what = "an entry of the queue is damaged",
                                                       .where = file.string(),
                                                       .fix = "remove the file and queue its command again",
                                                       .nulls = false});
  entry.number = number_of(file);
  return entry;
}

std::vector<QueueEntry> entries_in(const fs::path& folder) {
  std::vector<QueueEntry> entries;
  for (const int number : numbers_in(folder))
    if (auto entry = read_entry(folder / file_name(number))) entries.push_back(std::move(*entry));
  return entries;
}

// Held while a number is given out.
class NumberFile {
 public:
  explicit NumberFile(const fs::path& file) : fd_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (fd_ < 0 || flock(fd_, LOCK_EX) != 0)
      throw Error(ErrorKind::kOutput, fmt::format("cannot open the queue: {}", std::strerror(errno)), file.string(),
                  "name another folder with --queue DIR");
  }
  ~NumberFile() { close(fd_); }
  NumberFile(const NumberFile&) = delete;
  NumberFile& operator=(const NumberFile&) = delete;

  int last() const {
    char text[16] = {};
    return pread(fd_, text, sizeof text - 1, 0) > 0 ? std::atoi(text) : 0;
  }
  void set(int number) const {
    const std::string text = fmt::format("{:06}\n", number);
    [[maybe_unused]] const auto written = pwrite(fd_, text.data(), text.size(), 0);
  }

 private:
  int fd_;
};

}  // namespace

CommandQueue::CommandQueue(fs::path folder) : folder_(fs::absolute(folder)), running_(folder_ / "running" / host_name()) {
  std::error_code failed;
  for (const fs::path& part : {folder_ / "queued", running_, folder_ / "logs"}) fs::create_directories(part, failed);
  if (failed)
    throw Error(ErrorKind::kOutput, fmt::format("cannot make the queue's folder: {}", failed.message()), folder_.string(),
                "name another folder with --queue DIR");
}

fs::path CommandQueue::queued(int number) const { return folder_ / "queued" / file_name(number); }
fs::path CommandQueue::running(int number) const { return running_ / file_name(number); }

QueueEntry CommandQueue::add(const std::string& command, const fs::path& directory) const {
  QueueEntry entry{0, command, fs::absolute(directory).string(), utc_text(std::chrono::system_clock::now())};
  const NumberFile numbers(folder_ / "last-number");
  const auto waiting = numbers_in(folder_ / "queued");  // the number file may be lost, or older than they are
  entry.number = std::max(numbers.last(), waiting.empty() ? 0 : waiting.back()) + 1;
  numbers.set(entry.number);
  write_file_whole(queued(entry.number), exporters::json_text(entry));
  return entry;
}

std::optional<QueueEntry> CommandQueue::take() const {
  for (const int number : numbers_in(folder_ / "queued")) {
    if (::rename(queued(number).c_str(), running(number).c_str()) != 0) continue;  // a runner on another machine was first
    std::optional<QueueEntry> entry;
    try {
      entry = read_entry(running(number));
    } catch (const Error& damage) {
      put_aside(number, damage);  // one bad file must not stop the others
    }
    if (!entry) continue;
    ++entry->attempts;
    write_file_whole(running(number), exporters::json_text(*entry));
    return entry;
  }
  return std::nullopt;
}

void CommandQueue::put_aside(int number, const Error& damage) const {
  std::error_code ignored;
  const fs::path aside = folder_ / "damaged" / file_name(number);
  fs::create_directories(aside.parent_path(), ignored);
  ::rename(running(number).c_str(), aside.c_str());
  log(fmt::format("DAMAGED {:06} {} reason=\"{}\"", number, aside.string(), visible_line(damage.message)));
}

void CommandQueue::put_back(const QueueEntry& entry) const {
  write_file_whole(running(entry.number), exporters::json_text(entry));
  ::rename(running(entry.number).c_str(), queued(entry.number).c_str());
}

void CommandQueue::finish(const QueueEntry& entry) const {
  std::error_code ignored;
  fs::remove(running(entry.number), ignored);
}

void CommandQueue::add_again(const QueueEntry& entry) const { write_file_whole(queued(entry.number), exporters::json_text(entry)); }

std::vector<QueueEntry> CommandQueue::recover() const {
  std::vector<QueueEntry> left;
  for (const int number : numbers_in(running_)) {
    try {
      if (auto entry = read_entry(running(number))) left.push_back(std::move(*entry));
    } catch (const Error& damage) {
      put_aside(number, damage);
    }
  }
  for (const QueueEntry& entry : left) put_back(entry);
  return left;
}

bool CommandQueue::is_queued(int number) const {
  std::error_code ignored;
  return fs::exists(queued(number), ignored);
}

bool CommandQueue::is_empty() const { return numbers_in(folder_ / "queued").empty(); }
std::vector<QueueEntry> CommandQueue::waiting() const { return entries_in(folder_ / "queued"); }
std::vector<QueueEntry> CommandQueue::running() const { return entries_in(running_); }

fs::path CommandQueue::log_of(const QueueEntry& entry) const {
  return folder_ / "logs" / fmt::format("{:06}-{}.log", entry.number, entry.attempts);
}

void append_to_log(const fs::path& log, const std::string& line) {
  const std::string text =
      fmt::format("{} {}\n", utc_text(std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now())), line);
  fmt::print(stderr, "{}", text);
  const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return;
  [[maybe_unused]] const auto written = ::write(fd, text.data(), text.size());
  close(fd);
}

fs::path default_queue_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value != nullptr ? value : "");
  };
  if (const fs::path given = variable("NL_STAGE_QUEUE"); !given.empty()) return given;
  const fs::path state = variable("XDG_STATE_HOME"), home = variable("HOME");
  if (!state.empty()) return state / "nl-stage" / "queue";
  return (home.empty() ? fs::temp_directory_path() : home / ".local" / "state") / "nl-stage" / "queue";
}

std::string command_on_one_line(const std::string& command) {
  const auto first = command.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  const std::string trimmed = command.substr(first, command.find_last_not_of(" \t\r\n") + 1 - first);
  const auto more = std::count(trimmed.begin(), trimmed.end(), '\n');
  const std::string line = trimmed.substr(0, trimmed.find('\n'));
  return more == 0 ? line : fmt::format("{} (and {} more line{})", line, more, more == 1 ? "" : "s");
}

}  // namespace nl::runs
