// What is refused, with the whole of each message: what, where and fix. And the values just inside of what is refused.
#include <unistd.h>

#include <functional>

#include "model/error.h"
#include "orchestrator/config/conf_files.h"
#include "orchestrator/config/config.h"
#include "orchestrator/config/keys.h"
#include "orchestrator/config/knowledge.h"
#include "orchestrator/config/nearest.h"
#include "tests/catch.h"
#include "tests/unit/golden.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

namespace fs = std::filesystem;
using namespace nl::orchestrator;
using nl::test::FakeTree;

namespace {

using Texts = std::vector<std::string>;

// "what | where | fix", the file of it as "FILE".
std::string words_of_refusal(const std::function<void()>& work, const std::string& file = "") {
  try {
    work();
  } catch (const nl::Error& error) {
    CHECK(error.kind == nl::ErrorKind::kConfig);
    std::string where = error.where;
    if (!file.empty() && where.starts_with(file)) where.replace(0, file.size(), "FILE");
    return error.message + " | " + where + " | " + error.fix;
  }
  return "accepted";
}

std::string refused_file(const std::string& text) {
  const FakeTree tree;
  tree.write("conf/profiling/nsys/default.yaml", "nsys: {sample: none}\n");
  const auto file = tree.write("conf/runner/r.yaml", text);
  return words_of_refusal([&] { load_config({.runner_file = file}); }, file.string());
}

std::string refused_sets(const Texts& sets) {
  return words_of_refusal([&] { load_config({.sets = sets}); });
}

std::string refused_device(const std::string& text) {
  const FakeTree tree;
  const auto file = tree.write("gpu.yaml", text);
  return words_of_refusal([&] { read_device_file(file); }, file.string());
}

struct Refusal {
  std::string given, words;
};

}  // namespace

