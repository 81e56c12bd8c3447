// Imports of each kind, with tools that are played: what goes into the run, and what the bundle keeps.
#include "orchestrator/import.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <csignal>
#include <fstream>

#include "model/run_metrics.h"
#include "orchestrator/bundle/sha256.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/orchestrator/capture/pass_words.h"
#include "tests/unit/orchestrator/machine/fake_tools.h"
#include "tests/unit/unpacked.h"

namespace fs = std::filesystem;
using namespace nl;
using namespace nl::orchestrator;
using nl::test::kProbe;
using Strings = std::vector<std::string>;

namespace {

struct Importing {
  test::FakeTree tree;
  ImportRequest request;
  ProcessResult ends;  // of each export
  bool writes = true;
  fs::path page = kProbe + "ncu_prefill_raw_mangled.csv";
  test::PlayedLauncher launcher{[this](const ProcessSpec& process, ProcessResult& result) { play(process, result); }};

  Importing() {
    request.config.tools = test::fake_tools(tree);
    request.config.run.name = "a name";
    request.config.model.name = "the model";
    request.config.model.attributes = {{"layers", "3"}};
    request.config.composed_yaml = "run: {}\n";
    request.out = tree.root() / "out";
    request.files["nsys"] = {kProbe + "probe_node.sqlite"};
  }
  void play(const ProcessSpec& process, ProcessResult& result) const {
    result = ends;
    if (!writes) return;
    const bool nsys = process.argv.at(1) == "export";
    const fs::path output = nsys ? request.out / "nsys/run.sqlite" : process.stdout_log;
    fs::copy_file(nsys ? fs::path(kProbe + "probe_node.sqlite") : page, output);
    fs::permissions(output, fs::perms::owner_write, fs::perm_options::add);
  }
  Run import() { return import_captures(request, launcher).run; }
  Error refused() {
    try {
      import();
    } catch (const Error& error) {
      return error;
    }
    FAIL("it was imported");
    throw;
  }
};

std::size_t samples_in(const Run& run) {
  std::size_t samples = 0;
  for (const KernelEntry& kernel : *run.kernels) samples += kernel.ncu.size();
  return samples;
}

}  // namespace

TEST_CASE("import: an nsys export, described as the machine that it was made on") {
  Importing importing;
  importing.request.config.run.top_n_kernels = 1;
  const fs::path capture = importing.tree.root() / "capture.sqlite";
  fs::copy_file(kProbe + "probe_node.sqlite", capture);
  fs::permissions(capture, fs::perms::owner_write, fs::perm_options::add);
  SQLite::Database(capture.string(), SQLite::OPEN_READWRITE)
      .exec(
          "CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT); INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('CpuDescription', 'a "
          "processor')");
  importing.request.files["nsys"] = {capture};
  const RunResult result = import_captures(importing.request, importing.launcher);
  const Run& run = result.run;
  CHECK_FALSE(result.failure);
  CHECK(result.bundle == importing.request.out);
  CHECK(run.name == "a name");
  CHECK(run.mode == "import");
  CHECK(test::has(run.run_id, "-a-name-import-"));
  CHECK(run.created_at.size() == 20);
  CHECK(run.model.name == "the model");
  CHECK(run.model.attributes == importing.request.config.model.attributes);
  CHECK(captured_by(run.provenance.tracer, run.provenance.meter) == "import");
  CHECK_FALSE(run.software.nsys_version.empty());
  CHECK(run.hardware.cpu_model == "a processor");
  CHECK(run.hardware.gpus.at(0).name == "NVIDIA H200");
  CHECK(run.provenance.passes.empty());
  CHECK(run.problems.empty());
  CHECK(run.provenance.inputs_sha256 == std::map<std::string, std::string>{{capture.string(), sha256_file(capture)}});
  CHECK(std::count_if(run.kernels->begin(), run.kernels->end(), [](const KernelEntry& kernel) { return kernel.selected; }) == 1);
  CHECK(run.peaks);
  CHECK_FALSE((run.findings.empty() && run.abstentions.empty()));
  CHECK(test::read_text(result.bundle / "config.yaml") == "run: {}\n");
  for (const char* name : {"run.json", "report.md", "trace.pftrace", "manifest.json", "nsys/run_cuda_gpu_kern_sum.csv"})
    CHECK(fs::exists(result.bundle / name));
  CHECK_FALSE(fs::exists(result.bundle / "nsys/run.sqlite"));  // not without --copy
  CHECK(importing.launcher.started.empty());
}

