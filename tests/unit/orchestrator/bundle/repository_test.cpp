#include "orchestrator/bundle/provenance.h"

#include "tests/catch.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

namespace fs = std::filesystem;
using namespace nl::orchestrator;

namespace {

const std::string kCommit(40, 'a'), kOther(40, 'b');

void make_repository(const nl::test::FakeTree& tree, const std::string& name, const std::string& commit) {
  tree.write(name + "/.git/HEAD", commit + "\n");
}

}  // namespace

TEST_CASE("repository: the commit of a branch, of a packed one, of a detached head") {
  const nl::test::FakeTree tree;
  tree.write("r/.git/HEAD", "ref: refs/heads/main\n");
  CHECK(revision_of(tree.root() / "r").empty());  // no commit yet
  tree.write("r/.git/packed-refs", "# pack-refs with: peeled\n" + kOther + " refs/heads/other\n" + kCommit + " refs/heads/main\n");
  CHECK(revision_of(tree.root() / "r") == kCommit);
  tree.write("r/.git/refs/heads/main", kOther + "\n");
  CHECK(revision_of(tree.root() / "r") == kOther);
  make_repository(tree, "r", std::string(64, 'c'));  // SHA-256 names
  CHECK(revision_of(tree.root() / "r") == std::string(64, 'c'));
  make_repository(tree, "r", "no commit at all");
  CHECK(revision_of(tree.root() / "r").empty());
}

TEST_CASE("repository: a worktree's branch is kept in the main one") {
  const nl::test::FakeTree tree;
  tree.write("main/.git/worktrees/w/HEAD", "ref: refs/heads/x\n");
  tree.write("main/.git/worktrees/w/commondir", "../..\n");
  tree.write("main/.git/refs/heads/x", kCommit + "\n");
  tree.write("w/.git", "gitdir: " + (tree.root() / "main/.git/worktrees/w").string() + "\n");
  CHECK(revision_of(tree.root() / "w") == kCommit);
}

TEST_CASE("repository: that of the script comes before that of where it is started") {
  const nl::test::FakeTree tree;
  make_repository(tree, "code", kCommit);
  make_repository(tree, "here", kOther);
  tree.write("code/a/gen.py", "");
  tree.write("loose.py", "");
  WorkloadOptions options;
  options.working_directory = (tree.root() / "here").string();
  options.command = {"python3", "../loose.py"};
  CHECK(repository_of(options)->revision == kOther);  // a script in no repository
  options.command = {"torchrun", "--nproc-per-node=2", "../code/a/gen.py", "--out", "absent.py"};
  CHECK(repository_of(options)->path == (tree.root() / "code").string());
  CHECK(repository_of(options)->revision == kCommit);
  CHECK(repository_of(options)->modified == std::nullopt);  // git does not take this for a repository
  options.command = {(tree.root() / "code/a/run").string()};
  CHECK(repository_of(options)->revision == kCommit);
  CHECK(repository_above(tree.root() / "code/a/gen.py") == tree.root() / "code");
}
