#include "tests/unit/runs/ledger/postgresql_server.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "model/error.h"
#include "runs/ledger/connection.h"

namespace fs = std::filesystem;

namespace nl::test {
namespace {

// Debian: /usr/lib/postgresql/15/bin
fs::path postgresql_programs() {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& version : fs::directory_iterator("/usr/lib/postgresql", ignored))
    if (fs::exists(version.path() / "bin" / "initdb", ignored) && fs::exists(version.path() / "bin" / "postgres", ignored))
      found.push_back(version.path() / "bin");
  return found.empty() ? fs::path() : *std::max_element(found.begin(), found.end());
}

const passwd* server_user() {
  const passwd* user = getpwnam("postgres");
  return user != nullptr ? user : getpwnam("nobody");
}

// In a child: another user where this one is root, quiet, and ended with its parent.
[[noreturn]] void become(const std::vector<std::string>& words, const fs::path& log) {
  if (getuid() == 0) {
    const passwd* user = server_user();
    if (user == nullptr || setgroups(0, nullptr) != 0 || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0) _exit(126);
  }
  prctl(PR_SET_PDEATHSIG, SIGINT);
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(out, 1);
  dup2(out, 2);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  setenv("LC_ALL", "C", 1);
  execv(argv[0], argv.data());
  _exit(127);
}

pid_t started(const std::vector<std::string>& words, const fs::path& log) {
  const pid_t child = fork();
  if (child == 0) become(words, log);
  return child;
}

}  // namespace

PostgresqlServer::PostgresqlServer() : programs_(postgresql_programs()) {
  if (programs_.empty()) {
    why_not = "PostgreSQL is not installed (Debian: postgresql)";
    return;
  }
  const passwd* user = server_user();
  if (getuid() == 0 && (user == nullptr || chown(folder_.path.c_str(), user->pw_uid, user->pw_gid) != 0)) {
    why_not = "there is no user to run PostgreSQL as";
    return;
  }
  int status = 0;
  waitpid(started({programs_ / "initdb", "-D", folder_ / "data", "-U", "nl", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"},
                  folder_ / "log"),
          &status, 0);
  if (status != 0) why_not = "initdb failed: " + read_text(folder_ / "log");
  else start();
}

PostgresqlServer::~PostgresqlServer() { stop(SIGINT); }

void PostgresqlServer::start() {
  pid_ = started({programs_ / "postgres", "-D", folder_ / "data", "-k", folder_.path, "-c", "listen_addresses=", "-c", "fsync=off", "-c",
                  "max_connections=20"},
                 folder_ / "log");
  for (int tries = 0; tries < 600; ++tries) {
    try {
      runs::database::open_postgresql(url());
      return;
    } catch (const Error& error) {
      if (error.kind == ErrorKind::kTool) {  // built without it, or no libpq here
        why_not = error.message;
        return stop(SIGINT);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  why_not = "PostgreSQL does not answer: " + read_text(folder_ / "log");
  stop(SIGINT);
}

void PostgresqlServer::stop(int signal) {
  if (pid_ <= 0) return;
  kill(pid_, signal);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

std::string PostgresqlServer::url(const std::string& database) const {
  return "postgresql:///" + database + "?host=" + folder_.path.string() + "&user=nl";
}

std::string PostgresqlServer::new_database() const {
  static int number = 0;
  const std::string name = "ledger" + std::to_string(++number);
  runs::database::open_postgresql(url())->run("CREATE DATABASE " + name);
  return url(name);
}

PostgresqlServer& shared_postgresql() {
  static PostgresqlServer server;
  return server;
}

}  // namespace nl::test
