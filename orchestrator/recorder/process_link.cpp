#include "orchestrator/recorder/process_link.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

namespace nl::orchestrator {
namespace {

// As collector/record writes them.
constexpr std::array<std::string_view, 6> kSaidByRecorders = {"status", "armed",  "met",
                                                              "opened", "closed", "error"};  // in the order of RecorderSays
constexpr std::string_view kBusyRecorder = "busy";

// The name that the process gave itself ("VLLM::EngineCore"), else that of its program.
std::string process_name(int pid) {
  std::ifstream file(fmt::format("/proc/{}/comm", pid));
  std::string name;
  std::getline(file, name);
  return name;
}

int connected(const std::filesystem::path& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::string text = path.string();
  if (text.size() >= sizeof address.sun_path) return -1;
  std::memcpy(address.sun_path, text.c_str(), text.size() + 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  if (fd >= 0) ::close(fd);
  return -1;
}

}  // namespace

std::int64_t RecorderLine::number(std::string_view key, std::int64_t otherwise) const {
  const auto found = values.find(key);
  if (found == values.end()) return otherwise;
  std::int64_t value = otherwise;
  std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  return value;
}

RecorderLine recorder_line(const std::string& text) {
  RecorderLine line;
  std::istringstream words(text);
  std::string first;
  words >> first;
  const auto known = std::find(kSaidByRecorders.begin(), kSaidByRecorders.end(), first);
  line.says = static_cast<RecorderSays>(known - kSaidByRecorders.begin());
  line.rest = text.size() > first.size() ? text.substr(first.size() + 1) : "";
  line.busy = line.says == RecorderSays::kError && line.rest == kBusyRecorder;
  for (std::string word; words >> word;)
    if (const std::size_t equals = word.find('='); equals != std::string::npos)
      line.values[word.substr(0, equals)] = word.substr(equals + 1);
  return line;
}

ProcessLink::ProcessLink(const std::filesystem::path& folder, int pid)
    : pid_(pid), fd_(connected(folder / fmt::format("{}.sock", pid))), name_(process_name(pid)) {}

ProcessLink::~ProcessLink() { close(); }

ProcessLink::ProcessLink(ProcessLink&& other) noexcept
    : pid_(other.pid_), fd_(std::exchange(other.fd_, -1)), name_(std::move(other.name_)), text_(std::move(other.text_)) {}

void ProcessLink::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

void ProcessLink::send(const std::string& line) {
  const std::string text = line + "\n";
  if (fd_ >= 0 && ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size())) close();
}

std::optional<RecorderLine> ProcessLink::next() {
  std::size_t end = text_.find('\n');
  for (char piece[2048]; end == std::string::npos && fd_ >= 0; end = text_.find('\n')) {
    const ssize_t got = ::recv(fd_, piece, sizeof piece, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
    if (got <= 0) close();
    else text_.append(piece, static_cast<std::size_t>(got));
  }
  if (end == std::string::npos) return std::nullopt;
  const RecorderLine line = recorder_line(text_.substr(0, end));
  text_.erase(0, end + 1);
  return line;
}

}  // namespace nl::orchestrator
