#include "cli/verbs.h"

#include <unistd.h>

#include <SQLiteCpp/SQLiteCpp.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/command_line.h"
#include "cli/run_flags.h"
#include "cli/workload_words.h"
#include "exporters/run_json/run_json.h"
#include "runs/ledger/ledger.h"
#include "tests/catch.h"
#include "tests/unit/cli/answer.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/files.h"
#include "tests/unit/golden.h"

// The verbs as main() sets them up, on captures of the fixtures: no process is started.
namespace {

namespace fs = std::filesystem;
using nl::test::Answer;
using nl::test::nl_stage;
using nl::test::refused;
using nl::test::Words;
using nlohmann::json;

const std::string kProbe = NL_FIXTURES "/h200-probe/probe_node.sqlite";

// Its files as words of a command line.
struct Folder : nl::test::Folder {
  std::string operator/(const std::string& name) const { return (path / name).string(); }
};

void put(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

// What `plan` and `run` make of their words.
nl::orchestrator::ConfigRequest requested(Words words) {
  words.insert(words.begin(), {"nl-stage", "run"});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int argc = static_cast<int>(words.size());
  CLI::App app;
  nl::cli::RunFlags flags;
  nl::cli::add_run_flags(*app.add_subcommand("run"), flags);
  nl::cli::cut_workload(app, argc, argv.data());
  app.parse(argc, argv.data());
  return nl::cli::config_request(flags);
}

std::string nsys_csv(const std::string& report) { return nl::test::read_text(NL_FIXTURES "/h200-probe/probe_node_" + report + ".csv"); }

}  // namespace

TEST_CASE("cli flags: each goes to its own place in the request") {
  const auto request = requested({"-c", "light", "--model", "gpt2", "--set", "a.b=[1,2]", "--set", "c.d=3", "--rules", "one.yaml",
                                  "--rules", "two.yaml", "--name", "smoke", "--out", "bundle", "./workload", "x"});
  CHECK(request.runner_file == "light");
  CHECK(request.model_file == "gpt2");
  CHECK(request.sets == Words{"a.b=[1,2]", "c.d=3"});
  CHECK(request.rules == Words{"one.yaml", "two.yaml"});
  CHECK(request.name == "smoke");
  CHECK(request.command == Words{"./workload", "x"});
  CHECK(requested({}).runner_file == "deep");
}

TEST_CASE("cli flags: each takes one word, and the next one is the command") {
  struct Flag {
    const char* name;
    std::function<Words(const nl::orchestrator::ConfigRequest&)> value;
    bool repeatable;
  };
  const std::vector<Flag> flags = {{"-c", [](const auto& request) { return Words{request.runner_file}; }, false},
                                   {"--config", [](const auto& request) { return Words{request.runner_file}; }, false},
                                   {"--set", [](const auto& request) { return request.sets; }, true},
                                   {"--model", [](const auto& request) { return Words{request.model_file}; }, false},
                                   {"--rules", [](const auto& request) { return request.rules; }, true},
                                   {"--name", [](const auto& request) { return Words{request.name}; }, false},
                                   {"--out", [](const auto&) { return Words{"one"}; }, false}};
  for (const Flag& flag : flags) {
    INFO(flag.name);
    const auto once = requested({flag.name, "one", "./workload", "x=y"});
    CHECK(flag.value(once) == Words{"one"});
    CHECK(once.command == Words{"./workload", "x=y"});
    if (flag.repeatable) {
      const auto twice = requested({flag.name, "one", flag.name, "[2,3]", "./workload"});
      CHECK(flag.value(twice) == Words{"one", "[2,3]"});
      CHECK(twice.command == Words{"./workload"});
    } else {
      CHECK_THROWS_AS(requested({flag.name, "one", flag.name, "two"}), CLI::ParseError);
    }
    CHECK_THROWS_AS(requested({flag.name}), CLI::ParseError);
  }
}

TEST_CASE("cli command: it begins at the first word that is no flag, and its own flags stay with it") {
  using Case = std::pair<Words, Words>;
  const std::vector<Case> cases = {
      {{"python", "generate.py", "--config", "x", "-c", "y", "[a,b]"}, {"python", "generate.py", "--config", "x", "-c", "y", "[a,b]"}},
      {{"-c", "light", "--set=a.b=1", "./workload", "--set", "c=2"}, {"./workload", "--set", "c=2"}},
      {{"-clight", "--name", "n", "./workload"}, {"./workload"}},
      {{"--name", "--", "./workload", "--", "x"}, {"./workload", "--", "x"}},  // "--" is the name here, as CLI11 has it
      {{"--name", "n", "--", "--odd-program", "-x"}, {"--odd-program", "-x"}},
      {{"--", "-"}, {"-"}},
      {{"-", "-c"}, {"-", "-c"}},
      {{"--name", "n"}, {}},
  };
  for (const auto& [words, command] : cases) {
    INFO(words.front());
    CHECK(requested(words).command == command);
  }
}

TEST_CASE("cli command: a mistyped flag before it is the fault, and not a word of the command") {
  CHECK(refused({"run", "--nmae", "x", "python", "--top", "3"}).fix == "did you mean '--name'?");
  CHECK(refused({"try", "--a", "old", "--b", "new", "third"}).message == "there is a third command");
  CHECK(refused({"bisect", "--commands", "list.txt", "./bench"}).message == "there is a command beside --commands");
  CHECK(refused({"doctor", "--", "word"}).message == "unexpected word 'word'");  // a verb without a command loses no word
}

TEST_CASE("cli help: none, -h, help VERB, and the version by both of its flags") {
  const Answer none = nl_stage({});
  CHECK(none.status == 0);
  CHECK(none.out.find("nl-stage doctor") != std::string::npos);
  CHECK(none.out.find("import-bundle") != std::string::npos);
  CHECK(nl_stage({"help"}).out == none.out);
  CHECK(nl_stage({"--help"}).out == none.out);
  CHECK(nl_stage({"help", "import"}).out == nl_stage({"import", "--help"}).out);
  CHECK(nl_stage({"help", "import"}).out.find("nl-stage import [flags]") != std::string::npos);
  CHECK(nl_stage({"help", "fingerprint", "search"}).out == nl_stage({"fingerprint", "search", "-h"}).out);
  CHECK(refused({"help", "improt"}).fix == "did you mean 'import'?");
  CHECK(refused({"help", "fingerprint", "serach"}).fix == "did you mean 'search'?");
  CHECK(nl_stage({"-V"}).out == nl_stage({"--version"}).out);
  CHECK(nl_stage({"-V"}).out.starts_with("nl-stage "));
}

TEST_CASE("cli plan: the command after -- keeps every word, and the bundle is the one that is asked for") {
  Folder folder;
  put(folder / "nsys", "#!/bin/sh\necho 'NVIDIA Nsight Systems version 2025.3.1.90-253135822126v0'\n");
  fs::permissions(folder / "nsys", fs::perms::owner_all);
  const Words light = {"plan", "-c", "light", "--name", "smoke", "--set", "artifacts.dir=kept", "--set", "tools.nsys=" + (folder / "nsys")};
  Words fresh = light, given = light;
  fresh.insert(fresh.end(), {"--", "/bin/true", "[a,b]", "--", "--json"});
  const Answer answer = nl_stage(fresh);
  CHECK(answer.status == 0);
  CHECK(answer.out.find("/bin/true '[a,b]' -- --json") != std::string::npos);
  CHECK(answer.out.find("kept/STAMP-smoke-light") != std::string::npos);
  given.insert(given.end(), {"--out", "elsewhere", "--json", "--", "/bin/true"});
  const std::string json_text = nl_stage(given).out;
  CHECK(json_text.find("STAMP") == std::string::npos);
  CHECK(json_text.find("elsewhere/") != std::string::npos);
  CHECK(json::parse(json_text).contains("passes"));
  // run --dry-run prints the same.
  given.front() = "run";
  given.insert(given.begin() + 1, "--dry-run");
  CHECK(nl_stage(given).out == json_text);
  fresh.front() = "run";
  fresh.insert(fresh.begin() + 1, "--dry-run");
  CHECK(nl_stage(fresh).out == answer.out);
}

TEST_CASE("cli plan: --keys lists the keys, as text or as Markdown") {
  const std::string text = nl_stage({"plan", "--keys"}).out, markdown = nl_stage({"plan", "--keys", "--markdown"}).out;
  CHECK(text.find("run.top_n_kernels") != std::string::npos);
  CHECK(text.find("| `") == std::string::npos);
  CHECK(markdown.find("| `") != std::string::npos);
}

TEST_CASE("cli import: files and flags go to the same bundle, and JSON says where it is") {
  Folder folder;
  const Answer flagged = nl_stage({"import", "--nsys", NL_FIXTURES "/h200-llama/nsys.sqlite", "--ncu",
                                   NL_FIXTURES "/h200-llama/ncu_decode_raw.csv", "--name", "mine", "--out", folder / "one", "--model",
                                   NL_FIXTURES "/h200-llama/model.yaml", "--set", "run.top_n_kernels=2", "--json"});
  CHECK(flagged.status == 0);
  CHECK(json::parse(flagged.out)["bundle"] == folder / "one");
  const json run = json::parse(nl::test::read_text(folder / "one/run.json"));
  CHECK(json::parse(flagged.out)["run_id"] == run["run_id"]);
  CHECK(run["run_id"].get<std::string>().find("mine") != std::string::npos);
  const auto selected =
      std::count_if(run["kernels"].begin(), run["kernels"].end(), [](const json& kernel) { return kernel["selected"] == true; });
  CHECK(selected == 2);
  CHECK(std::any_of(run["kernels"].begin(), run["kernels"].end(), [](const json& kernel) { return !kernel["ncu"].empty(); }));
  CHECK(!run["model"]["attributes"].empty());
  CHECK(!fs::exists(folder / "one/captures"));
  const Answer named =
      nl_stage({"import", NL_FIXTURES "/h200-llama/nsys.sqlite", NL_FIXTURES "/h200-llama/ncu_decode_raw.csv", "--out", folder / "two"});
  CHECK(named.status == 0);
  CHECK(named.out.find("\ncomplete: " + (folder / "two") + "\n") != std::string::npos);
  const json other = json::parse(nl::test::read_text(folder / "two/run.json"));
  CHECK(other["kernels"].size() == run["kernels"].size());
  CHECK(other["kernels"][0]["ncu"].size() == run["kernels"][0]["ncu"].size());
}

TEST_CASE("cli whatif: what a change would bring, alone and ranked") {
  const std::string capture = NL_FIXTURES "/h200-llama/nsys.sqlite";
  const json graph = json::parse(nl_stage({"whatif", capture, "--graph", "decode_step", "--json"}).out);
  CHECK(graph["stage"] == "decode_step");
  CHECK(graph["replay_error"].get<double>() < 0.02);
  REQUIRE(graph["predictions"].size() == 1);
  const json& prediction = graph["predictions"][0];
  CHECK(prediction["changes"] == json::array({"--graph decode_step"}));
  CHECK(prediction["unperturbed_ns"].get<double>() < prediction["measured_ns"].get<double>());  // nsys slowed it
  CHECK(prediction["predicted_ns"].get<double>() <
        0.3 * prediction["unperturbed_ns"].get<double>());  // 4 ms of launches, 0.4 ms of kernels
  CHECK(prediction["low_ns"].get<double>() <= prediction["predicted_ns"].get<double>());
  CHECK(prediction["binds"] == "gpu");
  CHECK(prediction["refused"].is_null());
  const json all = json::parse(nl_stage({"whatif", capture, "--json"}).out);
  REQUIRE(all["predictions"].size() >= 2);
  CHECK(all["predictions"][0]["changes"] == json::array({"--graph decode_step"}));
  CHECK(all["sequence"][0]["changes"] == json::array({"--graph decode_step"}));
  const json host = json::parse(nl_stage({"whatif", capture, "--host", "audit=0", "--json"}).out);
  CHECK(host["predictions"][0]["refused"] == "no stacks");
  CHECK(host["predictions"][0]["predicted_ns"].is_null());
  const std::string text = nl_stage({"whatif", capture, "--graph", "decode_step", "--kernel", "gemm=0.5"}).out;
  CHECK(text.find("--kernel gemm=0.5 --graph decode_step") != std::string::npos);
  CHECK(text.find("A small copy of the inputs is added before each graph.") != std::string::npos);
}

TEST_CASE("cli whatif: pairs of the ledger scale the intervals, and that is said") {
  Folder folder;
  const std::string capture = NL_FIXTURES "/h200-llama/nsys.sqlite", place = folder / "ledger.sqlite";
  const auto predicted = [&](const std::string& ledger) {
    return json::parse(nl_stage({"whatif", capture, "--graph", "decode_step", "--json", "--ledger", ledger}).out);
  };
  const json shipped = predicted("off");
  CHECK(shipped["interval_scale"] == 1);
  CHECK(shipped["tracer"] == "nsys");
  nl::PredictionPair pair;
  pair.hardware = shipped["hardware"];
  CHECK(pair.hardware == "NVIDIA H200");
  pair.predicted_ratio = 0.5;
  pair.low_ratio = 0.4;
  pair.high_ratio = 0.625;
  pair.measured_ratio = 0.78125;  // twice the reach
  pair.stage = "decode_step";
  pair.changes = "--graph decode_step";
  pair.kind = "graph";
  auto ledger = nl::runs::Ledger::open(place);
  for (int i = 0; i < 8; ++i) ledger.record_pair(pair);
  CHECK(predicted(place)["interval_scale"] == 1);  // too few
  ledger.record_pair(pair);
  const json scaled = predicted(place);
  CHECK(scaled["interval_scale"].get<double>() == Approx(2));
  const auto reach = [](const json& root) {
    const json& each = root["predictions"][0];
    return std::log(each["high_ns"].get<double>() / each["low_ns"].get<double>());
  };
  CHECK(reach(scaled) == Approx(2 * reach(shipped)).epsilon(1e-4));  // times are whole nanoseconds
  CHECK(scaled["predictions"][0]["predicted_ns"] == shipped["predictions"][0]["predicted_ns"]);
  const std::string text = nl_stage({"whatif", capture, "--graph", "decode_step", "--ledger", place}).out;
  CHECK(text.find("Intervals are scaled by 2, by 9 pairs of this ledger.") != std::string::npos);
  put(folder / "broken.sqlite", "this is no ledger");
  CHECK(predicted(folder / "broken.sqlite") == shipped);
}

TEST_CASE("cli whatif --record: the pairs of the ledger, by hardware and kind") {
  Folder folder;
  const std::string place = folder / "ledger.sqlite";
  auto ledger = nl::runs::Ledger::open(place);
  CHECK(nl_stage({"whatif", "--record", "--ledger", place}).out.find("nl-stage try --predicted whatif.json") != std::string::npos);
  CHECK(json::parse(nl_stage({"whatif", "--record", "--json", "--ledger", place}).out)["machines"].empty());
  nl::PredictionPair pair;
  pair.stage = "decode_step";
  pair.hardware = "NVIDIA H200";
  pair.changes = "--graph decode_step";
  pair.kind = "graph";
  pair.predicted_ratio = 0.5;
  pair.low_ratio = 0.4;
  pair.high_ratio = 0.625;
  pair.measured_ratio = 0.6;
  ledger.record_pair(pair);
  pair.kind = nl::kSeveralChanges;
  pair.measured_ratio = 0.7;
  ledger.record_pair(pair);
  const std::string text = nl_stage({"whatif", "--record", "--ledger", place}).out;
  CHECK(text.find("NVIDIA H200: 2 pairs, median error 30.0 %, 1 in the interval (50 %).") != std::string::npos);
  CHECK(text.find("| several | 1 | 40.0 % | 0 |") != std::string::npos);
  const json root = json::parse(nl_stage({"whatif", "--record", "--json", "--ledger", place}).out);
  CHECK(root["ledger"] == place);
  REQUIRE(root["machines"].size() == 1);
  CHECK(root["machines"][0]["count"] == 2);
  CHECK(root["machines"][0]["pairs"][1]["within"] == false);
}

TEST_CASE("cli whatif: a run or --record, and not both or none") {
  for (const Words& words : {Words{"whatif"}, {"whatif", kProbe, "--record"}, {"whatif", "--record", "--pinned"}}) {
    const nl::Error error = refused(words);
    CHECK(error.kind == nl::ErrorKind::kUsage);
    CHECK(error.message == "whatif takes a run, or --record alone");
    CHECK(error.fix == "nl-stage whatif RUN, or nl-stage whatif --record");
  }
}

TEST_CASE("cli try --predicted: what is no prediction is refused before anything runs") {
  Folder folder;
  put(folder / "other.json", "{}");
  const nl::Error error = refused({"try", "--predicted", folder / "other.json", "--a", "false", "--b", "false", "--out", folder / "trial"});
  CHECK(error.kind == nl::ErrorKind::kInput);
  CHECK(error.where == (folder / "other.json") + ", predictions");
  CHECK(error.fix == "name a file that whatif wrote: nl-stage whatif RUN --json > whatif.json");
  CHECK_FALSE(fs::exists(folder / "trial"));
}

TEST_CASE("cli whatif: a factor that is none is refused") {
  for (const char* wrong : {"audit", "audit=", "=0", "audit=fast", "audit=-1", "audit=0x"})
    CHECK(refused({"whatif", kProbe, "--host", wrong}).message == fmt::format("'{}' is not a name and a factor", wrong));
}

TEST_CASE("cli import: a flag takes one word, and the next one is a capture") {
  Folder folder;
  put(folder / "rules.yaml", "rules: []\n");
  const std::string nsys = NL_FIXTURES "/h200-llama/nsys.sqlite", ncu = NL_FIXTURES "/h200-llama/ncu_decode_raw.csv";
  const std::vector<Words> all = {{"--rules", folder / "rules.yaml", nsys},
                                  {"--set", "run.top_n_kernels=2", nsys},
                                  {"--config", "light", nsys},
                                  {"--model", NL_FIXTURES "/h200-llama/model.yaml", nsys},
                                  {"--name", "mine", nsys},
                                  {"--nsys", nsys, ncu}};
  for (const Words& words : all) {
    INFO(words[0]);
    const std::string bundle = folder / ("bundle" + words[0]);
    CHECK(nl_stage({"import", words[0], words[1], words[2], "--out", bundle}).status == 0);
    CHECK(!json::parse(nl::test::read_text(bundle + "/run.json"))["kernels"].empty());
  }
}

TEST_CASE("cli import: each format's flag is read as this format") {
  Folder folder;
  nl_stage({"import", "--ort", NL_FIXTURES "/onnxruntime/profile.json", "--out", folder / "ort"});
  CHECK(json::parse(nl::test::read_text(folder / "ort/run.json"))["operators"][0]["source"] == "onnxruntime");
  for (const std::string flag : {"--nsys", "--ncu", "--collector", "--kineto", "--ort", "--trtexec"}) {
    const nl::Error error = refused({"import", flag, folder / ("no" + flag), "--out", folder / "none"});
    CHECK(error.kind == nl::ErrorKind::kInput);
    CHECK(error.where.find("no" + flag) != std::string::npos);
  }
}

TEST_CASE("cli report: the files are listed, with --out in the other folder, and JSON counts the findings") {
  Folder folder;
  const nl::Run run = nl::test::rich_run();
  put(folder / "bundle/run.json", nl::exporters::run_to_json(run));
  const Answer answer = nl_stage({"report", folder / "bundle"});
  CHECK(answer.status == 0);
  CHECK(answer.out.find(folder / "bundle/report.html\n") != std::string::npos);
  const json listed = json::parse(nl_stage({"report", folder / "bundle/run.json", "--out", folder / "other", "--json"}).out);
  CHECK(listed["run_id"] == run.run_id);
  CHECK(listed["folder"] == folder / "other");
  CHECK(listed["findings"] == run.findings.size());
  for (const auto& file : listed["files"]) CHECK(fs::exists(fs::path(folder / "other") / file.get<std::string>()));
  put(folder / "wrong.yaml", "rules: 3\n");
  CHECK(refused({"report", folder / "bundle", "--rules", folder / "wrong.yaml"}).kind == nl::ErrorKind::kConfig);
}

TEST_CASE("cli stats: every report by itself is nsys' CSV to the byte") {
  // Each asks for its own tables only, so one that is left out shows here.
  for (const std::string report :
       {"cuda_gpu_kern_sum", "cuda_api_sum", "cuda_gpu_mem_time_sum", "nvtx_sum", "nvtx_gpu_proj_sum", "nvtx_kern_sum"}) {
    const Answer answer = nl_stage({"stats", "--report", report, kProbe});
    INFO(report);
    CHECK(answer.status == 0);
    CHECK((answer.out == nsys_csv(report)));
    CHECK(answer.err == "");
  }
}

TEST_CASE("cli stats: several reports have titles, and a prefix gives each a file") {
  CHECK((nl_stage({"stats", "-r", "nvtx_sum,cuda_api_sum", kProbe}).out == "** NVTX Range Summary (nvtx_sum):\n\n" + nsys_csv("nvtx_sum") +
                                                                               "\n** CUDA API Summary (cuda_api_sum):\n\n" +
                                                                               nsys_csv("cuda_api_sum")));
  Folder folder;
  const Answer answer = nl_stage({"stats", "-r", "nvtx_sum,cuda_api_sum", "-o", folder / "all", kProbe});
  CHECK(answer.out == "");
  CHECK(answer.err == (folder / "all_nvtx_sum.csv\n") + (folder / "all_cuda_api_sum.csv\n"));
  CHECK((nl::test::read_text(folder / "all_cuda_api_sum.csv") == nsys_csv("cuda_api_sum")));
  nl_stage({"stats", "-r", "nvtx_sum", "-f", "table", "-o", folder / "all", kProbe});
  CHECK(nl::test::read_text(folder / "all_nvtx_sum.txt").find("NVTX Range Summary (nvtx_sum)") != std::string::npos);
  const json rows = json::parse(nl_stage({"stats", "-r", "nvtx_sum", "-f", "json", kProbe}).out);
  CHECK(rows.is_array());
  const json both = json::parse(nl_stage({"stats", "-r", "nvtx_sum,cuda_api_sum", "-f", "json", kProbe}).out);
  CHECK(both.size() == 2);
  CHECK(both["nvtx_sum"] == rows);
  CHECK(json::parse(nl_stage({"stats", "-r", "nvtx_sum", "--json", kProbe}).out) == json{{"nvtx_sum", rows}});
  CHECK(json::parse(nl_stage({"stats", "-r", "cuda_gpu_mem_time_sum", "--json", NL_FIXTURES "/crafted/ranges.sqlite"}).out) ==
        json::object());
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 3);
}

