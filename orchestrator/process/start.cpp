#include "orchestrator/process/start.h"

// We supervise by process id ourselves; an old kernel without pidfd_open must not matter.
#define BOOST_PROCESS_V2_DISABLE_PIDFD_OPEN
#include <boost/asio/io_context.hpp>
#include <boost/process/v2/posix/default_launcher.hpp>
#include <boost/process/v2/process.hpp>
#include <boost/process/v2/start_dir.hpp>
#include <boost/process/v2/stdio.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

extern char** environ;

namespace nl::orchestrator {
namespace {

namespace bp = boost::process::v2;
namespace fs = std::filesystem;

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (pipe2(ends, O_CLOEXEC) != 0) throw Error(ErrorKind::kInternal, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  ~Pipe() {
    for (int end : ends)
      if (end >= 0) close(end);
  }
  int release_reader() {
    int reader = ends[0];
    ends[0] = -1;
    fcntl(reader, F_SETFL, O_NONBLOCK);
    return reader;
  }
};

// Boost waits for SIGCHLD itself while it has a process, and leaves the default behind: ours would no longer wake the supervision, which
// would see the end of a process up to 200 ms late. One that ended meanwhile is told of again.
class ChildSignal {
 public:
  ChildSignal() { sigaction(SIGCHLD, nullptr, &before_); }
  ~ChildSignal() {
    sigaction(SIGCHLD, &before_, nullptr);
    raise(SIGCHLD);
  }
  ChildSignal(const ChildSignal&) = delete;
  ChildSignal& operator=(const ChildSignal&) = delete;

 private:
  struct sigaction before_ = {};
};

// What happens in the child between fork and exec.
struct ChildSetup {
  int polite_signal;
  template <typename Launcher, typename Path, typename Args>
  boost::system::error_code on_exec_setup(Launcher&, const Path&, Args&&) {
    setpgid(0, 0);  // the terminal's Ctrl-C reaches us alone; we pass it on in the right order
    prctl(PR_SET_PDEATHSIG, polite_signal);
    for (int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(number, SIG_DFL);
    return {};
  }
  // Boost would leave by exit(), which flushes our stdio buffers a second time. Variadic, because its
  // versions disagree on the arguments.
  template <typename... Args>
  void on_exec_error(Args&&...) {
    _exit(127);
  }
};

std::vector<std::string> child_environment(const ProcessSpec& spec) {
  std::map<std::string, std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view text(*entry);
    auto equals = text.find('=');
    if (equals != std::string_view::npos) merged.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  for (const auto& name : spec.unset_env) merged.erase(name);
  for (const auto& [name, value] : spec.env) merged[name] = value;
  for (const auto& [name, value] : spec.prepend_env) {
    std::string& all = merged[name];
    all = all.empty() ? value : value + ":" + all;
  }
  std::vector<std::string> out;
  for (const auto& [name, value] : merged) out.push_back(name + "=" + value);
  return out;
}

std::string search_path(const ProcessSpec& spec) {
  auto found = spec.env.find("PATH");
  return found == spec.env.end() ? std::string() : found->second;
}

bool is_program(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) && access(file.c_str(), X_OK) == 0;
}

}  // namespace

fs::path find_executable(const std::string& name, const fs::path& directory, ErrorKind kind, const std::string& search_path) {
  if (name.empty()) throw Error(kind, "no program was given to run", {}, "give the command after --");
  if (name.find('/') != std::string::npos) {
    fs::path file = directory.empty() ? fs::path(name) : directory / name;
    if (is_program(file)) return fs::absolute(file);
    std::error_code ignored;
    bool exists = fs::exists(file, ignored);
    throw Error(kind, fmt::format("{} {}", name, exists ? "is not an executable file" : "was not found"), file.string(),
                exists ? fmt::format("chmod +x {}, or start its interpreter: python3 {}", name, name)
                       : "check the path; it is taken relative to the working directory");
  }
  const char* ours = std::getenv("PATH");
  std::string path = !search_path.empty() ? search_path : ours != nullptr ? ours : "/usr/local/bin:/usr/bin:/bin";
  for (std::size_t start = 0; start <= path.size();) {
    std::size_t end = std::min(path.find(':', start), path.size());
    fs::path folder = end == start ? fs::path(".") : fs::path(path.substr(start, end - start));
    if (is_program(folder / name)) return fs::absolute(folder / name);
    start = end + 1;
  }
  throw Error(kind, fmt::format("{} was not found in PATH", name), name, "give its full path");
}

StartedProcess start_process(const ProcessSpec& spec) {
  const fs::path program =
      find_executable(spec.argv.empty() ? "" : spec.argv[0], spec.working_directory, spec.not_found, search_path(spec));
  const std::vector<std::string> arguments(spec.argv.begin() + 1, spec.argv.end());
  const auto environment = child_environment(spec);
  const fs::path directory = spec.working_directory.empty() ? fs::current_path() : spec.working_directory;
  const ChildSignal kept;
  Pipe out, err;
  boost::asio::io_context context;
  boost::system::error_code failure;
  bp::posix::default_launcher launcher;
  std::vector<const char*> envp;
  for (const auto& entry : environment) envp.push_back(entry.c_str());
  envp.push_back(nullptr);
  launcher.env = envp.data();
  auto process = launcher(context.get_executor(), failure, bp::filesystem::path(program.string()), arguments,
                          bp::process_stdio{nullptr, out.ends[1], err.ends[1]}, bp::process_start_dir(directory.string()),
                          ChildSetup{spec.polite_signal});
  if (failure) {
    if (launcher.pid > 0) waitpid(launcher.pid, nullptr, 0);
    throw Error(spec.not_found, fmt::format("{} could not be started: {}", spec.argv[0], failure.message()), program.string(),
                "check that it is built for this machine and that its interpreter exists");
  }
  StartedProcess started{launcher.pid, out.release_reader(), err.release_reader()};
  process.detach();
  return started;
}

}  // namespace nl::orchestrator