TEST_CASE("configuration files that are refused: the whole message") {
  const std::string deep_list = std::string(40, '[') + std::string(40, ']');
  std::string laughs = "a: &a [x,x,x,x,x,x,x,x,x]\n";  // nine times as many values with each line
  for (char c = 'b'; c <= 'j'; ++c) {
    const std::string before = std::string("*") + static_cast<char>(c - 1);
    laughs += std::string(1, c) + ": &" + c + " [" + before;
    for (int n = 1; n < 9; ++n) laughs += "," + before;
    laughs += "]\n";
  }
  const std::string made_to_fill =
      "no file of this kind is like that: it is damaged, or was made to fill the memory; use a copy from where it was made";
  const std::vector<Refusal> refusals = {
      {"run: {mode: zzzzzz}\n", "run.mode cannot be 'zzzzzz' | FILE:1:13 | one of: deep, light"},
      {"run: {mode: dep}\n", "run.mode cannot be 'dep' | FILE:1:13 | did you mean 'deep'? One of: deep, light"},
      {"run: {name: {a: b}}\n", "run.name wants a text, not a map | FILE:1:13 | part of the bundle's name"},
      {"run: {name: ''}\n", "run.name must not be empty | FILE:1:13 | part of the bundle's name"},
      {"run: {name: .hidden}\n",
       "run.name cannot be '.hidden' | FILE:1:13 | it becomes part of a folder's name: letters, digits, '.', '_' and '-', at most 100"},
      {"run: {name: " + std::string(101, 'n') + "}\n",
       "run.name cannot be '" + std::string(101, 'n') +
           "' | FILE:1:13 | it becomes part of a folder's name: letters, digits, '.', '_' and '-', at most 100"},
      {"run: {top_n_kernels: 5x}\n",
       "run.top_n_kernels wants a whole number, not '5x' | FILE:1:22 | how many kernels are measured, by GPU time inside the stages"},
      {"run: {top_n_kernels: [5]}\n",
       "run.top_n_kernels wants a whole number, not a list | FILE:1:22 | how many kernels are measured, by GPU time inside the stages"},
      {"run: {top_n_kernels: 99999999999x}\n",
       "run.top_n_kernels wants a whole number, not '99999999999x' | FILE:1:22 | how many kernels are measured, by GPU time inside the "
       "stages"},
      {"run: {top_n_kernels: 1001}\n", "run.top_n_kernels is out of range: 1001 | FILE:1:22 | between 1 and 1000"},
      {"nsys: {timeout_s: 1e999}\n", "nsys.timeout_s is out of range: 1e999 | FILE:1:19 | between 0 and 2592000"},
      {"nsys: {timeout_s: nan}\n", "nsys.timeout_s wants a number, not 'nan' | FILE:1:19 | seconds before the pass is ended; 0: never"},
      {"model: {rope_theta: -1}\n", "model.rope_theta is out of range: -1 | FILE:1:21 | at least 0"},
      {"nsys: {enabled: 'true'}\n", "nsys.enabled wants true or false, not the text 'true' | FILE:1:17 | trace with Nsight Systems"},
      {"nsys: {enabled: [true]}\n", "nsys.enabled wants true or false, not a list | FILE:1:17 | trace with Nsight Systems"},
      {"nsys: {trace: []}\n", "nsys.trace must not be empty | FILE:1:15 | what is traced"},
      {"nsys: {trace: ''}\n", "nsys.trace must not be empty | FILE:1:15 | what is traced"},
      {"workload: {env: {A: [s3cret]}}\n", "workload.env.A wants a text | FILE:1:21 | write NAME: value"},
      {"workload: {env: {A=B: x}}\n", "'A=B' cannot name a variable | FILE:1:18 | write NAME: value"},
      {"workload: {env: {'': x}}\n", "'' cannot name a variable | FILE:1:18 | write NAME: value"},
      {"model: {stage_flops: {'': 3}}\n", "model.stage_flops wants a name for each number | FILE:1:23 | write NAME: number"},
      {"model: {stage_flops: {gemm: much}}\n",
       "model.stage_flops wants a map of numbers, not 'much' | FILE:1:29 | stage → floating-point operations of one window, for what is no "
       "transformer"},
      {"model: {stage_flops: 3}\n",
       "model.stage_flops wants a map of numbers, not '3' | FILE:1:22 | stage → floating-point operations of one window, for what is no "
       "transformer"},
      {"qqqqqqqqqqqqqqq: 1\n", "unknown key 'qqqqqqqqqqqqqqq' | FILE:1:1 | `nl-stage plan --keys` lists every key"},
      {"compos: [a]\n", "unknown key 'compos' | FILE:1:1 | did you mean 'compose'?"},
      {"nsys: {exprt: {}}\n", "unknown key 'nsys.exprt' | FILE:1:8 | did you mean 'nsys.export'?"},
      {"run: {compose: [a]}\n", "unknown key 'run.compose' | FILE:1:7 | did you mean 'compose'?"},
      {"\nncu:\n  export: 3\n",
       "'ncu.export' holds keys, it is no value | FILE:3:11 | write them below it, such as ncu.export.details_csv"},
      {"run: {? [x] : y}\n", "a key must be a plain word | FILE:1:9 | write name: value"},
      {"run: {stages: " + deep_list + "}\n", "the values are nested too deeply | FILE:1:46 | an alias may contain itself"},
      {"run: {mode: deep}\n---\nrun: {mode: light}\n",
       "there is more than one YAML document | FILE:3:1 | remove the line '---' between them"},
      {",", "this is no valid YAML: a value cannot begin with a comma | FILE:1:1 | remove the comma, or put quotes around the value"},
      {"# of mine\n---\n,",
       "this is no valid YAML: a value cannot begin with a comma | FILE:3:1 | remove the comma, or put quotes around the value"},
      {"{run: {mode: deep}},",
       "this is no valid YAML: a value cannot begin with a comma | FILE:1:20 | remove the comma, or put quotes around the value"},
      {laughs, "the aliases stand for more than 100000 values | FILE:6:8 | " + made_to_fill},
      {std::string(70, '['), "the values are nested more than 64 deep | FILE:1:33 | " + made_to_fill},
      {"", "the configuration file is empty | FILE:1:1 | it needs at least one section, such as run:"},
      {"\n- a\n", "the configuration file holds no keys | FILE:2:1 | write sections such as run: {mode: deep}"},
      {"compose: [[a]]\n", "compose wants a list of preset names | FILE:1:11 | such as compose: [profiling/nsys/default]"},
      {"compose: ['']\n", "compose wants a list of preset names | FILE:1:11 | such as compose: [profiling/nsys/default]"},
      {"compose: {a: b}\n", "compose wants a list of preset names | FILE:1:10 | such as compose: [profiling/nsys/default]"},
      {"nsys: {capture_range: nvtx}\n",
       "nsys.capture_range is nvtx, but nsys.nvtx_capture names no range | FILE | such as --set nsys.nvtx_capture=decode_all@LLM"},
      {"analysis: {warmup: 3x}\n", "analysis.warmup is '3x' | FILE | auto, none, or a number of iterations"},
      {"capture: {pc_sampling: 4}\n", "capture.pc_sampling is 4 | FILE | 0 (off), or 5 to 31: a sample every 2^n cycles"},
  };
  for (const Refusal& refusal : refusals) {
    INFO(refusal.given);
    CHECK(refused_file(refusal.given) == refusal.words);
  }
}