TEST_CASE("import: a bundle of its own in artifacts.dir") {
  Importing importing;
  importing.request.out.clear();
  importing.request.config.artifacts.dir = (importing.tree.root() / "runs").string();
  importing.request.config.artifacts.perfetto = false;
  const RunResult result = import_captures(importing.request, importing.launcher);
  CHECK(result.bundle.parent_path() == importing.tree.root() / "runs");
  CHECK(result.bundle.filename().string().ends_with("-a-name-import"));
  CHECK_FALSE(fs::exists(result.bundle / "trace.pftrace"));
}

TEST_CASE("import: reports are exported by their tools first") {
  Importing importing;
  const fs::path report = importing.tree.write("in/x.nsys-rep", "report"), profile = importing.tree.write("in/y.ncu-rep", "profile");
  importing.request.files = {{"nsys", {report}}, {"ncu", {profile}}};
  const Run run = importing.import();
  CHECK(test::whole_records(run.provenance.passes) == Strings{"nsys-export ok 0 [nsys/run.sqlite]", "ncu-export-raw ok 0 [ncu/y.csv]"});
  const auto& started = importing.launcher.started;
  REQUIRE(started.size() == 2);
  CHECK(started[0].argv.back() == report.string());
  CHECK(std::count(started[0].argv.begin(), started[0].argv.end(), "--output=" + (importing.request.out / "nsys/run.sqlite").string()) ==
        1);
  CHECK(Strings(started[1].argv.begin() + 1, started[1].argv.begin() + 6) ==
        Strings{"--import", profile.string(), "--csv", "--page", "raw"});
  CHECK(started[1].stdout_log == importing.request.out / "ncu/y.csv.partial");
  CHECK_FALSE(started[0].forward_output);
  CHECK(samples_in(run) > 0);
  CHECK(run.problems.empty());
  CHECK(run.provenance.inputs_sha256.size() == 2);
}

TEST_CASE("import: two ncu reports of one name are exported to a file each") {
  Importing importing;
  importing.request.files["ncu"] = {importing.tree.write("in/y.ncu-rep", "profile"), importing.tree.write("else/y.ncu-rep", "another"),
                                    importing.tree.write("in/y-2.ncu-rep", "a third")};
  const Run run = importing.import();
  CHECK(test::whole_records(run.provenance.passes) ==
        Strings{"ncu-export-raw ok 0 [ncu/y.csv]", "ncu-export-raw ok 0 [ncu/y-2.csv]", "ncu-export-raw ok 0 [ncu/y-2-2.csv]"});
  for (const char* csv : {"ncu/y.csv", "ncu/y-2.csv", "ncu/y-2-2.csv"}) CHECK(fs::exists(importing.request.out / csv));
}

