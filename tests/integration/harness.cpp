#include "tests/integration/harness.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "orchestrator/bundle/sha256.h"
#include "tests/catch.h"
#include "tests/integration/terminal.h"

extern char** environ;

namespace nl::test {
namespace {

std::string read_all(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void pause_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

}  // namespace

Scene::Scene() {
  static int number = 0;
  mark_ = "nl-test-" + std::to_string(getpid()) + "-" + std::to_string(++number);
  path = fs::temp_directory_path() / mark_;
  fs::create_directories(path / "tmp");
  env = {{"NL_TEST_MARK", mark_}, {"TMPDIR", (path / "tmp").string()}, {"NL_STAGE_LEDGER", (path / "ledger.sqlite").string()}};
}

Scene::~Scene() {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

pid_t Scene::start(const std::vector<std::string>& arguments, const std::string& terminal) {
  std::vector<std::string> words = prefix;
  words.push_back(std::string(NL_BUILD_ROOT) + "/cli/nl-stage");
  words.insert(words.end(), arguments.begin(), arguments.end());
  if (!perturbation && !arguments.empty() && arguments[0] == "run")
    words.insert(words.end() - static_cast<std::ptrdiff_t>(arguments.size()) + 1, {"--set", "perturbation.repeats=0"});
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!env.contains(text.substr(0, text.find('=')))) variables.push_back(text);
  }
  for (const auto& [name, value] : env) variables.push_back(name + "=" + value);
  std::vector<char*> argv, envp;
  for (auto& word : words) argv.push_back(word.data());
  for (auto& variable : variables) envp.push_back(variable.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  const std::string out = terminal.empty() ? (path / "stdout").string() : terminal,
                    err = terminal.empty() ? (path / "stderr").string() : terminal;
  posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY, 0644);
  posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY, 0644);
  pid_t pid = 0;
  REQUIRE(posix_spawn(&pid, argv[0], &files, nullptr, argv.data(), envp.data()) == 0);
  posix_spawn_file_actions_destroy(&files);
  return pid;
}

void Scene::finish(pid_t pid, double limit_s, Outcome& outcome) {
  int status = 0;
  for (double waited = 0; waitpid(pid, &status, WNOHANG) == 0; waited += 0.02) {
    if (waited > limit_s) {
      kill(pid, SIGKILL);
      waitpid(pid, &status, 0);
      FAIL("nl-stage did not end within " << limit_s << " s:\n" << read_all(path / "stderr"));
    }
    pause_ms(20);
  }
  outcome.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  outcome.out = read_all(path / "stdout");
  outcome.err = read_all(path / "stderr");
}

Outcome Scene::nl_stage(const std::vector<std::string>& arguments, double limit_s) {
  Outcome outcome;
  finish(start(arguments), limit_s, outcome);
  return outcome;
}

Outcome Scene::nl_stage_on_terminal(const std::vector<std::string>& arguments, int columns, double limit_s) {
  Terminal terminal(columns);
  Outcome outcome;
  env.try_emplace("TERM", "xterm-256color");
  env.try_emplace("NO_COLOR", "");
  finish(start(arguments, terminal.device()), limit_s, outcome);
  outcome.out = terminal.text();
  outcome.err.clear();
  return outcome;
}

Outcome Scene::nl_stage_signalled(const std::vector<std::string>& arguments, const fs::path& when, int number, int times) {
  Outcome outcome;
  const pid_t pid = start(arguments);
  for (int i = 0; i < 3000 && !fs::exists(when); ++i) pause_ms(10);
  if (!fs::exists(when)) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    FAIL("the pass to be interrupted never began:\n" << read_all(path / "stderr"));
  }
  for (int i = 0; i < times; ++i) {
    kill(pid, number);
    pause_ms(300);
  }
  finish(pid, 60, outcome);
  return outcome;
}

void Scene::use_standins() {
  const fs::path standins = fs::path(NL_SOURCE_ROOT) / "tests/integration/standin";
  env["NL_STAGE_NSYS"] = (standins / "nsys").string();
  env["NL_STAGE_NCU"] = (standins / "ncu").string();
  env["NL_FIXTURES"] = NL_FIXTURES;
  env["NL_STARTED"] = (path / "started").string();
}

bool Scene::use_real_nsys() {
  const char* nsys = std::getenv("NL_STAGE_TEST_NSYS");
  if (nsys == nullptr || *nsys == '\0') return false;
  env["NL_STAGE_NSYS"] = nsys;
  return true;
}

fs::path Scene::script(const std::string& name, const std::string& text) const {
  const fs::path file = path / name;
  std::ofstream(file) << "#!/bin/sh\n" << text << "\n";
  fs::permissions(file, fs::perms::owner_all);
  return file;
}

nlohmann::json Scene::json(const std::string& relative) const {
  INFO("reading " << relative);
  REQUIRE(fs::exists(bundle() / relative));
  return nlohmann::json::parse(read_all(bundle() / relative));
}

std::string Scene::text(const fs::path& file) const { return read_all(file); }

std::vector<std::string> Scene::still_running() const {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    if (entry.path().filename().string().find_first_not_of("0123456789") != std::string::npos) continue;
    if (read_all(entry.path() / "environ").find("NL_TEST_MARK=" + mark_) == std::string::npos) continue;
    std::string line = read_all(entry.path() / "cmdline");
    for (char& c : line) c = c == '\0' ? ' ' : c;
    if (!line.empty()) found.push_back(line);
  }
  return found;
}

void check_bundle(Scene& scene) {
  const auto manifest = scene.json("manifest.json");
  std::set<std::string> listed;
  for (const auto& file : manifest["files"]) {
    const std::string name = file["path"];
    INFO(name);
    listed.insert(name);
    REQUIRE(fs::exists(scene.bundle() / name));
    CHECK(file["sha256"] == orchestrator::sha256_file(scene.bundle() / name));
    CHECK(file["size_bytes"] == fs::file_size(scene.bundle() / name));
  }
  for (const auto& entry : fs::recursive_directory_iterator(scene.bundle())) {
    const std::string name = fs::relative(entry.path(), scene.bundle()).generic_string();
    INFO(name);
    CHECK(name.find(".tmp") == std::string::npos);
    CHECK(name.find(".partial") == std::string::npos);
    if (entry.is_regular_file() && name != "manifest.json") CHECK(listed.contains(name));
  }
  for (const char* name : {"run.json", "kernels.md", "report.md", "env.json", "config.yaml", "inputs.yaml"}) {
    INFO(name);
    CHECK(listed.contains(name));
  }
  Outcome valid = scene.nl_stage({"validate", (scene.bundle() / "run.json").string()});
  INFO(valid.err);
  CHECK(valid.status == 0);
}

std::vector<std::string> light(const Scene& scene, const std::vector<std::string>& command, const std::vector<std::string>& more) {
  std::vector<std::string> words = {"run", "--config", "light", "--out", scene.bundle().string()};
  words.insert(words.end(), more.begin(), more.end());
  words.push_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

bool have_collector() { return fs::exists(NL_BUILD_ROOT "/collector/libnl_collector.so"); }

std::string cpu_workload() {
  const fs::path file = fs::path(NL_BUILD_ROOT) / "workloads/nl-llm-cpu";
  return fs::exists(file) ? file.string() : std::string();
}

bool gpu_is_here() { return fs::exists("/dev/nvidiactl"); }

Outcome import(Scene& scene, const std::vector<std::string>& more) {
  std::vector<std::string> words = {"import", "--out", scene.bundle().string()};
  words.insert(words.end(), more.begin(), more.end());
  return scene.nl_stage(words);
}

}  // namespace nl::test