TEST_CASE("cli stats: what cannot be answered or written is said") {
  Folder folder;
  const std::string no_copies = NL_FIXTURES "/crafted/ranges.sqlite";
  const Answer none = nl_stage({"stats", "-r", "cuda_gpu_mem_time_sum", no_copies});
  CHECK(none.status == 3);
  CHECK(none.out == "");
  CHECK(none.err.find("cuda_gpu_mem_time_sum: ") == 0);
  const Answer some = nl_stage({"stats", "-r", "cuda_gpu_mem_time_sum,nvtx_sum", no_copies});
  CHECK(some.status == 0);
  CHECK(some.out.find("** NVTX") == 0);
  CHECK(refused({"stats", "-r", "no_such_sum", kProbe}).kind == nl::ErrorKind::kUsage);
  CHECK(refused({"stats", "run.nsys-rep"}).fix == "nsys export --type sqlite --output run.sqlite run.nsys-rep");
  CHECK(refused({"stats", "run.qdrep"}).kind == nl::ErrorKind::kInput);
  CHECK(refused({"stats", "-o", folder / "no/such/folder", kProbe}).kind == nl::ErrorKind::kOutput);
}

TEST_CASE("cli validate: every file is looked at, and the first wrong one decides") {
  Folder folder;
  put(folder / "bundle/run.json", nl::test::read_text(nl::test::kGolden + "h200-llama/run.json"));
  put(folder / "wrong.json", "{}");
  const Answer answer = nl_stage({"validate", folder / "wrong.json", folder / "bundle", folder / "missing.json"});
  CHECK(answer.status == 3);
  CHECK(answer.out == (folder / "bundle/run.json") + ": valid\n");
  CHECK(answer.err.find("error: ") == 0);
  CHECK(answer.err.find(folder / "missing.json") != std::string::npos);
  CHECK(nl_stage({"validate", folder / "bundle"}).status == 0);
}