TEST_CASE("import: an export that fails refuses the import, and leaves no bundle") {
  Importing importing;
  const fs::path report = importing.tree.write("in/x.nsys-rep", "report"), profile = importing.tree.write("in/y.ncu-rep", "profile");
  importing.ends.exit_status = 1;
  importing.ends.stderr_text = "no such thing\n" + std::string(400, 'x');
  importing.writes = false;
  SECTION("nsys") {
    importing.request.files = {{"nsys", {report}}};
    importing.ends.stderr_text = "no such thing\n";
    const Error error = importing.refused();
    CHECK(error.kind == ErrorKind::kTool);
    CHECK(error.message == "nsys could not export its report to SQLite: no such thing.");
    CHECK(error.where == "logs/nsys-export.stderr.log");
    CHECK(error.fix.starts_with("The report is kept: "));
  }
  SECTION("ncu") {
    importing.request.files["ncu"] = {profile};
    const Error error = importing.refused();
    CHECK(error.kind == ErrorKind::kTool);
    CHECK(error.message == "ncu could not export its report");
    CHECK(error.where == profile.string());
    CHECK(error.fix == importing.ends.stderr_text.substr(0, 300));
  }
  SECTION("one of two of the same name: what the other gave does not count twice") {
    const fs::path other = importing.tree.write("else/y.ncu-rep", "another");
    importing.request.files["ncu"] = {profile, other};
    importing.launcher.play = [&](const ProcessSpec& process, ProcessResult& result) {
      importing.writes = process.argv.at(2) == profile.string();
      if (importing.writes) importing.ends.exit_status = 0;
      importing.play(process, result);
      importing.ends.exit_status = 1;
    };
    CHECK(importing.refused().where == other.string());
  }
  CHECK_FALSE(fs::exists(importing.request.out));
}

TEST_CASE("import: Ctrl-C while ncu exports leaves the capture without counters") {
  Importing importing;
  importing.request.files["ncu"] = {kProbe + "ncu_prefill_raw_mangled.csv", importing.tree.write("in/y.ncu-rep", "profile")};
  importing.ends.interrupted = true;
  importing.ends.interrupt_signal = SIGINT;
  importing.writes = false;
  const Run run = importing.import();
  CHECK(run.problems.at(0).code == Code::kInterrupted);
  CHECK(run.status == RunStatus::kInterrupted);
  CHECK(test::outcomes_of(run.provenance.passes) == Strings{"ncu-export-raw interrupted"});
  CHECK(samples_in(run) == 0);
  CHECK_FALSE(run.kernels->empty());
}

TEST_CASE("import: without a name a run is called as the folder around a tool's file, then as its bundle") {
  Importing importing;
  importing.request.config.run.name_given = false;
  importing.request.copy = true;
  const fs::path capture = importing.tree.root() / "my model/nsys.sqlite";
  fs::create_directories(capture.parent_path());
  fs::copy_file(kProbe + "probe_node.sqlite", capture);
  importing.request.files = {{"nsys", {capture}}};
  CHECK(importing.import().name == "my-model");
  importing.request.files = {{"nsys", {importing.request.out / "nsys/run.sqlite"}}};
  importing.request.out = importing.tree.root() / "again";
  const Run again = importing.import();
  CHECK(again.name == "my-model");
  CHECK(test::has(again.run_id, "-my-model-import-"));
}

TEST_CASE("import: the tool that a report needs is named with the command that reads it elsewhere") {
  Importing importing;
  const fs::path report = importing.tree.write("in/x y.nsys-rep", "report"), profile = importing.tree.write("in/x y.ncu-rep", "profile");
  // Neither the configuration nor PATH names one.
  const test::SetVariable set("PATH", "/nowhere");
  importing.request.config.tools.nsys.clear();
  importing.request.config.tools.ncu.clear();
  const Toolset found = find_tools(importing.request.config.tools);
  if (!found.nsys) {
    importing.request.files = {{"nsys", {report}}};
    const Error error = importing.refused();
    CHECK(error.kind == ErrorKind::kTool);
    CHECK(error.message == "nsys is needed to read this file, and it was not found");
    CHECK(error.where == report.string());
    CHECK(error.fix ==
          "where nsys is installed: nsys export --type sqlite -o out.sqlite '" + report.string() + "'; then import what it wrote");
  }
  if (!found.ncu) {
    importing.request.files = {{"nsys", {kProbe + "probe_node.sqlite"}}, {"ncu", {profile}}};
    const Error error = importing.refused();
    CHECK(error.message == "ncu is needed to read this file, and it was not found");
    CHECK(error.fix == "where ncu is installed: LC_ALL=C ncu --import '" + profile.string() +
                           "' --csv --page raw --print-units base > raw.csv; then import what it wrote");
  }
  CHECK_FALSE(fs::exists(importing.request.out));
}

