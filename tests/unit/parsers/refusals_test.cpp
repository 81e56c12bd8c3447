// What the readers say of files of another format: what is wrong, where, and what to do about it.
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>

#include "collector/trace_format.h"
#include "model/error.h"
#include "parsers/collector/trace.h"
#include "parsers/hf/config.h"
#include "parsers/kineto/json.h"
#include "parsers/ncu/csv.h"
#include "parsers/nsys/sqlite.h"
#include "parsers/ort/profile.h"
#include "parsers/registry.h"
#include "parsers/trtexec/json.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/parsers/collector/trace_header.h"
#include "tests/unit/parsers/nsys/crafted.h"

using namespace nl;
using namespace nl::parsers;
using nl::test::Folder;

namespace {

// "what | where | fix", the folder of the test as F.
std::string refusal_in(const std::filesystem::path& folder, const std::function<void()>& read, ErrorKind kind = ErrorKind::kInput) {
  try {
    read();
  } catch (const Error& error) {
    CHECK(error.kind == kind);
    std::string text = error.message + " | " + error.where + " | " + error.fix;
    for (std::size_t at; (at = text.find(folder.string())) != std::string::npos;) text.replace(at, folder.string().size(), "F");
    return text;
  }
  return "it was read";
}

}  // namespace

TEST_CASE("refusals: an nsys export that is missing, empty, something else or cut short") {
  test::CraftedExport made;
  const auto refused = [&](const std::filesystem::path& file) { return refusal_in(made.folder, [&] { read_nsys_sqlite(file); }); };
  const std::string export_anew = "export it again: nsys export --type sqlite --output FILE.sqlite REPORT.nsys-rep";
  CHECK(refused(made.folder / "absent") == "there is no such file | F/absent | check the path of the nsys export");
  CHECK(refused(made.folder) ==
        "the folder has none of the tables of an nsys export, such as StringIds.parquet | F | name the folder that nsys wrote: nsys export "
        "--type parquetdir --output FOLDER REPORT.nsys-rep");
  made.bytes("");
  CHECK(refused(made.file) == "the nsys export is empty (0 bytes) | F/export.sqlite | " + export_anew);
  made.bytes("SQLite format 2 and so on");
  CHECK(refused(made.file) ==
        "this is not an SQLite file | F/export.sqlite | nl-stage reads the SQLite export of a report: nsys export --type sqlite "
        "--output FILE.sqlite REPORT.nsys-rep");
  std::filesystem::remove(made.file);
  made.sql("PRAGMA page_size = 4096; CREATE TABLE cookies (id INTEGER)");
  CHECK(refused(made.file) ==
        "this SQLite file has none of the tables of an nsys export | F/export.sqlite | make one from a report: nsys export "
        "--type sqlite --output FILE.sqlite REPORT.nsys-rep");
  std::filesystem::resize_file(made.file, 4096);
  CHECK(refused(made.file) ==
        "the nsys export is cut short: 4096 of 8192 bytes are there | F/export.sqlite | copy it again, or " + export_anew);
}

TEST_CASE("refusals: a trace of torch.profiler that is cut off, has nothing in it or is another tool's") {
  const Folder folder;
  const auto refused = [&](const std::string& text) {
    return refusal_in(folder.path, [&] { read_kineto_json(folder.file("k.json", text)); });
  };
  const std::string stopped = "torch.profiler was stopped while it wrote: export the trace again and let it finish";
  CHECK(refused(R"({"traceEvents": [{"ph": "X"}, {"a": )") == "the trace is cut off after 1 events | F/k.json, byte 30 of 36 | " + stopped);
  CHECK(refused(R"({"traceEvents": [)") == "the trace is cut off after 0 events | F/k.json, byte 17 of 17 | " + stopped);
  CHECK(refused(R"([{"ph": "X", "cat": "v8"}, {"ph": "X"}])") ==
        "none of the 2 events is an operator, a kernel or a CUDA call of torch.profiler | F/k.json | trace with activities CPU and CUDA, "
        "in a PyTorch "
        "that was built with Kineto");
  CHECK(refused(R"([{"ph": "X", "cat": "Node"}])") ==
        "none of the 1 events is an operator, a kernel or a CUDA call of torch.profiler | F/k.json | a profile of ONNX Runtime goes to "
        "--ort");
  const std::string check = "check that it is the profiler's JSON trace and was written to its end";
  CHECK(refused("{ }") == "the file has no array \"traceEvents\" | F/k.json, 3 bytes read | " + check);
  CHECK(refused("") == "the file has no array \"traceEvents\" | F/k.json, 0 bytes read | the file is empty: capture again");
  CHECK(refusal_in(folder.path, [&] { read_kineto_json(folder / "absent"); }) ==
        "the file cannot be read | F/absent | check its path and permissions");
}

