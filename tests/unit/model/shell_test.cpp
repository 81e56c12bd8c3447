#include "model/shell.h"

#include "tests/catch.h"

using namespace nl;

TEST_CASE("words are quoted for the shell") {
  CHECK(shell_quoted("--a=b/c.d,e:f@g%h+1") == "--a=b/c.d,e:f@g%h+1");
  CHECK(shell_quoted("") == "''");
  CHECK(shell_quoted("a b") == "'a b'");
  CHECK(shell_quoted("*") == "'*'");
}

TEST_CASE("a command is quoted for the shell") {
  CHECK(shell_quoted({"python", "a b.py", "it's", "", "--x=1,2"}) == "python 'a b.py' 'it'\\''s' '' --x=1,2");
}

TEST_CASE("a command that captures again has the workload that is known") {
  CHECK(nl::run_again({"--config", "cupti"}, {"python", "my llm.py"}) == "nl-stage run --config cupti -- python 'my llm.py'");
  CHECK(nl::run_again({"--config", "cupti"}, {"/opt/nl-stage", "session", "--backend", "libtorch", "--model", "m.pt"}, true) ==
        "nl-stage run --config cupti --backend libtorch --model m.pt");
  CHECK(nl::run_again({}, {}) == "nl-stage run -- ./your_workload");
}