TEST_CASE("import: what was recorded beside the capture") {
  Importing importing;
  const std::string kineto = NL_FIXTURES "/h200-llama/kineto.json.gz", ort = NL_FIXTURES "/onnxruntime/profile.json";
  const std::string trtexec = NL_FIXTURES "/trtexec/profile.json", layers = NL_FIXTURES "/trtexec/layers_detailed.json";
  const auto sources = [](const Run& run) {
    Strings words;
    for (const OperatorTable& table : run.operators)
      if (!table.file.empty()) words.push_back(table.source + " " + table.file);
    return words;
  };
  SECTION("operators of other tools, the capture stays nsys'") {
    importing.request.files = {{"nsys", {kProbe + "probe_node.sqlite"}}, {"ort", {ort}}, {"trtexec", {trtexec, layers}}};
    const Run run = importing.import();
    CHECK(sources(run) == Strings{"onnxruntime profile.json", "trtexec profile.json"});
    CHECK(run.import_stats.source_format == SourceFormat::kNsysSqlite);
    CHECK(run.operators_note.empty());
    CHECK_FALSE(run.kernels->empty());
    CHECK(run.provenance.inputs_sha256.size() == 4);
  }
  SECTION("a timeline alone is the capture") {
    importing.request.files = {{"ort", {ort}}};
    const Run run = importing.import();
    CHECK(run.import_stats.source_format == SourceFormat::kOnnxRuntime);
    CHECK(sources(run) == Strings{});
    CHECK(run.hardware.cpu_model.empty());
  }
  SECTION("a table alone") {
    importing.request.files = {{"trtexec", {trtexec}}};
    const Run run = importing.import();
    CHECK(sources(run) == Strings{"trtexec profile.json"});
    CHECK(run.operators_note.empty());
  }
}

TEST_CASE("import: sampled stacks join the capture by its marks of the clock") {
  Importing importing;
  const fs::path capture = importing.tree.root() / "marked.sqlite";
  fs::copy_file(kProbe + "probe_node.sqlite", capture);
  fs::permissions(capture, fs::perms::owner_write, fs::perm_options::add);
  SQLite::Database database(capture.string(), SQLite::OPEN_READWRITE);
  const std::int64_t thread = database.execAndGet("SELECT globalTid FROM NVTX_EVENTS WHERE globalTid IS NOT NULL LIMIT 1").getInt64();
  SQLite::Statement mark(
      database, "INSERT INTO NVTX_EVENTS (start, eventType, text, globalTid) VALUES (1000, 34, 'LLM.clock@monotonic_ns=5001000', ?)");
  mark.bind(1, thread);
  mark.exec();
  const std::string name = "stacks-" + std::to_string(thread >> 24 & 0xFFFFFF) + ".txt";
  const std::string text =
      "nl-stage stacks\t1\nf\t0\t3\tmain\t/m.py\t__main__\t1\tf()\nk\t0\t0\ns\t5002000\t" + std::to_string(thread & 0xFFFFFF) + "\t0\n";
  importing.tree.write(name, text);
  importing.tree.write("stacks-1.txt", text + "c\t5003000\t0\t1\t0\n");
  importing.request.files = {{"nsys", {capture}}, {"stacks", {importing.tree.root() / name, importing.tree.root() / "stacks-1.txt"}}};
  const Run run = importing.import();
  REQUIRE(run.host);
  CHECK(run.host->samples == 1);
  CHECK(find_first(run.import_stats.notes, {Code::kStacksNotJoined}) != nullptr);
  CHECK(std::none_of(run.ranges.begin(), run.ranges.end(), [](const RangeEntry& range) { return test::has(range.name, "monotonic_ns"); }));
}

