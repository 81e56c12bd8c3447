#include "orchestrator/config/conf_files.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "model/error.h"
#include "orchestrator/config/knowledge.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

namespace fs = std::filesystem;
using namespace nl::orchestrator;
using nl::test::FakeTree;
using nl::test::read_text;

namespace {}  // namespace

TEST_CASE("what is built in is conf/, byte for byte") {
  const fs::path conf = NL_SOURCE_ROOT "/conf";
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(conf)) files += entry.path().extension() == ".yaml";
  CHECK(kBuiltInConf.size() == files);
  for (const auto& file : kBuiltInConf) {
    INFO(file.path);
    CHECK(file.text == read_text(conf / file.path));
  }
}

TEST_CASE("without any folder on disk everything shipped is found, and named as built in") {
  const ConfFiles alone({});
  const auto deep = alone.find("runner/deep.yaml");
  REQUIRE(deep);
  CHECK(deep->name() == "conf/runner/deep.yaml (built in)");
  CHECK(deep->text() == read_text(NL_SOURCE_ROOT "/conf/runner/deep.yaml"));
  CHECK_FALSE(alone.find("runner/none.yaml"));
  CHECK(alone.all_in("device").size() >= 20);
  const nl::Rules rules = load_rules(alone.all_in("rules"), {});
  CHECK(rules.list.size() == load_rules(shipped_rules(), {}).list.size());
  CHECK(rules.list.size() > 10);
  CHECK(rules.list.front().file == "conf/rules/host.yaml (built in)");
}

TEST_CASE("a file on disk wins over the built-in one of the same name, the first folder over the next") {
  const FakeTree first, second;
  first.write("rules/host.yaml", "mine");
  second.write("rules/host.yaml", "other");
  second.write("rules/zz_more.yaml", "more");
  second.write("rules/notes.txt", "no rules");
  const ConfFiles files({first.root(), second.root()});
  const auto host = files.find("rules/host.yaml");
  REQUIRE(host);
  CHECK(host->text() == "mine");
  CHECK(host->name() == (first.root() / "rules/host.yaml").string());
  CHECK(host->name_in_conf() == "conf/rules/host.yaml");
  const auto all = files.all_in("rules");
  CHECK(all.size() == ConfFiles({}).all_in("rules").size() + 1);
  CHECK(all.front().text() == "mine");
  CHECK(all.back().text() == "more");
  CHECK(std::is_sorted(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.relative < b.relative; }));
  ConfFiles asked = files;
  asked.ask_first(second.root());
  CHECK(asked.find("rules/host.yaml")->text() == "other");
}

TEST_CASE("a file that cannot be read says so") {
  const FakeTree tree;
  CHECK_THROWS_AS(file_on_disk(tree.root()).text(), nl::Error);
  CHECK_THROWS_AS(file_on_disk(tree.root() / "none.yaml").text(), nl::Error);
}