TEST_CASE("--set values that are refused: the whole message") {
  const std::vector<Refusal> refusals = {
      {"=3", "--set wants key=value, not '=3' | --set =3 | such as --set run.top_n_kernels=20"},
      {"run.mode", "--set wants key=value, not 'run.mode' | --set run.mode | such as --set run.top_n_kernels=20"},
      {"workload.env", "--set wants key=value, not 'workload.env' | --set workload.env | such as --set run.top_n_kernels=20"},
      {"workload.env={A: [s3cret]}", "workload.env.A wants a text | --set workload.env=… | write NAME: value"},
      {"nsys.trace=", "nsys.trace must not be empty | --set nsys.trace= | what is traced"},
      {"nsys.trace=cuda,",
       "nsys.trace cannot be '' | --set nsys.trace=cuda, | one of: cuda, cuda-hw, nvtx, osrt, cublas, cublas-verbose, cusolver, "
       "cusolver-verbose, cusparse, cusparse-verbose, cudnn, mpi, oshmem, ucx, openacc, openmp, opengl, opengl-annotations, vulkan, "
       "vulkan-annotations, nvvideo, python-gil, gds, none"},
      {"capture.pc_sampling=4", "capture.pc_sampling is 4 | --set | 0 (off), or 5 to 31: a sample every 2^n cycles"},
      {"capture.sampling_us=49", "capture.sampling_us is 49 | --set | 0 (off), or at least 50: a sample costs about 80 µs of a processor"},
      {"nsys.capture_range=nvtx",
       "nsys.capture_range is nvtx, but nsys.nvtx_capture names no range | --set | such as --set nsys.nvtx_capture=decode_all@LLM"},
      {"analysis.warmup=-1", "analysis.warmup is '-1' | --set | auto, none, or a number of iterations"},
      {"analysis.warmup=1000000", "analysis.warmup is '1000000' | --set | auto, none, or a number of iterations"},
  };
  for (const Refusal& refusal : refusals) {
    INFO(refusal.given);
    CHECK(refused_sets({refusal.given}) == refusal.words);
  }
  CHECK(refused_sets({"capture.sampling_us=50", "capture.sampling_metrics=[]"}) ==
        "capture.sampling_us is set, but capture.sampling_metrics names nothing | --set | "
        "such as --set capture.sampling_metrics=[sm__cycles_active.avg.pct_of_peak_sustained_elapsed]");
  CHECK(refused_sets({"capture.counters=cupti", "capture.counter_metrics=[]", "capture.replay_metrics=[]"}) ==
        "capture.counters is cupti, but there is no metric to count | --set | name some in capture.counter_metrics");
  CHECK(words_of_refusal([] { load_config({.name = "a/b"}); }) ==
        "run.name cannot be 'a/b' | --name | it becomes part of a folder's name: letters, digits, '.', '_' and '-', at most 100");
}