TEST_CASE("import: the operator pass of a bundle, with its data types; one that cannot be read is noted") {
  Importing importing;
  importing.request.operators = importing.tree.root() / "operators";
  fs::create_directories(importing.request.operators);
  const fs::path sqlite = importing.request.operators / "run.sqlite";
  SECTION("whole") {
    fs::copy_file(kProbe + "probe_node.sqlite", sqlite);
    fs::permissions(sqlite, fs::perms::owner_write, fs::perm_options::add);
    SQLite::Database(sqlite.string(), SQLite::OPEN_READWRITE)
        .exec(
            "UPDATE NVTX_EVENTS SET text = 'aten::mm, op_id = 7, sizes = [[2]]', textId = NULL, domainId = 0 WHERE rowid = (SELECT "
            "min(rowid) FROM NVTX_EVENTS WHERE end IS NOT NULL AND eventType = 59)");
    const Run run = importing.import();
    REQUIRE_FALSE(run.operators.empty());
    CHECK(run.operators[0].source == "pytorch ranges");
    CHECK(run.operators[0].entries.at(0).name == "aten::mm");
    CHECK(run.provenance.adaptations.empty());
  }
  SECTION("broken") {
    std::ofstream(sqlite) << "no database";
    const Run run = importing.import();
    REQUIRE(run.provenance.adaptations.size() == 1);
    CHECK(run.provenance.adaptations[0].code == Code::kOperatorsFailed);
  }
  SECTION("none") { CHECK(importing.import().provenance.adaptations.empty()); }
}

TEST_CASE("import: launches of ncu, beside a capture and alone") {
  Importing importing;
  importing.request.files["ncu"] = {kProbe + "ncu_prefill_raw_mangled.csv"};
  const std::size_t beside = samples_in(importing.import());
  CHECK(beside > 0);
  Importing alone;
  alone.request.files = {{"ncu", {kProbe + "ncu_prefill_raw_mangled.csv"}}};
  const Run run = alone.import();
  REQUIRE(run.kernels);
  CHECK_FALSE(run.kernels->empty());
  CHECK(run.import_stats.notes.at(0).code == Code::kNcuAlone);
  CHECK(captured_by(run.provenance.tracer, run.provenance.meter) == "import");
}

TEST_CASE("import: counters of another workload are a problem, and so are files without any") {
  Importing importing;
  const Unpacked counted(NL_FIXTURES "/h200-collector/gemm-kernels.nltrace.gz"),
      traced(NL_FIXTURES "/h200-collector/llm-cuda-graph.nltrace.gz");
  SECTION("of another") {
    importing.request.files["counters"] = {counted.file};
    const Run run = importing.import();
    REQUIRE_FALSE(run.problems.empty());
    CHECK(run.problems[0].code == Code::kCountersUnmatched);
    CHECK(run.problems[0].what.starts_with("None of the launches that CUPTI measured is a kernel of this trace. The first is "));
    CHECK(run.status == RunStatus::kPartial);
  }
  SECTION("none") {
    importing.request.files["counters"] = {traced.file};
    const Run run = importing.import();
    REQUIRE_FALSE(run.problems.empty());
    CHECK(run.problems[0].code == Code::kCountersEmpty);
  }
  SECTION("ncu's, of another") {
    importing.request.files["ncu"] = {NL_FIXTURES "/h200-llama/ncu_prefill_raw.csv"};
    const Run run = importing.import();
    REQUIRE_FALSE(run.problems.empty());
    CHECK(run.problems[0].what.starts_with("None of the launches that ncu measured is a kernel of this trace. The first is "));
  }
}

TEST_CASE("import: a collector's traces are the capture, and an export of them is kept") {
  Importing importing;
  const Unpacked traced(NL_FIXTURES "/h200-collector/llm-cuda-graph.nltrace.gz");
  importing.request.files = {{"collector", {traced.file}}};
  const Run run = importing.import();
  CHECK(run.import_stats.source_format == SourceFormat::kCollector);
  CHECK_FALSE(run.kernels->empty());
  CHECK(fs::exists(importing.request.out / "collector/run.sqlite"));
}

