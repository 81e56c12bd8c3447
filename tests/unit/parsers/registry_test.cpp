// Every fixture is recognised as what it is, by what is in it.
#include "parsers/registry.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>

#include "model/error.h"
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
const std::map<std::string, std::string> kKnown = {
    {"crafted/names.sqlite", "nsys"},
    {"crafted/ranges.sqlite", "nsys"},
    {"crafted/ties.sqlite", "nsys"},
    {"h200-llama/kineto.json.gz", "kineto"},
    {"h200-llama/ncu_decode_details.csv", "ncu"},
    {"h200-llama/ncu_decode_raw.csv", "ncu"},
    {"h200-llama/ncu_decode_raw_base.csv", "ncu"},
    {"h200-llama/ncu_prefill_raw.csv", "ncu"},
    {"h200-llama/nsys.sqlite", "nsys"},
    {"h200-llava/ncu_raw.csv", "ncu"},
    {"h200-probe/ncu_prefill_details.csv", "ncu"},
    {"h200-probe/ncu_prefill_raw.csv", "ncu"},
    {"h200-probe/ncu_prefill_raw_mangled.csv", "ncu"},
    {"h200-probe/probe_graph.sqlite", "nsys"},
    {"h200-probe/probe_node.sqlite", "nsys"},
    {"onnxruntime/profile.json", "ort"},
    {"tracelens/sglang_decode/capture_traces/bs_32_rank0.json.gz", "kineto"},
    {"tracelens/sglang_decode/trace.json.gz", "kineto"},
    {"tracelens/sglang_prefill/trace.json.gz", "kineto"},
    {"tracelens/vllm_decode/capture_traces/graph_capture_rank_0.json.gz", "kineto"},
    {"tracelens/vllm_decode/trace.json.gz", "kineto"},
    {"tracelens/vllm_mixed/capture_traces/graph_capture_rank_0.json.gz", "kineto"},
    {"tracelens/vllm_mixed/trace.json.gz", "kineto"},
    {"trtexec/layers_detailed.json", "trtexec"},
    {"trtexec/layers_names.json", "trtexec"},
    {"trtexec/profile.json", "trtexec"},
};

// "": of no format.
std::string format_of(const fs::path& file) {
  const Format* format = sniff(file);
  return format ? std::string(format->name) : "";
}

std::string sniff_text(std::string_view content) { return format_of(ScratchFile(content).path); }

}  // namespace

TEST_CASE("every fixture is recognised as itself, and no other file as any of them") {
  std::string expected, found;
  for (const auto& [name, format] : kKnown) expected += fmt::format("{} is {}\n", name, format);
  std::map<std::string, std::string> found_formats;
  for (const auto& entry : fs::recursive_directory_iterator(NL_FIXTURES)) {
    if (!entry.is_regular_file()) continue;
    const std::string format = format_of(entry.path());
    if (!format.empty()) found_formats[fs::relative(entry.path(), NL_FIXTURES).string()] = format;
  }
  for (const auto& [name, format] : found_formats) found += fmt::format("{} is {}\n", name, format);
  CHECK(found == expected);
}

TEST_CASE("packed fixtures are recognised once they are unpacked") {
  int traces = 0;
  for (const auto& entry : fs::directory_iterator(NL_FIXTURES "/h200-collector")) {
    if (entry.path().extension() != ".gz") continue;
    ++traces;
    CHECK(format_of(Unpacked(entry.path()).file) == "collector");
  }
  CHECK(traces >= 7);
  CHECK(format_of(Unpacked(NL_FIXTURES "/h200-llama/nsys_pytorch_ops.sqlite.gz").file) == "nsys");
  CHECK(format_of(Unpacked(NL_FIXTURES "/h200-llama/kineto.json.gz").file) == "kineto");
}