TEST_CASE("cli validate: as JSON, every file with its fault") {
  Folder folder;
  put(folder / "bundle/run.json", nl::test::read_text(nl::test::kGolden + "h200-llama/run.json"));
  const Answer answer = nl_stage({"validate", folder / "missing.json", folder / "bundle", "--json"});
  CHECK(answer.status == 3);
  CHECK(answer.err == "");
  const json listed = json::parse(answer.out);
  CHECK(listed["exit_status"] == 3);
  CHECK(listed["files"][0] == json{{"file", folder / "missing.json"},
                                   {"valid", false},
                                   {"error",
                                    {{"kind", "input"},
                                     {"code", "no_such_file"},
                                     {"what", "the file cannot be read"},
                                     {"where", folder / "missing.json"},
                                     {"fix", "give a run.json or the folder of a bundle"},
                                     {"exit_status", 3}}}});
  CHECK(listed["files"][1] == json{{"file", folder / "bundle/run.json"}, {"valid", true}, {"error", nullptr}});
}

TEST_CASE("cli schema: the schemas of the repository, byte for byte") {
  for (const std::string name : {"run", "compare", "suite"})
    CHECK((nl_stage({"schema", name}).out == nl::test::read_text(NL_SOURCE_ROOT "/schema/" + name + ".schema.json")));
  CHECK(nl_stage({"schema"}).out.find("\nrun ") != std::string::npos);
  const json listed = json::parse(nl_stage({"schema", "--json"}).out)["schemas"];
  CHECK(listed[0]["name"] == "answer");
  CHECK(listed[0]["verbs"] == json{"run", "import", "show", "profile"});
  CHECK(refused({"schema", "rnu"}).fix == "did you mean 'run'?");
  CHECK(refused({"schema", "everything"}).fix == "`nl-stage schema` lists them");
}