TEST_CASE("import: a collector's trace that was cut is partial, named, and no rule concludes from its part") {
  Importing importing;
  const Unpacked traced(NL_FIXTURES "/h200-collector/llm-torch.nltrace.gz"), other(NL_FIXTURES "/h200-collector/llm-cuda-graph.nltrace.gz");
  importing.request.files = {{"collector", {traced.file, other.file}}};
  const Run full = importing.import();
  CHECK(full.status == RunStatus::kComplete);
  CHECK_FALSE(full.findings.empty());
  const auto size = fs::file_size(traced.file);
  fs::resize_file(traced.file, size / 2 + 8);

  importing.request.out += "-cut";
  const Run run = importing.import();
  CHECK(run.status == RunStatus::kPartial);
  REQUIRE(run.problems.size() == 1);
  const std::string chunks = std::to_string((size / 2 + 65536) / 65536 * 65536);  // an earlier collector: the last chunk is not whole
  CHECK(run.problems[0].code == Code::kCaptureCut);
  CHECK(run.problems[0].what == "The trace is cut: its file has " + std::to_string(size / 2 + 8) + " bytes, where " + chunks +
                                    " or more were written. What is in the rest is missing.");
  CHECK(run.problems[0].where == traced.file.filename());
  CHECK_FALSE(run.problems[0].fix.empty());
  CHECK(find_first(run.import_stats.notes, kCaptureIncomplete) == nullptr);  // said once
  for (const Finding& finding : run.findings) {
    CAPTURE(finding.rule);
    CHECK((finding.rule == "slow_first_step" || finding.rule == "step_jitter"));  // of windows that are there to their end
    CHECK((finding.gain_ns || finding.gain_note.find("captured") == std::string::npos));
  }
  const auto launches = std::find_if(run.abstentions.begin(), run.abstentions.end(),
                                     [](const Abstention& each) { return each.rule == "launch_bound_decode"; });
  REQUIRE(launches != run.abstentions.end());
  CHECK(launches->why == "needs the whole trace: a part of it is missing");
  CHECK(run_metrics(run).empty());  // nothing to gate or to draw
  CHECK_FALSE(run_metrics(full).empty());
}

TEST_CASE("import: files that are not there, and folders, are named") {
  Importing importing;
  importing.request.files["ncu"] = {importing.tree.root() / "none.csv"};
  Error error = importing.refused();
  CHECK(error.kind == ErrorKind::kInput);
  CHECK(error.message == "there is no such file");
  CHECK(error.where == (importing.tree.root() / "none.csv").string());
  importing.request.files["ncu"] = {importing.tree.root()};
  CHECK(importing.refused().message == "not a file");
  importing.request.files = {{"ncu", {}}};
  error = importing.refused();
  CHECK(error.kind == ErrorKind::kUsage);
  CHECK(error.message == "there is nothing to import");
  CHECK(error.fix ==
        "give an nsys SQLite or .nsys-rep, an ncu CSV or .ncu-rep, a collector trace, a torch.profiler JSON, an ONNX Runtime JSON, a "
        "trtexec JSON, sampled stacks (stacks-<pid>.txt), or a bundle");
  CHECK_FALSE(fs::exists(importing.request.out));
}

TEST_CASE("import: a copy of the export can be written to, though the export itself cannot") {
  Importing importing;
  importing.request.copy = true;
  CHECK(importing.import().problems.empty());
  CHECK(fs::exists(importing.request.out / "nsys/run.sqlite"));
  CHECK((fs::status(importing.request.out / "nsys/run.sqlite").permissions() & fs::perms::owner_write) != fs::perms::none);
}

TEST_CASE("import: rules and devices are read before a bundle is begun") {
  Importing importing;
  if (GENERATE(true, false)) importing.request.config.analysis.rules = {importing.tree.write("mine.yaml", "nonsense: [").string()};
  else importing.request.config.device.file = importing.tree.write("card.yaml", "nonsense: [").string();
  CHECK(importing.refused().kind == ErrorKind::kConfig);
  CHECK_FALSE(fs::exists(importing.request.out));
}