TEST_CASE("the name of a file decides nothing") {
  // ScratchFile is called trace.json
  CHECK(sniff_text(read_text(NL_FIXTURES "/h200-llama/ncu_decode_raw.csv")) == "ncu");
  CHECK(sniff_text(read_text(NL_FIXTURES "/crafted/ties.sqlite")) == "nsys");
}

TEST_CASE("a table of ncu is found behind what ncu and the program printed") {
  const std::string table = read_text(NL_FIXTURES "/h200-probe/ncu_prefill_raw.csv");
  CHECK(sniff_text("==PROF== Connected to process 7 (./probe)\ntokens per second: 41\n" + table) == "ncu");
  CHECK(sniff_text(std::string(200'000, 'x') + "\n" + table) == "ncu");
  CHECK(sniff_text("==PROF== Connected to process 7 (./probe)\n==WARNING== No kernels were profiled.\n") == "ncu");
  CHECK(sniff_text("\"ID\",\"Process ID\",\"Name\"\n\"1\",\"2\",\"cron\"\n") == "");
}

TEST_CASE("the oldest spellings of Kineto are known, a Chrome trace of something else is not") {
  CHECK(sniff_text(R"({"traceEvents": [{"ph": "X", "cat": "Operator", "name": "aten::mm", "ts": 1, "dur": 2}]})") == "kineto");
  CHECK(sniff_text(R"([{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "ts": 1, "dur": 2}])") == "kineto");
  CHECK(sniff_text(R"({"traceEvents": [{"ph": "X", "cat": "v8", "name": "Run", "ts": 1, "dur": 2}]})") == "");
  CHECK(sniff_text(R"([{"ph": "X", "cat": "Kernel", "name": "k", "ts": 1, "dur": 2}])") == "");  // ONNX Runtime's or Kineto's
  CHECK(sniff_text(R"([{"ph": "X", "cat": "Node", "name": "a_kernel_time", "ts": 1, "dur": 2}])") == "ort");
  for (const char* own : {"cpu_op", "Operator", "user_annotation", "cuda_runtime", "cuda_driver", "kernel", "gpu_memcpy", "gpu_memset"})
    CHECK(sniff_text(R"({"traceEvents": [{"cat": "other"}, {"cat": ")" + std::string(own) + R"("}]})") == "kineto");
  CHECK(sniff_text(R"([{"cat": "Session"}])") == "ort");
  CHECK(sniff_text(R"({"Layers": ["conv1"]})") == "trtexec");
  CHECK(sniff_text("\xef\xbb\xbf \n[{\"cat\": \"Session\"}]") == "ort");  // behind a byte order mark
  CHECK(sniff_text(R"({"traceEvents": [{"cat": "Session"}]})") == "");
}

TEST_CASE("an SQLite file of something else is no export, a damaged one is left to the reader") {
  CraftedExport other;
  other.sql("CREATE TABLE cookies (id INTEGER)");
  CHECK(format_of(other.file) == "");
  const std::string whole = read_text(NL_FIXTURES "/h200-llama/nsys.sqlite");
  CHECK(sniff_text(whole.substr(0, whole.size() / 2)) == "nsys");
}

TEST_CASE("what is empty, cut off inside its signature or made of chance is of no format") {
  CHECK(sniff_text("") == "");
  for (const char* text : {"{", "[", "[]", "{}", "null", "[{", "[1, 2]", "NLTRACE", "SQLite format 3", "==PRO", "{\"traceEvents\": [",
                           "{\"Layers\": []}", "[{\"count\": 3}]", "\x1f\x8b", "ID,Process ID"})
    CHECK(sniff_text(text) == "");
  std::mt19937 chance(13);
  for (int i = 0; i < 50; ++i) {
    std::string bytes(1 + chance() % 5000, '\0');
    for (char& byte : bytes) byte = static_cast<char>(chance());
    CHECK(sniff_text(bytes) == "");
  }
}

TEST_CASE("reports that need their tool are known by their names") {
  const ScratchFile file("NVR");
  const fs::path folder = file.path.parent_path();
  for (const auto& [name, format] : std::map<std::string, std::string>{{"a.nsys-rep", "nsys"}, {"a.qdrep", "nsys"}, {"a.ncu-rep", "ncu"}}) {
    fs::copy_file(file.path, folder / name);
    CHECK(format_of(folder / name) == format);
    CHECK(is_report(*sniff(folder / name), folder / name));
    CHECK_FALSE(is_report(*sniff(folder / name), folder / "a.sqlite"));
    CHECK_FALSE(is_report(*sniff(folder / name), folder / "a"));
    std::ofstream(folder / name, std::ios::trunc).close();
    CHECK(format_of(folder / name) == "");  // empty
  }
}

TEST_CASE("every format says what import needs of it, and reads what it says that it gives") {
  std::set<std::string_view> names;
  for (const Format* format : formats()) {
    INFO(format->name);
    CHECK(names.insert(format->name).second);
    CHECK_FALSE(format->help.empty());
    CHECK(format->known_as.empty() == (format->is_own == nullptr));
    REQUIRE((format->read != nullptr) != joins_capture(format->gives));
  }
  const auto gives = [](const char* fixture) { return sniff(fixture)->read({fixture}).index(); };
  CHECK(gives(NL_FIXTURES "/crafted/ties.sqlite") == Reading(Trace()).index());
  CHECK(gives(NL_FIXTURES "/h200-llama/kineto.json.gz") == Reading(Trace()).index());
  CHECK(gives(NL_FIXTURES "/onnxruntime/profile.json") == Reading(Trace()).index());
  CHECK(gives(NL_FIXTURES "/trtexec/profile.json") == Reading(OperatorRecords()).index());
  CHECK(gives(NL_FIXTURES "/h200-probe/ncu_prefill_raw.csv") == Reading(NcuReport()).index());
}

TEST_CASE("what import asks of each format: in this order, how many files, and whether they make one reading") {
  const struct {
    const char *name, *source, *known_as, *report_extensions;
    Gives gives;
    std::size_t most_files;
    bool together;
  } expected[] = {
      {"nsys", "nsys", "an nsys SQLite or .nsys-rep", " .nsys-rep .qdrep ", Gives::kNsysExport, kAnyNumber, false},
      {"ncu", "ncu", "an ncu CSV or .ncu-rep", " .ncu-rep ", Gives::kNcuLaunches, kAnyNumber, false},
      {"collector", "collector", "a collector trace", "", Gives::kCollectorTraces, kAnyNumber, true},
      {"counters", "counters", "", "", Gives::kCounters, kAnyNumber, true},
      {"kineto", "kineto", "a torch.profiler JSON", "", Gives::kTimeline, kAnyNumber, false},
      {"ort", "onnxruntime", "an ONNX Runtime JSON", "", Gives::kTimeline, kAnyNumber, false},
      {"trtexec", "trtexec", "a trtexec JSON", "", Gives::kOperators, 2, true},
      {"stacks", "stacks", "sampled stacks (stacks-<pid>.txt)", "", Gives::kHostStacks, kAnyNumber, true},
      {"graph-captures", "graph-captures", "", "", Gives::kGraphCaptures, kAnyNumber, true},
  };
  REQUIRE(formats().size() == std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    const Format& format = *formats()[i];
    INFO(expected[i].name);
    CHECK(format.name == expected[i].name);
    CHECK(format.source == expected[i].source);
    CHECK(format.known_as == expected[i].known_as);
    CHECK(format.report_extensions == expected[i].report_extensions);
    CHECK(format.gives == expected[i].gives);
    CHECK(format.most_files == expected[i].most_files);
    CHECK(format.together == expected[i].together);
    CHECK(format.by_rank == (format.name == "nsys" || format.name == "kineto"));  // one capture of each rank
  }
}

TEST_CASE("a path that is not there is an error") { CHECK_THROWS_AS(sniff("/nowhere/at/all"), Error); }