TEST_CASE("cli doctor: status 4 with a blocked check, and JSON on request") {
  const Answer answer = nl_stage({"doctor", "--json"});
  const json report = json::parse(answer.out);
  CHECK(report.at("blocked").get<bool>() == (answer.status == 4));
  CHECK(report.at("blocked").get<bool>() == std::any_of(report.at("checks").begin(), report.at("checks").end(),
                                                        [](const json& check) { return check.at("level") == "blocked"; }));
  CHECK(refused({"doctor", "--set", "tools.nsys=/no/such/nsys"}).kind == nl::ErrorKind::kTool);
  CHECK(nl_stage({"doctor"}).out.find('\x1b') == std::string::npos);  // a file takes no colours
}

TEST_CASE("cli stats: what cannot be answered or written, in whole messages") {
  Folder folder;
  const nl::Error report = refused({"stats", "-r", "no_such_sum", kProbe});
  CHECK(report.message == "unknown report 'no_such_sum'");
  CHECK(report.where == "--report");
  CHECK(report.fix == "the reports are cuda_gpu_kern_sum, cuda_api_sum, cuda_gpu_mem_time_sum, nvtx_sum, nvtx_gpu_proj_sum, nvtx_kern_sum");
  const nl::Error capture = refused({"stats", "a/run.qdrep"});
  CHECK(capture.message == "stats reads the SQLite export of an nsys report, not the report itself");
  CHECK(capture.where == "a/run.qdrep");
  CHECK(capture.fix == "nsys export --type sqlite --output a/run.sqlite a/run.qdrep");
  const nl::Error output = refused({"stats", "-r", "nvtx_sum", "-o", folder / "no/such", kProbe});
  CHECK(output.message == "the report cannot be written");
  CHECK(output.where == folder / "no/such_nvtx_sum.csv");
  CHECK(output.fix == "check that the folder exists, is writable and has space");
  // A folder is in the way of the file: nothing unfinished is left.
  put(folder / "taken_nvtx_sum.csv/x", "");
  CHECK(refused({"stats", "-r", "nvtx_sum", "-o", folder / "taken", kProbe}).kind == nl::ErrorKind::kOutput);
  CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 1);
  const Answer tables = nl_stage({"stats", "-r", "nvtx_sum,cuda_api_sum", "-f", "table", kProbe});
  CHECK(tables.out.find("** NVTX Range Summary (nvtx_sum):\n\n\n") == std::string::npos);
  CHECK(tables.out == nl_stage({"stats", "-r", "nvtx_sum", "-f", "table", kProbe}).out + "\n" +
                          nl_stage({"stats", "-r", "cuda_api_sum", "-f", "table", kProbe}).out);
  CHECK(refused({"stats", "-f", "xml", kProbe}).kind == nl::ErrorKind::kUsage);
}

