#include "parsers/collector/runs.h"

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "parsers/collector/trace.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/parsers/collector/counter_file.h"
#include "tests/unit/unpacked.h"

using namespace nl;
using namespace nl::parsers;
namespace fs = std::filesystem;
namespace format = nl::trace_format;
using nl::test::CounterFile, nl::test::Folder;

namespace {

constexpr Ns kSecond = 1'000'000'000, kBoot = 1'794'000'000 * kSecond;

struct MadeFile {
  const char* name;
  Ns start_ns, end_ns;
  const char* run = "";
  Ns boot_ns = kBoot;
  std::int64_t rank = -1;  // -1: none was told
};

// One range from its start to its end, and a label as today's collector writes one; none where `run` is null, as older ones did.
fs::path write_file(const Folder& folder, const MadeFile& made) {
  CounterFile file(7, made.start_ns);
  file.thread(7).string(1, "step").push(1, made.start_ns).pop(made.end_ns);
  format::FileHeader header;
  std::memcpy(&header, file.bytes.data(), sizeof header);
  header.realtime_ns = made.boot_ns + made.start_ns;
  std::strcpy(header.process_name, made.name);
  std::string rest = file.bytes.substr(sizeof header);
  if (made.run != nullptr) {
    header.header_bytes = format::kSegmentOffset;  // as a collector wrote it that kept no ring
    format::RunLabel label{};
    std::strcpy(label.text, made.run);
    std::string behind(label.text, sizeof label.text);
    if (made.rank >= 0) {
      header.header_bytes = format::kHeaderBytes;
      format::Place place{static_cast<std::uint32_t>(made.rank), 4, "node0"};
      behind.append(sizeof(format::Segment), '\0').append(reinterpret_cast<const char*>(&place), sizeof place);
    }
    rest.insert(0, behind);
  }
  return folder.file(made.name, std::string(reinterpret_cast<const char*>(&header), sizeof header) + rest);
}

std::size_t runs(const std::vector<MadeFile>& made, RunsBy by = RunsBy::kTime) {
  const Folder folder;
  std::vector<fs::path> files;
  for (const MadeFile& each : made) files.push_back(write_file(folder, each));
  return runs_of_files(files, by).size();
}

}  // namespace

TEST_CASE("collector runs: processes with one label are one run, whenever they ran") {
  CHECK(runs({{"a", 10 * kSecond, 20 * kSecond, "one"}, {"b", 500 * kSecond, 501 * kSecond, "one"}}) == 1);
  CHECK(runs({{"a", 10 * kSecond, 20 * kSecond, "one"}, {"b", 11 * kSecond, 19 * kSecond, "two"}}) == 2);
  CHECK(runs({{"a", 10 * kSecond, 20 * kSecond, "one"}, {"b", 11 * kSecond, 19 * kSecond, "two"}}, RunsBy::kLabel) == 2);
}

TEST_CASE("collector runs: without labels, a pause or another boot tells them apart") {
  for (const char* none : {"", static_cast<const char*>(nullptr)}) {
    CAPTURE(none == nullptr);
    CHECK(runs({{"rank0", 10 * kSecond, 20 * kSecond, none}, {"rank1", 10 * kSecond, 21 * kSecond, none}}) == 1);
    // A launcher that lives on holds workers together that begin late, and so does one after the other.
    CHECK(runs({{"launcher", 0, 99 * kSecond, none}, {"worker", 95 * kSecond, 98 * kSecond, none}}) == 1);
    CHECK(runs({{"first", 0, 5 * kSecond, none}, {"second", 14 * kSecond, 20 * kSecond, none}}) == 1);
    CHECK(runs({{"monday", 0, 5 * kSecond, none}, {"tuesday", 79 * kSecond, 90 * kSecond, none}}) == 2);
    CHECK(runs({{"monday", 0, 5 * kSecond, none}, {"tuesday", 79 * kSecond, 90 * kSecond, none}}, RunsBy::kLabel) == 1);
    CHECK(runs({{"here", 0, 5 * kSecond, none}, {"there", 0, 5 * kSecond, none, kBoot + 3 * kSecond}}, RunsBy::kLabel) == 2);
    CHECK(runs({{"here", 0, 5 * kSecond, none}, {"set", kSecond, 5 * kSecond, none, kBoot + kSecond / 2}}) == 1);
  }
}

