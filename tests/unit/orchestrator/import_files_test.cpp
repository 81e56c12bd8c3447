// Which files an import takes, of those that it is pointed at.
#include "orchestrator/import.h"

#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"
#include "tests/unit/parsers/collector/counter_file.h"

namespace fs = std::filesystem;
using namespace nl;
using namespace nl::orchestrator;
using TakenFiles = decltype(ImportRequest::files);
using Paths = std::vector<fs::path>;

namespace {

const std::string kExport = nl::test::kProbe + "probe_node.sqlite", kPage = nl::test::kProbe + "ncu_prefill_raw.csv";

TakenFiles added(const Paths& paths) {
  ImportRequest request;
  for (const auto& path : paths) add_input(path, request);
  return request.files;
}

std::string not_taken(const Paths& paths) {
  try {
    added(paths);
  } catch (const Error& error) {
    return (error.kind == ErrorKind::kUsage   ? "usage: "
            : error.kind == ErrorKind::kInput ? "input: "
                                              : "?: ") +
           error.message + " | " + error.where + " | " + error.fix;
  }
  return "";
}

struct BundleTree : test::FakeTree {
  BundleTree() { write("b/run.json", "{}"); }
  fs::path path(const char* name) const { return root() / "b" / name; }
  fs::path put(const char* name, const std::string& text = "x") const { return write(std::string("b/") + name, text); }
};

}  // namespace

TEST_CASE("import takes files by what is in them") {
  test::FakeTree tree;
  const fs::path trace = tree.write("t", test::CounterFile().thread(7).whole()), report = tree.write("r.nsys-rep", "x");
  CHECK(added({kPage, kExport, trace}) == TakenFiles{{"ncu", {kPage}}, {"nsys", {kExport}}, {"collector", {trace}}});
  CHECK(added({report}) == TakenFiles{{"nsys", {report}}});
  CHECK(added({kPage, kPage}) == TakenFiles{{"ncu", {kPage, kPage}}});         // as many as there are; twins are refused later
  CHECK(added({kExport, report}) == TakenFiles{{"nsys", {kExport, report}}});  // ranks of one run, as far as their names tell
  const fs::path notes = tree.write("notes.txt", "hello");
  CHECK(not_taken({notes}) == "input: no format that nl-stage reads | " + notes.string() + " | give " + known_formats());
  const fs::path packed = tree.write("t.gz", "\x1f\x8b\x08"), archive = tree.write("my runs", "\x28\xb5\x2f\xfd");
  CHECK(not_taken({packed}) ==
        "input: no format that nl-stage reads | " + packed.string() + " | unpack it first: gunzip --keep " + packed.string());
  CHECK(not_taken({archive}) == "input: no format that nl-stage reads | " + archive.string() +
                                    " | an archive of nl-stage export: nl-stage import-bundle '" + archive.string() + "'");
  CHECK(not_taken({tree.root() / "none"}) ==
        "input: there is no such file or folder | " + (tree.root() / "none").string() + " | give the path of a capture");
}

TEST_CASE("import takes of a folder what it knows, and refuses one without") {
  test::FakeTree tree;
  fs::create_directories(tree.root() / "f/below");
  fs::copy_file(kExport, tree.root() / "f/b.db");
  fs::copy_file(kPage, tree.root() / "f/c.txt");
  fs::copy_file(kPage, tree.root() / "f/a.txt");
  fs::copy_file(kPage, tree.root() / "f/below/d.txt");
  tree.write("f/notes.md", "hello");
  CHECK(added({tree.root() / "f"}) ==
        TakenFiles{{"ncu", {tree.root() / "f/a.txt", tree.root() / "f/c.txt"}}, {"nsys", {tree.root() / "f/b.db"}}});
  fs::copy_file(kExport, tree.root() / "f/b.sqlite");
  tree.write("f/b.nsys-rep", "x");  // whose export it is
  CHECK(added({tree.root() / "f"})["nsys"] == std::vector<fs::path>{tree.root() / "f/b.db", tree.root() / "f/b.sqlite"});
  tree.write("empty/notes.md", "hello");
  const std::string empty = "input: the folder has no capture in it | " + (tree.root() / "empty").string() +
                            " | give the folder that holds the exports, or the files themselves";
  CHECK(not_taken({tree.root() / "empty"}) == empty);
  CHECK(not_taken({kExport, tree.root() / "empty"}) == empty);  // also beside one that has
}

TEST_CASE("import takes of a bundle what its passes left") {
  const BundleTree bundle;
  const auto all = [&] { return added({bundle.root() / "b"}); };
  const fs::path trace = bundle.put("collector/w.7.nltrace", test::CounterFile().thread(7).whole());
  bundle.put("collector/cmd.txt", "./w\n");
  CHECK(all() == TakenFiles{{"collector", {trace}}});
  const fs::path report = bundle.put("nsys/run.nsys-rep");
  CHECK(all() == TakenFiles{{"nsys", {report}}});
  const fs::path sqlite = bundle.put("nsys/run.sqlite");
  CHECK(all() == TakenFiles{{"nsys", {sqlite}}});
  const fs::path raw = bundle.put("ncu/raw.csv");
  CHECK(all() == TakenFiles{{"nsys", {sqlite}}, {"ncu", {raw}}});
  const fs::path first = bundle.put("ncu/first-raw.csv"), second = bundle.put("counters/kernels-2/c.nltrace");
  const fs::path stages = bundle.put("counters/stages/a.nltrace"), kernels = bundle.put("counters/kernels/b.nltrace");
  bundle.put("ncu/details.csv");
  bundle.put("counters/kernels.txt");
  CHECK(all() == TakenFiles{{"nsys", {sqlite}}, {"ncu", {first, raw}}, {"counters", {stages, kernels, second}}});
  ImportRequest request;
  add_input(bundle.root() / "b", request);
  CHECK(request.operators == bundle.root() / "b/operators");
  CHECK(request.facts == bundle.root() / "b/facts");
  const fs::path stacks = bundle.put("facts/stacks-7.txt", "nl-stage stacks\t1\n");
  bundle.put("facts/facts-7.json", "{}");
  CHECK(all() == TakenFiles{{"nsys", {sqlite}}, {"ncu", {first, raw}}, {"counters", {stages, kernels, second}}, {"stacks", {stacks}}});
}