TEST_CASE("cli stats: rows that are damaged are counted on standard error") {
  Folder folder;
  fs::copy_file(NL_FIXTURES "/crafted/ties.sqlite", folder / "damaged.sqlite");
  {
    SQLite::Database(folder / "damaged.sqlite", SQLite::OPEN_READWRITE)
        .exec("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start - 1 WHERE rowid <= 2");
  }
  const Answer answer = nl_stage({"stats", "-r", "cuda_gpu_kern_sum", folder / "damaged.sqlite"});
  CHECK(answer.err == (folder / "damaged.sqlite") + ": 2 rows: kernel that ends before it starts or lasts over 4.8 hours\n");
}

TEST_CASE("cli validate: the file of a bundle, a folder without one, and what is no file") {
  Folder folder;
  fs::create_directories(folder / "empty");
  const Answer answer = nl_stage({"validate", folder / "empty", folder / "none"});
  CHECK(answer.status == 3);
  CHECK(answer.out == "");
  CHECK(answer.err.find("error: there is no run.json\nwhere: " + (folder / "empty") + "\nfix:   name a bundle, its run.json") == 0);
  CHECK(answer.err.find("where: " + (folder / "none") + "\n") != std::string::npos);
}

TEST_CASE("cli import: --rules, --config and --keep-env are handed on, and --copy copies") {
  Folder folder;
  put(folder / "rules.yaml",
      "rules:\n  - {name: mine, scope: run, condition: total_time > 0, severity: low, message: it ran, suggestions: [a, b]}\n");
  const std::string nsys = NL_FIXTURES "/h200-llama/nsys.sqlite";
  nl_stage({"import", nsys, "--rules", folder / "rules.yaml", "-c", "light", "--out", folder / "one"});
  const json run = json::parse(nl::test::read_text(folder / "one/run.json"));
  CHECK(std::any_of(run["findings"].begin(), run["findings"].end(), [](const json& finding) { return finding["rule"] == "mine"; }));
  const std::string light = nl::test::read_text(folder / "one/config.yaml");
  CHECK(light.find("mode: \"light\"") != std::string::npos);
  CHECK(light.find("keep_env: false") != std::string::npos);
  CHECK_FALSE(fs::exists(folder / "one/nsys/run.sqlite"));
  nl_stage({"import", nsys, "--keep-env", "--copy", "--out", folder / "two"});
  CHECK(nl::test::read_text(folder / "two/config.yaml").find("keep_env: true") != std::string::npos);
  CHECK(fs::exists(folder / "two/nsys/run.sqlite"));
}

TEST_CASE("cli report: without JSON the files and notes, with it every field") {
  Folder folder;
  put(folder / "b/run.json", nl::exporters::run_to_json(nl::test::rich_run()));
  const json listed = json::parse(nl_stage({"report", folder / "b", "--json"}).out);
  CHECK(listed["folder"] == folder / "b");
  const Answer text = nl_stage({"report", folder / "b"});
  std::string expected;
  for (const auto& file : listed["files"]) expected += folder / ("b/" + file.get<std::string>()) + "\n";
  for (const auto& note : listed["notes"]) expected += "note: " + note.get<std::string>() + "\n";
  CHECK(text.out == expected);
  put(folder / "rules.yaml",
      "rules:\n  - {name: mine, scope: run, condition: total_time > 0, severity: low, message: it ran, suggestions: [a, b]}\n");
  put(folder / "b/run.json", nl::exporters::run_to_json(nl::test::full_run()));
  nl_stage({"report", folder / "b", "--rules", folder / "rules.yaml", "--out", folder / "c"});
  CHECK(nl::test::read_text(folder / "c/report.md").find("it ran") != std::string::npos);
}
