#include "orchestrator/bundle/files.h"

#include <sys/stat.h>

#include "model/error.h"
#include "orchestrator/bundle/sha256.h"
#include "tests/catch.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

namespace fs = std::filesystem;
using namespace nl::orchestrator;

namespace {

// Of "abc" and of nothing, as FIPS 180-4 has them.
const std::string kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const std::string kNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

WorkloadOptions with_inputs(const nl::test::FakeTree& tree, std::vector<std::string> inputs) {
  WorkloadOptions workload;
  workload.working_directory = tree.root().string();
  workload.inputs = std::move(inputs);
  return workload;
}

std::string refused(const WorkloadOptions& workload) {
  try {
    read_inputs(workload);
  } catch (const nl::Error& error) {
    CHECK(error.kind == nl::ErrorKind::kConfig);
    return error.message + " | " + error.where;
  }
  return "";
}

}  // namespace

TEST_CASE("inputs: each with its size and digest, relative to where the workload is started") {
  if (libcrypto() == nullptr) NL_SKIP("this machine has no libcrypto");
  const nl::test::FakeTree tree;
  tree.write("b: c", "abc");
  tree.write("empty", "");
  const auto absolute = (tree.root() / "empty").string();
  CHECK(inputs_yaml(read_inputs(with_inputs(tree, {"b: c", absolute}))) ==
        "count: 2\ninputs:\n  - path: \"b: c\"\n    size_bytes: 3\n    sha256: " + kAbc + "\n  - path: " + absolute +
            "\n    size_bytes: 0\n    sha256: " + kNothing + "\n");
}

// The digest is what the command of inputs.h prints for the same folder.
TEST_CASE("inputs: a folder is its listing, links to files followed, in one order") {
  if (libcrypto() == nullptr) NL_SKIP("this machine has no libcrypto");
  const nl::test::FakeTree tree;
  tree.write("prompts/b.txt", "abc");
  tree.write("prompts/a/z.txt", "");
  fs::create_symlink("b.txt", tree.root() / "prompts" / "link");
  fs::create_symlink("nowhere", tree.root() / "prompts" / "dangling");
  const auto inputs = read_inputs(with_inputs(tree, {"prompts"}));
  CHECK(inputs.at(0).files == 3u);
  CHECK(inputs.at(0).size_bytes == 6u);
  CHECK(inputs.at(0).sha256 == "5f588dbfe295de49b7e67582cc091246563b0f0e98dc15915a47af876e07430a");
  CHECK(nl::orchestrator::inputs_yaml(inputs).ends_with("\n    files: 3\n"));
}

TEST_CASE("inputs: what is not there, or is no file, is refused with its place") {
  const nl::test::FakeTree tree;
  tree.write("there", "");
  CHECK(refused(with_inputs(tree, {"there", "absent.txt"})) ==
        "an input of the workload is not there | " + (tree.root() / "absent.txt").string());
  REQUIRE(mkfifo((tree.root() / "pipe").c_str(), 0600) == 0);
  CHECK(refused(with_inputs(tree, {"pipe"})) ==
        "an input of the workload is neither a file nor a folder | " + (tree.root() / "pipe").string());
}

TEST_CASE("inputs: of captures made elsewhere only the names are known") {
  const nl::test::FakeTree tree;
  CHECK(inputs_yaml(name_inputs(with_inputs(tree, {"absent.txt"}))) == "count: 1\ninputs:\n  - path: absent.txt\n");
  CHECK(inputs_yaml({}).find("count: 0") != std::string::npos);
}
