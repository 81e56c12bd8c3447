#include "orchestrator/config/ledger_location.h"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>

#include "model/error.h"
#include "orchestrator/config/config.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

using namespace nl::orchestrator;

namespace {

// Variables of the environment, put back as they were.
class Variables {
 public:
  void set(const std::string& name, const char* value) {
    if (!before_.contains(name))
      before_[name] = std::getenv(name.c_str()) ? std::optional<std::string>(std::getenv(name.c_str())) : std::nullopt;
    value ? setenv(name.c_str(), value, 1) : unsetenv(name.c_str());
  }
  ~Variables() {
    for (const auto& [name, value] : before_) value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
  }

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace

TEST_CASE("ledger: its place is the one asked for, else the variable's, else the user's data folder") {
  Variables variables;
  variables.set("NL_STAGE_LEDGER", "/team/ledger.sqlite");
  CHECK(ledger_location("/mine/l.sqlite") == "/mine/l.sqlite");
  CHECK(ledger_location("postgresql://db/runs") == "postgresql://db/runs");
  CHECK(ledger_location("off").empty());
  CHECK(ledger_location("a/../l.sqlite") == std::filesystem::current_path() / "l.sqlite");
  CHECK(ledger_location("") == "/team/ledger.sqlite");
  variables.set("NL_STAGE_LEDGER", "off");
  CHECK(ledger_location("").empty());
  variables.set("NL_STAGE_LEDGER", nullptr);
  variables.set("XDG_DATA_HOME", "/home/me/data");
  CHECK(ledger_location("") == "/home/me/data/nl-stage/ledger.sqlite");
  variables.set("XDG_DATA_HOME", "relative");
  variables.set("HOME", "/home/me");
  CHECK(ledger_location("") == "/home/me/.local/share/nl-stage/ledger.sqlite");
  variables.set("HOME", nullptr);
  CHECK(ledger_location("").empty());
}

TEST_CASE("ledger: the password of a URL is shown nowhere") {
  CHECK(without_password("postgresql://me:secret@host:5432/runs?sslmode=require") == "postgresql://me@host:5432/runs?sslmode=require");
  CHECK(without_password("postgres://host/runs?password=secret&user=me") == "postgres://host/runs?user=me");
  CHECK(without_password("postgresql:///runs?user=me&password=secret") == "postgresql:///runs?user=me");
  CHECK(without_password("/a:b@c/ledger.sqlite") == "/a:b@c/ledger.sqlite");
  const Config config =
      load_config({.runner_file = "light", .sets = {"ledger.path=postgresql://me:secret@host/runs"}, .command = {"true"}});
  CHECK(config.ledger.path == "postgresql://me:secret@host/runs");
  CHECK(nl::test::has(config.composed_yaml, "path: \"postgresql://me@host/runs\""));
  CHECK_FALSE(nl::test::has(config.composed_yaml, "secret"));
}