TEST_CASE("values just inside of what is refused are taken") {
  for (const char* set :
       {"run.top_n_kernels=1", "run.top_n_kernels=1000", "nsys.timeout_s=0", "nsys.timeout_s=2592000", "capture.pc_sampling=0",
        "capture.pc_sampling=5", "capture.pc_sampling=31", "capture.sampling_us=50", "capture.sampling_metrics=[]",
        "analysis.warmup=999999", "analysis.warmup=0", "workload.env={}", "model.stage_flops={}", "nsys.nvtx_capture=decode_all@LLM"}) {
    INFO(set);
    CHECK(refused_sets({set}) == "accepted");
  }
  CHECK(refused_sets({"run.name=" + std::string(100, 'n')}) == "accepted");
  CHECK(refused_sets({"run.name=Az09._-"}) == "accepted");
  CHECK(refused_sets({"capture.counters=cupti", "capture.counter_metrics=[]", "capture.replay_metrics=[a]"}) == "accepted");
  CHECK(refused_sets({"capture.counters=auto", "capture.counter_metrics=[]", "capture.replay_metrics=[]"}) == "accepted");
  CHECK(refused_sets({"nsys.nvtx_capture=a@LLM", "nsys.capture_range=nvtx"}) == "accepted");
  for (const char* text :
       {"run:\n", "compose:\nrun: {name: x}\n", "workload: {env: }\n", "model: {stage_flops: }\n", "run: {stages: [[[]]]}\n"}) {
    INFO(text);
    CHECK(refused_file(text).find("nested") == std::string::npos);
  }
  CHECK(refused_file("run:\n") == "accepted");
  CHECK(refused_file("compose:\nrun: {name: x}\n") == "accepted");
  CHECK(refused_file("compose: [profiling/nsys/default.yaml]\n") == "accepted");
  CHECK(refused_file("workload: {env: }\nmodel: {stage_flops: }\n") == "accepted");
}

TEST_CASE("each word for true and false, and lists in one text") {
  for (const char* yes : {"true", "True", "TRUE", "yes", "on"})
    CHECK(load_config({.sets = {std::string("artifacts.keep_env=") + yes}}).artifacts.keep_env);
  for (const char* no : {"false", "False", "FALSE", "no", "off"})
    CHECK_FALSE(load_config({.sets = {std::string("artifacts.perfetto=") + no}}).artifacts.perfetto);
  CHECK(load_config({.sets = {"run.stages='  a b ,c'"}}).run.stages == Texts{"a b", "c"});
  CHECK(load_config({.sets = {"run.stages="}}).run.stages.empty());
}

TEST_CASE("which keys take a text for a list, may not be empty, or become part of a file's name") {
  Texts commas, filled, names;
  for (const ConfigKey& key : config_keys()) {
    if (key.comma_list) commas.emplace_back(key.path);
    if (key.not_empty) filled.emplace_back(key.path);
    if (key.file_name) names.emplace_back(key.path);
  }
  CHECK(commas == Texts{"run.stages", "session.dims", "session.shapes", "capture.counter_metrics", "capture.replay_metrics",
                        "capture.sampling_metrics", "nsys.trace", "ncu.sections", "ncu.metrics"});
  CHECK(filled == Texts{"run.name", "analysis.warmup", "artifacts.dir", "session.inputs", "nsys.trace", "nsys.capture_range_end",
                        "perturbation.limit"});
  CHECK(names == Texts{"run.name"});
}

TEST_CASE("config.yaml of a configuration with every kind of value", "[golden]") {
  const Config config = load_config(
      {.sets = {"nsys.export.sqlite=false", "ncu.export.details_csv=false", "ncu.nvtx.include=[a, 'b \"c\"']", "nsys.timeout_s=0.25",
                "workload.env.TOKEN=s3cret", "workload.env.HOME=/root", "model.layers=4", "model.rope_theta=1e4", "model.dtype=bf16",
                "model.stage_flops.gemm=1e12", "model.stage_bytes={a: 1, b: 2}", "model.name=true", "device.file=mine.yaml"},
       .rules = {"one.yaml"},
       .name = "every",
       .command = {"python", "x y.py", "--n=3"}});
  CHECK_FALSE(config.nsys.sqlite);
  CHECK(config.nsys.stats_csv);
  CHECK_FALSE(config.ncu.details_csv);
  CHECK(config.ncu.nvtx_include == Texts{"a", "b \"c\""});
  CHECK(config.model.attributes.at("stage_bytes.b") == "2");
  nl::test::check_golden(nl::test::kGolden + "config.yaml", config.composed_yaml);
}

