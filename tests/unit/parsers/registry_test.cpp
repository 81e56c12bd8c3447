// Every fixture is recognised as what it is, by what is in it.
#include "parsers/registry.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include "model/error.h"
#include "model/words.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/parsers/nsys/crafted.h"
#include "tests/unit/parsers/scratch_file.h"
#include "tests/unit/unpacked.h"

using namespace nl;
using namespace nl::parsers;
using namespace nl::test;
namespace fs = std::filesystem;

namespace {

// What each file below tests/fixtures is; those that are not named are of no format.
const std::map<std::string, SourceFormat> kKnown = {
    {"crafted/names.sqlite", SourceFormat::kNsysSqlite},
    {"crafted/ranges.sqlite", SourceFormat::kNsysSqlite},
    {"crafted/ties.sqlite", SourceFormat::kNsysSqlite},
    {"h200-llama/kineto.json.gz", SourceFormat::kKineto},
    {"h200-llama/ncu_decode_details.csv", SourceFormat::kNcu},
    {"h200-llama/ncu_decode_raw.csv", SourceFormat::kNcu},
    {"h200-llama/ncu_decode_raw_base.csv", SourceFormat::kNcu},
    {"h200-llama/ncu_prefill_raw.csv", SourceFormat::kNcu},
    {"h200-llama/nsys.sqlite", SourceFormat::kNsysSqlite},
    {"h200-llava/ncu_raw.csv", SourceFormat::kNcu},
    {"h200-probe/ncu_prefill_details.csv", SourceFormat::kNcu},
    {"h200-probe/ncu_prefill_raw.csv", SourceFormat::kNcu},
    {"h200-probe/ncu_prefill_raw_mangled.csv", SourceFormat::kNcu},
    {"h200-probe/probe_graph.sqlite", SourceFormat::kNsysSqlite},
    {"h200-probe/probe_node.sqlite", SourceFormat::kNsysSqlite},
    {"onnxruntime/profile.json", SourceFormat::kOnnxRuntime},
    {"trtexec/layers_detailed.json", SourceFormat::kTrtexecLayers},
    {"trtexec/layers_names.json", SourceFormat::kTrtexecLayers},
    {"trtexec/profile.json", SourceFormat::kTrtexec},
};

SourceFormat sniff_text(std::string_view content) { return sniff(ScratchFile(content).path); }

}  // namespace

TEST_CASE("every fixture is recognised as itself, and no other file as any of them") {
  std::string expected, found;
  for (const auto& [name, format] : kKnown) expected += fmt::format("{} is {}\n", name, key_of(format));
  std::map<std::string, SourceFormat> formats;
  for (const auto& entry : fs::recursive_directory_iterator(NL_FIXTURES)) {
    if (!entry.is_regular_file()) continue;
    const SourceFormat format = sniff(entry.path());
    if (format != SourceFormat::kNone) formats[fs::relative(entry.path(), NL_FIXTURES).string()] = format;
  }
  for (const auto& [name, format] : formats) found += fmt::format("{} is {}\n", name, key_of(format));
  CHECK(found == expected);
}

TEST_CASE("packed fixtures are recognised once they are unpacked") {
  int traces = 0;
  for (const auto& entry : fs::directory_iterator(NL_FIXTURES "/h200-collector")) {
    if (entry.path().extension() != ".gz") continue;
    ++traces;
    CHECK(sniff(Unpacked(entry.path()).file) == SourceFormat::kCollector);
  }
  CHECK(traces >= 7);
  CHECK(sniff(Unpacked(NL_FIXTURES "/h200-llama/nsys_pytorch_ops.sqlite.gz").file) == SourceFormat::kNsysSqlite);
  CHECK(sniff(Unpacked(NL_FIXTURES "/h200-llama/kineto.json.gz").file) == SourceFormat::kKineto);
}

TEST_CASE("the name of a file decides nothing") {
  // ScratchFile is called trace.json
  CHECK(sniff_text(read_text(NL_FIXTURES "/h200-llama/ncu_decode_raw.csv")) == SourceFormat::kNcu);
  CHECK(sniff_text(read_text(NL_FIXTURES "/crafted/ties.sqlite")) == SourceFormat::kNsysSqlite);
}

