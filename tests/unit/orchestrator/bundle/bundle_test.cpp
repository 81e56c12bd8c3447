#include "orchestrator/bundle/bundle.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "model/error.h"
#include "orchestrator/bundle/sha256.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

namespace fs = std::filesystem;
using nl::orchestrator::Bundle;
using nl::test::Folder;
using nl::test::read_text;

namespace {

// 2026-11-15 01:02:03 UTC
const auto kNow = std::chrono::system_clock::from_time_t(1794704523);

nl::Error refusal(const Bundle::Request& request) {
  try {
    Bundle::create(request, kNow);
  } catch (const nl::Error& error) {
    return error;
  }
  FAIL("the bundle was made");
  throw;
}

}  // namespace

TEST_CASE("no other user may read a bundle, whatever the umask, and what the tools write is closed with the manifest") {
  Folder folder;
  const mode_t before = umask(0);
  const Bundle made = Bundle::create({folder / "runs", {}, "a", "light"}, kNow);
  fs::create_directories(folder / "given");
  const Bundle given = Bundle::create({{}, folder / "given", "a", "light"}, kNow);
  for (const Bundle* bundle : {&made, &given}) {
    CHECK(fs::status(bundle->path()).permissions() == fs::perms::owner_all);
    fs::create_directories(bundle->path() / "nsys");
    std::ofstream(bundle->path() / "nsys/run.nsys-rep") << "TOKEN=hunter2";
    bundle->write_manifest({});
    for (const auto& entry : fs::recursive_directory_iterator(bundle->path())) {
      INFO(entry.path());
      CHECK((entry.status().permissions() & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none);
    }
  }
  umask(before);
}

TEST_CASE("a bundle's folder says when, what and how, and never takes another's place") {
  Folder folder;
  const Bundle first = Bundle::create({folder.path / "runs", {}, "llama 8b/x", "deep"}, kNow);
  const Bundle second = Bundle::create({folder.path / "runs", {}, "llama 8b/x", "deep"}, kNow);
  CHECK(first.path().filename() == "20261115-010203-llama-8b-x-deep");
  CHECK(second.path().filename() == "20261115-010203-llama-8b-x-deep-2");
  CHECK(first.run_id().starts_with("20261115-010203-llama-8b-x-deep-"));
  CHECK(first.run_id().size() == std::string("20261115-010203-llama-8b-x-deep-").size() + 8);
  CHECK(first.created_at() == "2026-11-15T01:02:03Z");
  CHECK(fs::is_directory(first.path() / "logs"));
}

TEST_CASE("no two runs share an id, though they begin in one second and their folders have one name") {
  Folder here, there;
  std::set<std::string> ids;
  for (const Folder* machine : {&here, &there})
    for (int i = 0; i < 20; ++i) ids.insert(Bundle::create({machine->path, {}, "x", "deep"}, kNow).run_id());
  CHECK(ids.size() == 40);
}

TEST_CASE("a time in UTC has milliseconds where there are any") {
  using std::chrono::milliseconds;
  CHECK(nl::utc_text(kNow) == "2026-11-15T01:02:03Z");
  CHECK(nl::utc_text(kNow + milliseconds(50)) == "2026-11-15T01:02:03.050Z");
  CHECK(nl::utc_text(std::chrono::system_clock::time_point(milliseconds(-1))) == "1969-12-31T23:59:59.999Z");
}

TEST_CASE("--out is the bundle itself, and must be absent or empty") {
  Folder folder;
  const fs::path out = folder.path / "mine";
  const Bundle bundle = Bundle::create({folder.path, out, "x", "light"}, kNow);
  CHECK(bundle.path() == out);
  CHECK(bundle.run_id().starts_with("20261115-010203-x-light-"));
  const auto taken = refusal({folder.path, out, "x", "light"});
  CHECK(taken.kind == nl::ErrorKind::kOutput);
  CHECK(taken.message.find("not empty") != std::string::npos);
  CHECK(taken.fix.find("--out") != std::string::npos);
  fs::create_directories(folder.path / "empty");
  CHECK(Bundle::create({folder.path, folder.path / "empty", "x", "light"}, kNow).path() == folder.path / "empty");
}

TEST_CASE("a file in the way of the output folder is an output error") {
  Folder folder;
  std::ofstream(folder.path / "file") << "x";
  CHECK(refusal({folder.path, folder.path / "file", "x", "deep"}).kind == nl::ErrorKind::kOutput);
  CHECK(refusal({folder.path / "file", {}, "x", "deep"}).kind == nl::ErrorKind::kOutput);
  CHECK(refusal({folder.path, folder.path / "file" / "below", "x", "deep"}).kind == nl::ErrorKind::kOutput);
}

TEST_CASE("a read-only output folder is an output error") {
  Folder folder;
  const fs::path closed = folder.path / "closed";
  fs::create_directories(closed);
  fs::permissions(closed, fs::perms::owner_read | fs::perms::owner_exec);
  if (access(closed.c_str(), W_OK) == 0) {
    // root may write anywhere; /proc refuses even root.
    CHECK(refusal({"/proc/nl-stage-runs", {}, "x", "deep"}).kind == nl::ErrorKind::kOutput);
  } else {
    CHECK(refusal({closed, {}, "x", "deep"}).kind == nl::ErrorKind::kOutput);
  }
  fs::permissions(closed, fs::perms::owner_all);
}

TEST_CASE("files are written whole or not at all") {
  Folder folder;
  const fs::path file = folder.path / "data.txt";
  nl::orchestrator::write_file_whole(file, "old");
  // The closest to a full disk that needs no rights: files may not grow beyond 4 KiB.
  rlimit before = {}, tight = {};
  getrlimit(RLIMIT_FSIZE, &before);
  tight = {4096, before.rlim_max};
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &tight);
  std::string message, where;
  try {
    nl::orchestrator::write_file_whole(file, std::string(100000, 'n'));
  } catch (const nl::Error& error) {
    CHECK(error.kind == nl::ErrorKind::kOutput);
    where = error.where;
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(where.find("data.txt") != std::string::npos);
  CHECK(where.find("MiB free") != std::string::npos);
  CHECK(read_text(file) == "old");
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 1);
}