TEST_CASE("rules of the command line come behind those of the file, and the sources are in order") {
  const FakeTree tree;
  const auto preset = tree.write("conf/profiling/nsys/own.yaml", "analysis: {rules: [a.yaml]}\n");
  const auto runner = tree.write("conf/runner/r.yaml", "compose: [profiling/nsys/own]\n");
  const auto model = tree.write("m.yaml", "model: {layers: 2}\n");
  const Config config = load_config({.runner_file = runner, .model_file = model, .rules = {"b.yaml", "c.yaml"}});
  CHECK(config.analysis.rules == Texts{"a.yaml", "b.yaml", "c.yaml"});
  CHECK(config.sources == Texts{preset.string(), runner.string(), model.string()});
}

TEST_CASE("run.mode in a file says which passes there are, and keys beside it win, before it or after it") {
  const FakeTree tree;
  const auto load = [&](const std::string& text) { return load_config({.runner_file = tree.write("r.yaml", text)}); };
  CHECK_FALSE(load("run: {mode: light}\n").ncu.enabled);
  CHECK(load("run: {mode: light}\n").perturbation.repeats == 0);
  CHECK(load("run: {mode: deep}\n").perturbation.repeats == 3);
  CHECK(load("run: {mode: light}\nperturbation: {repeats: 2}\n").perturbation.repeats == 2);
  CHECK(load("perturbation: {repeats: 2}\nrun: {name: x, mode: light}\n").perturbation.repeats == 2);
  CHECK(load("capture: {counters: off}\nrun: {mode: deep}\n").capture.counters == "off");
}

TEST_CASE("names of configuration files: where they are looked for, and what is suggested") {
  const auto runner = [](const fs::path& name) { return words_of_refusal([&] { load_config({.runner_file = name}); }); };
  const auto model = [](const fs::path& name) { return words_of_refusal([&] { load_config({.model_file = name}); }); };
  const std::string models =
      "there are: model/llm/deepseek-ocr, model/llm/deepseek-v2-lite, model/llm/deepseek-v3, model/llm/generic, model/llm/llama-3.1-8b, "
      "model/llm/llava-1.5-7b, "
      "model/llm/mixtral-8x7b, model/llm/qwen2-vl-7b, model/llm/qwen2.5-7b, model/llm/tiny-llama";
  CHECK(runner("no/such/depe.yaml") == "there is no configuration file 'no/such/depe.yaml' | --config | did you mean 'deep'?");
  CHECK(runner("./deep").starts_with("there is no configuration file './deep' | --config"));  // a path, not a name
  CHECK(model("zzzzzzzzzzzzzzzzz") == "there is no configuration file 'zzzzzzzzzzzzzzzzz' | --model | " + models);
  CHECK(model("tiny-lama") == "there is no configuration file 'tiny-lama' | --model | did you mean 'model/llm/tiny-llama'?");
  for (const char* name : {"generic", "generic.yaml", "llm/generic", "model/llm/generic"}) CHECK(model(name) == "accepted");
  // The folder conf/ where nl-stage is started, and only the runners that a bare name reaches.
  const FakeTree tree;
  tree.write("conf/runner/mine.yaml", "run: {name: from_here}\n");
  tree.write("conf/runner/below/other.yaml", "run: {name: x}\n");
  tree.write("conf/profiling/x.yaml", "run: {name: x}\n");
  tree.write("light", "run: {name: own_file}\n");
  const fs::path before = fs::current_path();
  fs::current_path(tree.root());
  const std::string own = load_config({.runner_file = "light"}).run.name;
  const std::string found = load_config({.runner_file = "mine"}).run.name, none = runner("zzzzzzzzzz");
  fs::current_path(before);
  CHECK(found == "from_here");
  CHECK(own == "own_file");  // a file that is there wins over a shipped name
  CHECK(none ==
        "there is no configuration file 'zzzzzzzzzz' | --config | there are: cupti, deep, light, mine, profile, sampling, unprofiled");
}