TEST_CASE("a table of ncu is found behind what ncu and the program printed") {
  const std::string table = read_text(NL_FIXTURES "/h200-probe/ncu_prefill_raw.csv");
  CHECK(sniff_text("==PROF== Connected to process 7 (./probe)\ntokens per second: 41\n" + table) == SourceFormat::kNcu);
  CHECK(sniff_text(std::string(200'000, 'x') + "\n" + table) == SourceFormat::kNcu);
  CHECK(sniff_text("==PROF== Connected to process 7 (./probe)\n==WARNING== No kernels were profiled.\n") == SourceFormat::kNcu);
  CHECK(sniff_text("\"ID\",\"Process ID\",\"Name\"\n\"1\",\"2\",\"cron\"\n") == SourceFormat::kNone);
}

TEST_CASE("the oldest spellings of Kineto are known, a Chrome trace of something else is not") {
  CHECK(sniff_text(R"({"traceEvents": [{"ph": "X", "cat": "Operator", "name": "aten::mm", "ts": 1, "dur": 2}]})") == SourceFormat::kKineto);
  CHECK(sniff_text(R"([{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 2}])") == SourceFormat::kKineto);
  CHECK(sniff_text(R"({"traceEvents": [{"ph": "X", "cat": "v8", "name": "Run", "ts": 1, "dur": 2}]})") == SourceFormat::kNone);
  CHECK(sniff_text(R"([{"ph": "X", "cat": "Kernel", "name": "k", "ts": 1, "dur": 2}])") == SourceFormat::kNone);  // ONNX Runtime's or Kineto's
  CHECK(sniff_text(R"([{"ph": "X", "cat": "Node", "name": "a_kernel_time", "ts": 1, "dur": 2}])") == SourceFormat::kOnnxRuntime);
}

TEST_CASE("an SQLite file of something else is no export, a damaged one is left to the reader") {
  CraftedExport other;
  other.sql("CREATE TABLE cookies (id INTEGER)");
  CHECK(sniff(other.file) == SourceFormat::kNone);
  const std::string whole = read_text(NL_FIXTURES "/h200-llama/nsys.sqlite");
  CHECK(sniff_text(whole.substr(0, whole.size() / 2)) == SourceFormat::kNsysSqlite);
}

TEST_CASE("what is empty, cut off inside its signature or made of chance is of no format") {
  CHECK(sniff_text("") == SourceFormat::kNone);
  for (const char* text : {"{", "[", "[]", "{}", "null", "[{", "[1, 2]", "NLTRACE", "SQLite format 3", "==PRO", "{\"traceEvents\": [", "{\"Layers\": []}",
                           "[{\"count\": 3}]", "\x1f\x8b", "ID,Process ID"})
    CHECK(sniff_text(text) == SourceFormat::kNone);
  std::mt19937 chance(13);
  for (int i = 0; i < 50; ++i) {
    std::string bytes(1 + chance() % 5000, '\0');
    for (char& byte : bytes) byte = static_cast<char>(chance());
    CHECK(sniff_text(bytes) == SourceFormat::kNone);
  }
}

TEST_CASE("reports that need their tool are known by their names, a bundle by its run.json") {
  const ScratchFile file("NVR");
  const fs::path folder = file.path.parent_path();
  for (const auto& [name, format] : std::map<std::string, SourceFormat>{{"a.nsys-rep", SourceFormat::kNsysReport},
                                                                        {"a.qdrep", SourceFormat::kNsysReport},
                                                                        {"a.ncu-rep", SourceFormat::kNcuReport}}) {
    fs::copy_file(file.path, folder / name);
    CHECK(sniff(folder / name) == format);
    std::ofstream(folder / name, std::ios::trunc).close();
    CHECK(sniff(folder / name) == SourceFormat::kNone);  // empty
  }
  CHECK(sniff(folder) == SourceFormat::kNone);
  std::ofstream(folder / "run.json") << "{}";
  CHECK(sniff(folder) == SourceFormat::kBundle);
}

TEST_CASE("a path that is not there is an error") {
  CHECK_THROWS_AS(sniff("/nowhere/at/all"), Error);
}