TEST_CASE("the manifest lists every file with its size and sha256") {
  Folder folder;
  const Bundle bundle = Bundle::create({folder.path, {}, "x", "deep"}, kNow);
  bundle.write("run.json", "{}\n");
  bundle.write("nsys/cmd.txt", "nsys profile\n");
  bundle.write("nsys/big.bin", std::string(3'000'000, 'b'));
  nl::Run run;
  run.run_id = bundle.run_id();
  run.status = nl::RunStatus::kPartial;
  run.software.nsys_version = "2025.3.1";
  run.provenance.passes.push_back({nl::PassKind::kNsys, {"nsys"}, 3, 1'500'000'000, nl::PassOutcome::kFailed, "", {}});
  bundle.write_manifest(run);
  const auto manifest = nlohmann::json::parse(read_text(bundle.path() / "manifest.json"));
  CHECK(manifest["status"] == "partial");
  CHECK(manifest["tools"]["nsys"] == "2025.3.1");
  CHECK(manifest["tools"]["ncu"].is_null());
  CHECK(manifest["passes"][0]["exit_status"] == 3);
  CHECK(manifest["passes"][0]["duration_s"] == 1.5);
  std::vector<std::string> paths;
  for (const auto& file : manifest["files"]) {
    paths.push_back(file["path"]);
    const std::string bytes = read_text(bundle.path() / paths.back());
    CHECK(file["size_bytes"] == bytes.size());
    CHECK(file["sha256"] == nl::orchestrator::sha256_file(bundle.path() / paths.back()));
  }
  CHECK(paths == std::vector<std::string>{"config.yaml", "nsys/big.bin", "nsys/cmd.txt", "run.json"});
}