TEST_CASE("presets in a circle: the line that closes it") {
  CHECK(refused_file("compose: [runner/r]\n") ==
        "the presets compose each other in a circle: r.yaml → r.yaml | FILE:1:11 | remove this line");
}

TEST_CASE("conf folders: which one a file belongs to, and which are asked") {
  const FakeTree tree;
  const auto runner = tree.write("a/conf/runner/deep.yaml", "run: {name: here}\n");
  const auto half = tree.write("b/conf/runner/x.yaml", "");
  tree.write("a/conf/profiling/p.yaml", "");
  CHECK(conf_folder_of(runner) == tree.root() / "a/conf");
  CHECK(conf_folder_of(half) == fs::path());
  const char* before = std::getenv("NL_STAGE_DATA");
  const std::string kept = before ? before : "";
  for (const char* data : {"a", "a/conf"}) {
    setenv("NL_STAGE_DATA", (tree.root() / data).c_str(), 1);
    CHECK(ConfFiles::shipped().find("runner/deep.yaml")->text() == "run: {name: here}\n");
  }
  before ? setenv("NL_STAGE_DATA", kept.c_str(), 1) : unsetenv("NL_STAGE_DATA");
  CHECK(words_of_refusal([&] { file_on_disk(tree.root()).text(); }) ==
        "the configuration file is a folder | " + tree.root().string() + " | name a .yaml file in it");
  CHECK(words_of_refusal([&] { file_on_disk(tree.root() / "none").text(); }) ==
        "the configuration file cannot be read | " + (tree.root() / "none").string() + " | check its name");
  CHECK(file_on_disk(half).text() == "");
  CHECK(file_on_disk(half).name() == half.string());
  CHECK(ConfFiles({}).find("runner/deep.yaml")->name_in_conf() == "conf/runner/deep.yaml (built in)");
}

TEST_CASE("the nearest name: distances, sections, names cut short, and how far is too far") {
  CHECK(edit_distance("ab", "ba") == 1);
  CHECK(edit_distance("abc", "ca") == 3);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("abcd", "acbd") == 1);
  CHECK(edit_distance("same", "same") == 0);
  CHECK(nearest_name("RUN.Mode", {"run.name", "run.mode"}) == "run.mode");
  CHECK(nearest_name("run.name", {"x.name", "run.name"}) == "run.name");
  CHECK(nearest_name("z.name", {"x.name", "y.name"}) == "x.name");
  CHECK(nearest_name("names", {"long/section/name"}) == "long/section/name");
  CHECK(nearest_name("cap", {"capture_all_of_it"}) == "capture_all_of_it");
  CHECK(nearest_name(std::string(std::size_t{1} << 22, 'c'), {"capture"}).empty());  // at once: compared, it would take gigabytes
  CHECK(nearest_name("ca", {"capture_all_of_it"}) == "");
  CHECK(nearest_name("capture", {"captur", "capture_all_of_it"}) == "captur");
  CHECK(nearest_name("abcdefgh", {"abcdxxxx"}) == "abcdxxxx");
  CHECK(nearest_name("abcdefgh", {"abcxxxxx"}) == "");
  CHECK(nearest_name("ab", {"xy"}) == "xy");
  CHECK(nearest_name("ab", {"xyz"}) == "");
}

