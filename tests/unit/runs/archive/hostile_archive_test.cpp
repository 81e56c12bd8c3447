// Archives that are damaged, cut, changed, or made to do harm. None of them leaves anything behind.
#include <algorithm>

#include "model/error.h"
#include "runs/archive/archive.h"
#include "runs/ledger/ledger.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/runs/archive/crafted_archive.h"

using namespace nl;
using runs::ArchiveLimits;
using test::CraftedEntry, test::Folder, test::has, test::list_of, test::paths_below, test::read_text, test::sound_entries,
    test::write_crafted;

namespace {

struct ArchiveScene : Folder {
  std::filesystem::path archive() const { return path / "runs.nlz"; }
  runs::ImportBundleResult import(const ArchiveLimits& limits = {}) const {
    return runs::import_bundle({archive(), path / "out/bundles", (path / "ledger.sqlite").string(), limits});
  }
  // "what | where", with nothing left behind: no folder that was made, no ledger.
  std::string refused(const ArchiveLimits& limits = {}) const {
    std::string words = "imported";
    try {
      import(limits);
    } catch (const Error& error) {
      CHECK(error.kind == ErrorKind::kInput);
      words = error.message + " | " + error.where;
    }
    CHECK(paths_below(path) == std::vector<std::string>{"runs.nlz"});
    CHECK_FALSE(std::filesystem::exists(path / "out"));
    return words;
  }
  std::string refused(const std::vector<CraftedEntry>& entries, const ArchiveLimits& limits = {}) const {
    write_crafted(archive(), entries);
    return refused(limits);
  }
};

// Listed as if it were in order, so that only the entry itself can be refused.
std::vector<CraftedEntry> with_entry(CraftedEntry extra) {
  std::vector<CraftedEntry> entries = sound_entries();
  entries.push_back(std::move(extra));
  return entries;
}

std::vector<CraftedEntry> with_listed(CraftedEntry extra) {
  std::vector<CraftedEntry> files = sound_entries();
  files.erase(files.begin());
  files.push_back(std::move(extra));
  files.insert(files.begin(), list_of(files));
  return files;
}

}  // namespace

TEST_CASE("archive: one that is in order is imported") {
  const ArchiveScene scene;
  write_crafted(scene.archive(), sound_entries());
  const auto result = scene.import();
  REQUIRE(result.bundles.size() == 1);
  CHECK(result.bundles[0].folder == scene.path / "out/bundles/run-1");
  CHECK(result.bundles[0].recorded);
  CHECK(paths_below(scene / "out") ==
        std::vector<std::string>{"bundles/run-1/manifest.json", "bundles/run-1/report.md", "bundles/run-1/run.json"});
  CHECK(runs::Ledger::open((scene / "ledger.sqlite").string()).resolve("run-1").bundle == scene.path / "out/bundles/run-1");
}

TEST_CASE("archive: a file that was changed is named") {
  const ArchiveScene scene;
  auto entries = sound_entries();
  entries[2].text = "# forged\n";  // as long as before
  CHECK(has(scene.refused(entries), "not what the list says | " + scene.archive().string() + ": run-1/report.md"));
  entries[2].text = "# longer than it was\n";
  CHECK(has(scene.refused(entries), "run-1/report.md"));
}

TEST_CASE("archive: a byte changed anywhere is found") {
  const ArchiveScene scene;
  write_crafted(scene.archive(), sound_entries());
  const std::string bytes = read_text(scene.archive());
  REQUIRE(bytes.size() > 400);
  for (std::size_t at = 16; at + 8 < bytes.size(); at += bytes.size() / 20) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    scene.file("runs.nlz", damaged);
    INFO(at);
    CHECK(scene.refused() != "imported");
  }
}

TEST_CASE("archive: cut short anywhere, it is refused") {
  const ArchiveScene scene;
  write_crafted(scene.archive(), sound_entries());
  const std::string bytes = read_text(scene.archive());
  for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{40}, bytes.size() / 2, bytes.size() * 9 / 10}) {
    scene.file("runs.nlz", bytes.substr(0, size));
    INFO(size);
    CHECK(has(scene.refused(), scene.archive().string()));
  }
}

TEST_CASE("archive: files that are missing at its end are named") {
  const ArchiveScene scene;
  auto entries = sound_entries();
  entries.pop_back();
  CHECK(has(scene.refused(entries), "cut short: a file of its list is missing | " + scene.archive().string() + ": run-1/run.json"));
}

