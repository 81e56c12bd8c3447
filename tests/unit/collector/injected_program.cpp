#include "tests/unit/collector/injected_program.h"

#include <algorithm>
#include <cstdlib>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "parsers/collector/trace.h"

namespace nl::test {
namespace {

void send_to(int descriptor, const std::filesystem::path& file) {
  int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(fd, descriptor);
  close(fd);
}

// With AddressSanitizer the program still ends at an error, but does not look for leaks at its exit: on aarch64 that
// takes four seconds even of an empty program, because LeakSanitizer walks the map of the whole address space there.
// The tests that want it say so (kLeakCheck).
void without_leak_check() {
  const char* set = std::getenv("ASAN_OPTIONS");
  std::string options = set != nullptr ? std::string(set) + ":" : std::string();
  setenv("ASAN_OPTIONS", (options + "detect_leaks=0").c_str(), 1);
}

}  // namespace

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "nl-collector-test-XXXXXX").string();
  if (mkdtemp(name.data()) != nullptr) path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Outcome run_injected(const std::vector<std::string>& argv, const std::filesystem::path& folder, const Environment& environment) {
  ScratchFolder logs;
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t child = fork();
  if (child == 0) {
    setenv("NVTX_INJECTION64_PATH", NL_BUILD_ROOT "/collector/libnl_collector.so", 1);
    setenv("NL_STAGE_TRACE_DIR", folder.c_str(), 1);
    without_leak_check();
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    send_to(STDOUT_FILENO, logs.path() / "out");
    send_to(STDERR_FILENO, logs.path() / "err");
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  Outcome outcome;
  outcome.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  outcome.out = read_text(logs.path() / "out");
  outcome.err = read_text(logs.path() / "err");
  return outcome;
}

Outcome run_gpu(const std::vector<std::string>& arguments, const std::filesystem::path& folder, const Environment& more) {
  std::vector<std::string> argv{NL_BUILD_ROOT "/tests/unit/collector/gpu_program"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  Environment environment{{"CUDA_INJECTION64_PATH", NL_BUILD_ROOT "/collector/libnl_collector.so"},
                          {"FAKE_CUPTI", kFakeCupti},
                          {"NL_STAGE_CUPTI", kFakeCupti},
                          {"NL_STAGE_FLUSH_MS", "50"}};
  environment.insert(environment.end(), more.begin(), more.end());
  return run_injected(argv, folder, environment);
}

Outcome run_program(const std::vector<std::string>& arguments, const std::filesystem::path& folder, const Environment& environment) {
  std::vector<std::string> argv{NL_BUILD_ROOT "/tests/unit/collector/nvtx_program"};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return run_injected(argv, folder, environment);
}

bool in_use(const std::string& trace, std::size_t at) { return trace.substr(at, 16).find_first_not_of('\0') != std::string::npos; }

std::vector<std::filesystem::path> trace_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".nltrace") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

Trace read_folder(const std::filesystem::path& folder) { return parsers::read_collector_traces(trace_files(folder)); }

std::vector<Range> ranges_named(const Trace& trace, const std::string& domain, const std::string& name) {
  std::vector<Range> found;
  for (const Range& range : trace.ranges)
    if (trace.strings[range.domain] == domain && trace.strings[range.name] == name) found.push_back(range);
  return found;
}

}  // namespace nl::test
