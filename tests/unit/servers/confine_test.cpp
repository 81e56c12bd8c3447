#include "servers/confine.h"

#include <filesystem>
#include <fstream>

#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

namespace {

namespace fs = std::filesystem;
using nl::servers::within_root;

bool refused(const fs::path& root, const std::string& path) {
  try {
    within_root(root, path);
  } catch (const nl::Error& error) {
    return error.kind == nl::ErrorKind::kUsage && !error.fix.empty();
  }
  return false;
}

}  // namespace

TEST_CASE("servers confine: a place below the root is resolved, also one that is not there yet") {
  const nl::test::Folder folder;
  fs::create_directories(folder.path / "root/runs");
  const fs::path root = fs::canonical(folder.path / "root");
  CHECK(within_root(root, "runs") == root / "runs");
  CHECK(within_root(root, "runs/new/one") == root / "runs/new/one");
  CHECK(within_root(root, (root / "runs").string()) == root / "runs");
  CHECK(within_root(root, ".") == root);
  CHECK(within_root(root, "runs/../runs") == root / "runs");
}

TEST_CASE("servers confine: what lies outside is refused, by whatever way it is named") {
  const nl::test::Folder folder;
  fs::create_directories(folder.path / "root");
  fs::create_directories(folder.path / "root-of-another");
  std::ofstream(folder.path / "secret") << "x";
  fs::create_symlink(folder.path / "secret", folder.path / "root/link");
  fs::create_directory_symlink(folder.path, folder.path / "root/up");
  const fs::path root = folder.path / "root";
  CHECK(refused(root, ".."));
  CHECK(refused(root, "../secret"));
  CHECK(refused(root, "/etc/passwd"));
  CHECK(refused(root, "link"));
  CHECK(refused(root, "up/secret"));
  CHECK(refused(root, (folder.path / "root-of-another").string()));  // begins with the same letters
  CHECK(refused(root, std::string("a\0b", 3)));
}