TEST_CASE("archive: half a bundle is refused, also where the list agrees with it") {
  const ArchiveScene scene;
  auto entries = sound_entries();
  std::vector<CraftedEntry> half = {entries[1], entries[3]};  // the manifest tells of report.md
  half.insert(half.begin(), list_of(half));
  CHECK(has(scene.refused(half), "half a bundle: a file of its manifest is missing | " + scene.archive().string() + ": run-1/report.md"));
  std::vector<CraftedEntry> no_run = {entries[1], entries[2]};
  no_run.insert(no_run.begin(), list_of(no_run));
  CHECK(has(scene.refused(no_run), "there is no run.json | " + scene.archive().string() + ": run-1/run.json"));
  std::vector<CraftedEntry> no_manifest = {entries[2], entries[3]};
  no_manifest.insert(no_manifest.begin(), list_of(no_manifest));
  CHECK(has(scene.refused(no_manifest), "has no manifest.json"));
  std::vector<CraftedEntry> empty = {list_of({})};
  CHECK(has(scene.refused(empty), "there is no run.json"));
}

TEST_CASE("archive: no path leads out of the folder") {
  const ArchiveScene scene;
  for (const char* path :
       {"../escaped", "run-1/../../escaped", "/tmp/nl-stage-escaped", "run-1//x", "run-1/./x", "run-1/..", "run-1/a\nb"}) {
    INFO(path);
    CHECK(has(scene.refused(with_entry({path, "x"})), "the archive has a file that "));
    CHECK(has(scene.refused(with_listed({path, "x"})), "the archive has a file that "));
  }
  CHECK(has(scene.refused(with_listed({"elsewhere/x", "x"})), "outside its bundles"));
  CHECK(has(scene.refused(with_listed({"loose", "x"})), "outside its bundles"));
  CHECK_FALSE(std::filesystem::exists("/tmp/nl-stage-escaped"));
}

TEST_CASE("archive: a bundle's folder leads nowhere else, either") {
  const ArchiveScene scene;
  for (const char* folder : {"..", "../up", "/tmp", "a/b", "", "."}) {
    INFO(folder);
    CHECK(scene.refused({list_of({}, {folder})}) != "imported");
  }
  CHECK(has(scene.refused({list_of({}, {"run-1", "run-1"})}), "a bundle twice"));
  CHECK(has(scene.refused({list_of({}, {})}), "has no runs"));
}

TEST_CASE("archive: links, folders and devices are refused") {
  const ArchiveScene scene;
  CHECK(has(scene.refused(with_entry({"run-1/link", "", 0120000, "/etc/passwd"})),
            "a symbolic link in it | " + scene.archive().string() + ": run-1/link"));
  CHECK(has(scene.refused(with_listed({"run-1/link", "", 0120000, "../.."})), "a symbolic link"));
  CHECK(has(scene.refused(with_listed({"run-1/hard", "", 0100000, "", "run-1/run.json"})), "a hard link"));
  CHECK(has(scene.refused(with_listed({"run-1/folder", "", 0040000})), "the archive has a"));
  CHECK(has(scene.refused(with_listed({"run-1/null", "", 0020000})), "a device, pipe or socket"));
  CHECK(has(scene.refused(with_listed({"run-1/pipe", "", 0010000})), "a device, pipe or socket"));
}

TEST_CASE("archive: a file that is there twice is refused") {
  const ArchiveScene scene;
  CHECK(has(scene.refused(with_entry(sound_entries()[2])),
            "a file twice, or one that is not in its list | " + scene.archive().string() + ": run-1/report.md"));
  CHECK(has(scene.refused(with_listed(sound_entries()[2])), "a file twice"));
  CHECK(has(scene.refused(with_entry({"run-1/extra", "x"})), "not in its list"));
  CHECK(has(scene.refused(with_listed({"run-1/run.json/x", "x"})), "also a folder"));
}

TEST_CASE("archive: a bomb is refused before it is unpacked") {
  const ArchiveScene scene;
  const auto bomb = with_listed({"run-1/zeros", std::string(std::size_t{16} << 20, '\0')});
  CHECK(has(scene.refused(bomb), "more than 1000 to 1"));
  CHECK(has(scene.refused(bomb, {.total_bytes = 1 << 20, .ratio = 1e9}),
            "more than 1048576 bytes | " + scene.archive().string() + ": run-1/zeros"));
  CHECK(has(scene.refused(bomb, {.files = 3}), "the archive has 4 files, more than 3"));
  auto lying = with_listed({"run-1/zeros", "0"});
  lying.back().text = std::string(std::size_t{16} << 20, '\0');  // the list says one byte
  CHECK(has(scene.refused(lying), "not what the list says"));
  write_crafted(scene.archive(), bomb);
  CHECK(scene.import({.ratio = 1e9}).bundles.size() == 1);  // where it is trusted
}