TEST_CASE("refusals: what is no profile of ONNX Runtime or of trtexec") {
  const Folder folder;
  const auto ort = [&](const std::string& text) { return refusal_in(folder.path, [&] { read_ort_profile(folder.file("p.json", text)); }); };
  CHECK(ort("{}") ==
        "this is no JSON array of events | F/p.json, 2 bytes read | check that it is the profiler's JSON trace and was written to its end");
  CHECK(ort(R"([{"cat": "kernel"}, {"cat": "cpu_op"}])") ==
        "the file is no profile of ONNX Runtime | F/p.json, 2 events read | give the file that a session with enable_profiling wrote; a "
        "torch.profiler "
        "trace goes to --kineto");
  const auto trtexec = [&](const std::string& text) { return refusal_in(folder.path, [&] { read_trtexec(folder.file("t.json", text)); }); };
  CHECK(trtexec("[{]") == "the file is damaged: it is no JSON document | F/t.json, byte 3 | export it again with trtexec");
  CHECK(trtexec("[]") ==
        "the file does not say how many runs it is of: {\"count\": N} is missing | F/t.json | give the file of trtexec --exportProfile "
        "(with --separateProfileRun, so that profiling slows nothing else)");
  CHECK(refusal_in(folder.path, [&] { read_trtexec(folder / "absent"); }) ==
        "the file cannot be read | F/absent | check its path and permissions");
  for (const char* layers : {"{}", "[]", R"({"Layers": {"Name": "a"}})"})
    CHECK(refusal_in(folder.path, [&] { read_trtexec(folder.file("t.json", R"([{"count": 1}])"), folder.file("l.json", layers)); }) ==
          "the file has no list \"Layers\" | F/l.json | give the file of trtexec --exportLayerInfo");
}

TEST_CASE("refusals: what is no table of ncu and no trace of the collector") {
  const Folder folder;
  CHECK(refusal_in(folder.path, [&] { read_ncu_csv(folder.file("n.csv", "hello\n")); }) ==
        "no table of ncu --csv in the file | F/n.csv | export it with: ncu --import REPORT.ncu-rep --csv --page raw --print-units base");
  CHECK(refusal_in(folder.path, [&] { read_ncu_csv(folder / "absent"); }) ==
        "cannot open the ncu CSV: No such file or directory | F/absent | ");
  CHECK(refusal_in(folder.path, [&] { read_ncu_csv(folder.path); }).substr(0, 25) == "cannot read the ncu CSV: ");
  const auto collector = [&](const std::string& bytes) {
    return refusal_in(folder.path, [&] { read_collector_traces({folder.file("c.nltrace", bytes)}); });
  };
  const auto header = [](auto change) {
    trace_format::FileHeader made = test::trace_header();
    change(made);
    return std::string(reinterpret_cast<const char*>(&made), sizeof made);
  };
  CHECK(collector("hello, this is some text") ==
        "not a trace of the nl-stage collector | F/c.nltrace | give the nvtx-*.nltrace files that the collector wrote");
  CHECK(collector(header([](auto& made) { made.version = 99; })) == "collector trace of version 99, this build reads " +
                                                                        std::to_string(trace_format::kVersion) +
                                                                        " | F/c.nltrace | read it with the nl-stage that recorded it");
  CHECK(collector(header([](auto& made) { made.monotonic_ns = -1; })) ==
        "the header of the collector trace is damaged | F/c.nltrace | record it again");
  CHECK(refusal_in(folder.path, [&] { read_collector_traces({folder / "absent"}); }) ==
        "cannot read the collector trace | F/absent | check that the file exists and may be read");
}

TEST_CASE("refusals: what is no configuration of a model, and a file that nobody can read") {
  const Folder folder;
  const auto model = [&](const std::string& text) {
    return refusal_in(folder.path, [&] { read_hf_config(folder.file("config.json", text)); }, ErrorKind::kConfig);
  };
  CHECK(model("{\"a\" 1}") == "this is no valid JSON | F/config.json:1:6 | check commas, brackets and quotes near there");
  CHECK(model("{\"hidden_size\": 1e999}").substr(0, 43) == "this JSON cannot be read | F/config.json | ");
  CHECK(model("[1]") ==
        "this JSON is no model configuration: it holds no fields | F/config.json | give the config.json of a Hugging Face model");
  CHECK(model("{\"vocab_size\": 5}") ==
        "this JSON describes no transformer: it has none of num_hidden_layers, hidden_size and num_attention_heads | F/config.json | give "
        "the config.json "
        "of a Hugging Face model, or write a model file (conf/model/llm/generic.yaml)");
  CHECK(refusal_in(
            folder.path, [&] { read_hf_config(folder / "absent"); }, ErrorKind::kConfig) ==
        "the model's configuration cannot be read | F/absent | check its name and permissions");
  CHECK(refusal_in(folder.path, [&] { sniff(folder / "absent"); }) == "the file cannot be read | F/absent | check its permissions");
}