TEST_CASE("collector runs: where nl-stage ran on each machine, or for each rank, the files of a rank are told by its number") {
  const auto names = [](const std::vector<MadeFile>& made) {
    const Folder folder;
    std::vector<fs::path> files;
    for (const MadeFile& each : made) files.push_back(write_file(folder, each));
    std::vector<std::string> all;
    for (const auto& of_rank : files_by_rank(files)) {
      all.emplace_back();
      for (const fs::path& file : of_rank) all.back() += file.filename().string() + " ";
    }
    return all;
  };
  using Names = std::vector<std::string>;
  const MadeFile torchrun{"torchrun", 0, 9 * kSecond, "n1"}, zero{"zero", kSecond, 8 * kSecond, "n1", kBoot, 0},
      loader{"loader", 2 * kSecond, 8 * kSecond, "n1", kBoot, 0}, one{"one", kSecond, 8 * kSecond, "n1", kBoot, 1},
      two{"two", 40 * kSecond, 48 * kSecond, "n2", kBoot - 39 * kSecond, 2};
  CHECK(names({torchrun, zero, loader, one, two}) == Names{"zero loader torchrun ", "one ", "two "});
  CHECK(names({torchrun, zero, loader, one}).empty());  // of one run, on one clock
  CHECK(names({zero, {"other", 0, 9 * kSecond, "other"}}).empty());
}

TEST_CASE("collector runs: a trace says the rank and the machine that its header has") {
  const Folder folder;
  const fs::path zero = write_file(folder, {"zero", kSecond, 8 * kSecond, "n1", kBoot, 0}),
                 one = write_file(folder, {"one", kSecond, 8 * kSecond, "n1", kBoot, 1}),
                 none = write_file(folder, {"none", 0, 9 * kSecond, "n1"});
  const Trace both = read_collector_traces({zero, one, none});
  CHECK_FALSE(both.rank.rank);
  REQUIRE(both.processes.size() == 3);
  CHECK_FALSE(both.processes[0].rank);
  CHECK(both.processes[1].rank == 0u);
  const Trace alone = read_collector_traces({one, none});
  CHECK(alone.rank.rank == 1u);
  CHECK(alone.rank.world_size == 4u);
  CHECK(alone.rank.host == "node0");
  CHECK(alone.rank.source == RankSource::kEnvironment);
}

TEST_CASE("collector runs: a file without a label goes with the run that it ran beside") {
  CHECK(runs({{"a", 0, 20 * kSecond, "one"}, {"old", 5 * kSecond, 9 * kSecond, nullptr}}) == 1);
  CHECK(runs({{"a", 0, 20 * kSecond, "one"}, {"old", 60 * kSecond, 70 * kSecond, nullptr}}) == 2);
}

TEST_CASE("collector runs: each with its files, its first process and its start") {
  const Folder folder;
  const fs::path late = write_file(folder, {"late", 100 * kSecond, 101 * kSecond}), worker = write_file(folder, {"worker", 2, 3}),
                 first = write_file(folder, {"first", 1, 4}), broken = folder.file("broken", "not a trace at all");
  const auto found = runs_of_files({late, broken, worker, first}, RunsBy::kTime);
  REQUIRE(found.size() == 2);
  CHECK(found[0].files == std::vector<fs::path>{first, worker});
  CHECK(found[0].process == "first");
  CHECK(found[0].utc_start_ns == kBoot + 1);
  CHECK(found[1].files == std::vector<fs::path>{late});
  CHECK(read_collector_traces({first, worker}).ranges.size() == 2);  // behind the label come the records
}

TEST_CASE("collector runs: two real captures of one machine, and one after it was started anew") {
  const fs::path folder = fs::path(NL_FIXTURES) / "h200-auto-marked";
  const Unpacked loop(folder / "loop.nltrace.gz"), compiled(folder / "compiled.nltrace.gz"), llava(folder / "llava.nltrace.gz");
  CHECK(runs_of_files({loop.file, compiled.file}, RunsBy::kTime).size() == 2);
  CHECK(runs_of_files({loop.file, compiled.file, llava.file}, RunsBy::kTime).size() == 3);
  CHECK(runs_of_files({loop.file, llava.file}, RunsBy::kLabel).size() == 2);
}