TEST_CASE("archive: the list is held to the same limits, and to bounds of its own") {
  const ArchiveScene scene;
  const std::size_t size = std::size_t{16} << 20;
  const auto list_alone = [](std::string text) { return std::vector<CraftedEntry>{{"archive.json", std::move(text)}}; };
  CHECK(has(scene.refused(list_alone(std::string(size, '['))), "more than 1000 to 1"));
  CHECK(has(scene.refused(list_alone(std::string(size, '[')), {.ratio = 1e9}),
            "the JSON is nested more than 16 deep | " + scene.archive().string() + ": archive.json, byte 17"));
  std::string many = "[";
  while (many.size() < size) many += "[],";
  CHECK(has(scene.refused(list_alone(many + "0]"), {.ratio = 1e9}), "the JSON holds more than 5000000 values"));
}

TEST_CASE("archive: sizes that add up past the largest number are refused") {
  const ArchiveScene scene;
  auto entries = sound_entries();
  const auto replace = [&](const std::string& from, const std::string& to) {
    std::string& list = entries[0].text;
    list.replace(list.find(from), from.size(), to);
  };
  replace("\"size_bytes\": 9", "\"size_bytes\": 18446744073709551615");
  CHECK(has(scene.refused(entries), "bytes | " + scene.archive().string() + ": run-1/report.md"));
  replace("18446744073709551615", "-1");
  CHECK(has(scene.refused(entries),
            "a whole number within its bounds belongs | " + scene.archive().string() + ": archive.json: /files/1/size_bytes"));
  replace("\"size_bytes\": -1", "\"size_bytes\": null");
  CHECK(has(scene.refused(entries), "null where a whole number within its bounds belongs"));
}

TEST_CASE("archive: a word of the list that is not known is named with its place") {
  const ArchiveScene scene;
  auto entries = sound_entries();
  std::string& list = entries[0].text;
  list.replace(list.find("\"source\": \"bundle\""), 18, "\"source\": \"cellar\"");
  CHECK(has(scene.refused(entries), "an unknown word, 'cellar' | " + scene.archive().string() + ": archive.json: /bundles/0/source"));
}

TEST_CASE("archive: the list is written as it always was, and read back") {
  const runs::ArchiveContents contents{
      "2026-11-16T00:00:00Z",
      "0.1.0",
      {true, false, true},
      {{"run-1", "run-1", "llama \"8b\" …", runs::BundleSource::kRunJson, {{"logs/a", runs::LeftOutReason::kLink}}},
       {"run-2", "run-2", ""}},
      {{"run-1/run.json", 18446744073709551615u, std::string(64, 'a')}}};
  const std::string text = runs::contents_text(contents);
  CHECK(text == R"({
  "format": "nl-stage archive",
  "version": 1,
  "created_at": "2026-11-16T00:00:00Z",
  "nl_stage": "0.1.0",
  "redacted": [
    "environment",
    "paths"
  ],
  "bundles": [
    {
      "folder": "run-1",
      "run_id": "run-1",
      "name": "llama \"8b\" …",
      "source": "run.json",
      "left_out": [
        {
          "path": "logs/a",
          "reason": "link"
        }
      ]
    },
    {
      "folder": "run-2",
      "run_id": "run-2",
      "name": "",
      "source": "bundle",
      "left_out": []
    }
  ],
  "files": [
    {
      "path": "run-1/run.json",
      "size_bytes": 18446744073709551615,
      "sha256": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    }
  ]
}
)");
  const runs::ArchiveContents again = runs::read_contents(text, "runs.nlz");
  CHECK(runs::contents_text(again) == text);
  CHECK_FALSE(again.redacted.host);
}

TEST_CASE("archive: what is none of ours is refused") {
  const ArchiveScene scene;
  scene.file("runs.nlz", "just some text, and not even short: it goes on for a while");
  CHECK(has(scene.refused(), "none of nl-stage's"));
  CHECK(has(scene.refused({{"photo.jpg", "x"}}), "does not begin with archive.json"));
  CHECK(has(scene.refused({{"archive.json", "{"}}), "list is damaged"));
  CHECK(has(scene.refused({{"archive.json", "{\"format\": \"other\"}"}}), "no archive of nl-stage"));
  CHECK(has(scene.refused({{"archive.json", "{\"format\": \"nl-stage archive\", \"version\": 2}"}}), "has version 2"));
  auto entries = sound_entries();
  std::rotate(entries.begin(), entries.begin() + 1, entries.end());  // the list comes last
  CHECK(has(scene.refused(entries), "does not begin with archive.json"));
}

TEST_CASE("archive: a bundle of another run than the list says is refused") {
  const ArchiveScene scene;
  auto entries = sound_entries();
  entries[0].text.replace(entries[0].text.find("\"run_id\": \"run-1\""), 17, "\"run_id\": \"run-2\"");
  CHECK(has(scene.refused(entries), "says that this is the run run-2; it is run-1"));
}