TEST_CASE("device files that are refused: the whole message") {
  const std::string number = " wants a positive number | FILE:2:21 | in units of 10¹² a second: 989.4";
  const std::vector<Refusal> refusals = {
      {"name: x\nzzzzzzzzzzz: 1\n",
       "unknown key 'zzzzzzzzzzz' of a device | FILE:2:1 | one of: name, match, dense_tflops, bandwidth_tb_per_s, notes"},
      {"name: x\ndense_tflops: {bf61: 1}\n", "unknown key 'bf61' of 'dense_tflops' | FILE:2:16 | did you mean 'bf16'?"},
      {"name: x\ndense_tflops: {complex: 1}\n",
       "unknown key 'complex' of 'dense_tflops' | FILE:2:16 | one of: f64, f32, tf32, bf16, f16, fp8, fp4, int8, int4"},
      {"name: x\ndense_tflops: 3\n", "'dense_tflops' wants keys and values | FILE:2:15 | such as dense_tflops: {bf16: 989.4, f32: 67}"},
      {"name: x\nbandwidth_tb_per_s: 0\n", "'bandwidth_tb_per_s'" + number},
      {"name: x\nbandwidth_tb_per_s: 1000000001\n", "'bandwidth_tb_per_s'" + number},
      {"name: x\nbandwidth_tb_per_s: '3'\n", "'bandwidth_tb_per_s'" + number},
      {"name: x\nbandwidth_tb_per_s: 3x\n", "'bandwidth_tb_per_s'" + number},
      {"name: x\nbandwidth_tb_per_s: nan\n", "'bandwidth_tb_per_s'" + number},
      {"name: x\nbandwidth_tb_per_s: [3]\n", "'bandwidth_tb_per_s'" + number},
      {"name: ''\n", "'name' wants a text | FILE:1:7 | put quotes around it where it holds a ':' or a '#'"},
      {"name: [x]\n", "'name' wants a text | FILE:1:7 | put quotes around it where it holds a ':' or a '#'"},
      {"name: x\nnotes: x\n", "'notes' wants a list | FILE:2:8 | write [a, b]"},
      {"name: x\nmatch: [a, []]\n", "an item of 'match' wants a text | FILE:2:12 | put quotes around it where it holds a ':' or a '#'"},
      {"name:\nbandwidth_tb_per_s: 1\n", "'name' has no value | FILE:1:1 | give it one, or remove the line"},
      {"match: [x]\nbandwidth_tb_per_s: 1\n", "the device has no 'name' | FILE:1:1 | write name: NVIDIA H200"},
      {"name: x\n", "the device has no peak | FILE:1:1 | write dense_tflops: {bf16: 989.4} and bandwidth_tb_per_s: 4.8"},
  };
  for (const Refusal& refusal : refusals) {
    INFO(refusal.given);
    CHECK(refused_device(refusal.given) == refusal.words);
  }
}

TEST_CASE("device files: every part of one, and a folder in the order of its names") {
  const FakeTree tree;
  const auto file =
      tree.write("gpus/b.yaml", "name: B\nmatch: [b1, b2]\ndense_tflops: {bf16: 2, f32: 1}\nbandwidth_tb_per_s: 3\nnotes: [n1, n2]\n");
  const nl::DeviceTableEntry entry = read_device_file(file);
  CHECK(entry.name == "B");
  CHECK(entry.file == file.string());
  CHECK(entry.match == Texts{"b1", "b2"});
  CHECK(entry.notes == Texts{"n1", "n2"});
  CHECK(entry.bytes_per_s == 3e12);
  CHECK(entry.flops_per_s == std::map<std::string, double>{{"bf16", 2e12}, {"f32", 1e12}});
  tree.write("gpus/a.yaml", "name: A\nbandwidth_tb_per_s: 1000000000\n");
  tree.write("gpus/c.yaml", "name: C\ndense_tflops: {fp4: 1}\n");
  tree.write("gpus/README.md", "no device");
  const auto table = load_device_table(tree.root() / "gpus");
  REQUIRE(table.size() > 4);
  CHECK(Texts{table[0].name, table[1].name, table[2].name} == Texts{"A", "B", "C"});
  CHECK(table[3].file == "conf/device/a10.yaml");
  CHECK(table.size() == load_device_table().size() + 3);
}

TEST_CASE("the warm-up rule of a configuration") {
  Config config;
  config.analysis.warmup_factor = 2.5;
  using Mode = nl::analysis::WarmupRule::Mode;
  CHECK(warmup_rule(config).mode == Mode::kAuto);
  CHECK(warmup_rule(config).factor == 2.5);
  config.analysis.warmup = "none";
  CHECK(warmup_rule(config).mode == Mode::kNone);
  config.analysis.warmup = "12";
  CHECK(warmup_rule(config).mode == Mode::kCount);
  CHECK(warmup_rule(config).count == 12);
}
