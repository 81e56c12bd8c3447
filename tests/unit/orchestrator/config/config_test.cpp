#include "orchestrator/config/config.h"

#include "model/error.h"
#include "orchestrator/config/keys.h"
#include "orchestrator/config/nearest.h"
#include "tests/catch.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

namespace fs = std::filesystem;
using nl::test::FakeTree;

namespace {

const fs::path kConf = fs::path(NL_SOURCE_ROOT) / "conf";

// Bare names are looked up in the shipped folder, wherever the build folder lies.
[[maybe_unused]] const int kDataDir = setenv("NL_STAGE_DATA", NL_SOURCE_ROOT, 1);

nl::Error error_of(const nl::orchestrator::ConfigRequest& request) {
  try {
    nl::orchestrator::load_config(request);
  } catch (const nl::Error& error) {
    return error;
  }
  FAIL("no error was thrown");
  throw 0;
}

// A conf folder with one runner file, and the error that loading it gives.
struct Conf {
  explicit Conf(const std::string& runner) {
    tree.write("conf/profiling/nsys/default.yaml", "nsys: {sample: none}\n");
    file = tree.write("conf/runner/r.yaml", runner);
  }
  nl::Error error() const { return error_of({.runner_file = file}); }
  std::string at(const std::string& place) const { return file.string() + ":" + place; }
  FakeTree tree;
  fs::path file;
};

}  // namespace

TEST_CASE("later files win: presets, runner, model, --set, flags") {
  FakeTree tree;
  tree.write("conf/profiling/nsys/a.yaml", "nsys: {sample: process-tree, trace: [cuda]}\nncu: {launch_count: 2}\n");
  tree.write("conf/profiling/ncu/b.yaml", "nsys: {trace: [nvtx]}\nncu: {launch_count: 3, set: basic}\n");
  tree.write("conf/model/llm/m.yaml", "model: {name: m, layers: 2}\n");
  const auto runner = tree.write("conf/runner/r.yaml",
                                 "compose: [profiling/nsys/a, profiling/ncu/b]\nncu: {launch_count: 4}\nmodel: {layers: 9, heads: 8}\n");
  const auto config = nl::orchestrator::load_config({.runner_file = runner,
                                                     .model_file = "m",
                                                     .sets = {"ncu.set=full", "run.stages=[decode]", "artifacts.dir=out"},
                                                     .name = "n",
                                                     .command = {"./x", "-y"}});
  CHECK(config.nsys.sample == "process-tree");
  CHECK(config.nsys.trace == std::vector<std::string>{"nvtx"});
  CHECK(config.ncu.launch_count == 4);
  CHECK(config.ncu.set == "full");
  CHECK(config.model.name == "m");
  CHECK(config.model.attributes == std::map<std::string, std::string>{{"layers", "2"}, {"heads", "8"}});
  CHECK(config.run.stages == std::vector<std::string>{"decode"});
  CHECK(config.run.name == "n");
  CHECK(config.artifacts.dir == "out");
  CHECK(config.workload.command == std::vector<std::string>{"./x", "-y"});
  CHECK(config.sources.size() == 4);
  CHECK(config.sources.back().ends_with("conf/model/llm/m.yaml"));
}

TEST_CASE("an unknown key names its place and the nearest key") {
  const Conf conf("run:\n  mode: deep\n  top_n: 5\n");
  const auto error = conf.error();
  CHECK(error.kind == nl::ErrorKind::kConfig);
  CHECK(error.message == "unknown key 'run.top_n'");
  CHECK(error.where == conf.at("3:3"));
  CHECK(error.fix == "did you mean 'run.top_n_kernels'?");
  CHECK(Conf("nsy:\n  sample: none\n").error().fix == "did you mean 'nsys'?");
  CHECK(Conf("top_n_kernels: 3\n").error().fix == "did you mean 'run.top_n_kernels'?");
  CHECK(Conf("nsys:\n  export:\n    sqlit: true\n").error().where.ends_with(":3:5"));
  CHECK(Conf("model: {layer: 3}\n").error().fix == "did you mean 'model.layers'?");
}

TEST_CASE("a wrong type names what was wanted") {
  const Conf conf("run:\n  top_n_kernels: many\n");
  CHECK(conf.error().message == "run.top_n_kernels wants a whole number, not 'many'");
  CHECK(conf.error().where == conf.at("2:18"));
  CHECK(Conf("run: {top_n_kernels: \"5\"}\n").error().message == "run.top_n_kernels wants a whole number, not the text '5'");
  CHECK(Conf("run: {top_n_kernels: 2.5}\n").error().message == "run.top_n_kernels wants a whole number, not '2.5'");
  CHECK(Conf("run: {top_n_kernels: }\n").error().message == "run.top_n_kernels wants a whole number, not nothing");
  CHECK(Conf("run: {mode: [deep]}\n").error().message == "run.mode wants a text, not a list");
  CHECK(Conf("nsys: {enabled: 1}\n").error().message == "nsys.enabled wants true or false, not '1'");
  CHECK(Conf("nsys: {timeout_s: soon}\n").error().message == "nsys.timeout_s wants a number, not 'soon'");
  CHECK(Conf("ncu: {nvtx: {include: x}}\n").error().message == "ncu.nvtx.include wants a list of texts, not 'x'");
  CHECK(Conf("workload: {env: [A]}\n").error().message == "workload.env wants a map of texts, not a list");
  CHECK(Conf("stages: {map: {decode_step: '('}}\n").error().message.starts_with("stages.map.decode_step is no regular expression: "));
  CHECK(Conf("model: {layers: four}\n").error().message == "model.layers wants a whole number, not 'four'");
  CHECK(Conf("run: deep\n").error().message == "'run' holds keys, it is no value");
}

TEST_CASE("a value outside the allowed ones, or out of range") {
  const Conf conf("nsys:\n  sample: on\n");
  CHECK(conf.error().message == "nsys.sample cannot be 'on'");
  CHECK(conf.error().where == conf.at("2:11"));
  CHECK(Conf("run: {mode: dep}\n").error().fix == "did you mean 'deep'? One of: deep, light");
  CHECK(Conf("nsys:\n  trace: [cuda,\n    nvt]\n").error().where.ends_with(":3:5"));
  CHECK(Conf("nsys: {trace: 'cuda, nvt'}\n").error().message == "nsys.trace cannot be 'nvt'");
  CHECK(Conf("nsys: {trace: []}\n").error().message == "nsys.trace must not be empty");
  CHECK(Conf("run: {top_n_kernels: 0}\n").error().message == "run.top_n_kernels is out of range: 0");
  CHECK(Conf("run: {top_n_kernels: 0}\n").error().fix == "between 1 and 1000");
  CHECK(Conf("run: {top_n_kernels: 99999999999}\n").error().message == "run.top_n_kernels is out of range: 99999999999");
  CHECK(Conf("nsys: {timeout_s: -1}\n").error().fix == "between 0 and 2592000");
  CHECK(Conf("run: {name: ../up}\n").error().message == "run.name cannot be '../up'");
  CHECK(Conf("run: {name: ''}\n").error().message == "run.name must not be empty");
}

TEST_CASE("files that are no configuration") {
  const Conf twice("run:\n  mode: deep\n  name: a\n  mode: light\n");
  CHECK(twice.error().message == "the key 'mode' is given twice");
  CHECK(twice.error().where == twice.at("4:3"));
  CHECK(twice.error().fix == "keep one of them; the first is on line 2");
  const Conf malformed("run:\n  mode: [deep\n");
  CHECK(malformed.error().message.starts_with("this is no valid YAML"));
  CHECK(malformed.error().where == malformed.at("3:1"));
  CHECK(Conf("run:\n  mode: \"deep\n").error().where.ends_with(":2:9"));
  CHECK(Conf("").error().message == "the configuration file is empty");
  CHECK(Conf("# nothing\n").error().where.ends_with("r.yaml:1:1"));
  CHECK(Conf("- a\n").error().message == "the configuration file holds no keys");
  CHECK(Conf("run: {mode: deep}\n---\nrun: {mode: light}\n").error().message == "there is more than one YAML document");
  CHECK(Conf("&a run: {? [x] : y}\n").error().kind == nl::ErrorKind::kConfig);
  const Conf fine("run: {mode: deep}\n");
  CHECK(error_of({.runner_file = fine.tree.root() / "conf"}).message == "the configuration file is a folder");
}

TEST_CASE("names of files are suggested") {
  const Conf conf("compose:\n  - profiling/nsys/defualt\n");
  CHECK(conf.error().message == "there is no configuration file 'profiling/nsys/defualt'");
  CHECK(conf.error().where == conf.at("2:5"));
  CHECK(conf.error().fix == "did you mean 'profiling/nsys/default'?");
  const auto runner = error_of({.runner_file = "depe"});
  CHECK(runner.where == "--config");
  CHECK(runner.fix == "did you mean 'deep'?");  // which --config takes
  CHECK(error_of({.runner_file = "zzzzzzzzzz"}).fix == "there are: cupti, deep, light, profile, sampling, unprofiled");
  const auto missing_path = error_of({.runner_file = "no/such/folder/deep.yaml"});
  CHECK(missing_path.message == "there is no configuration file 'no/such/folder/deep.yaml'");
  CHECK(error_of({.runner_file = kConf / "runner/deep.yaml", .model_file = "tiny-lama"}).fix == "did you mean 'model/llm/tiny-llama'?");
}

TEST_CASE("presets that compose each other are refused") {
  const Conf conf("compose: [profiling/a]\n");
  conf.tree.write("conf/profiling/a.yaml", "compose: [profiling/b]\n");
  const auto b = conf.tree.write("conf/profiling/b.yaml", "# b\ncompose:\n  - profiling/a\n");
  CHECK(conf.error().message == "the presets compose each other in a circle: a.yaml → b.yaml → a.yaml");
  CHECK(conf.error().where == b.string() + ":3:5");
  CHECK(Conf("compose: profiling/a\n").error().message == "compose wants a list of preset names");
}

TEST_CASE("--set") {
  const auto set = [](std::vector<std::string> sets) {
    return nl::orchestrator::ConfigRequest{.runner_file = kConf / "runner/deep.yaml", .sets = sets};
  };
  CHECK(nl::orchestrator::load_config(set({"run.top_n_kernels=20"})).run.top_n_kernels == 20);
  CHECK(nl::orchestrator::load_config(set({"ncu.sections=[A, B]"})).ncu.sections == std::vector<std::string>{"A", "B"});
  CHECK(nl::orchestrator::load_config(set({"nsys.trace=cuda,nvtx"})).nsys.trace == std::vector<std::string>{"cuda", "nvtx"});
  CHECK(nl::orchestrator::load_config(set({"nsys={sample: process-tree}"})).nsys.sample == "process-tree");
  CHECK(nl::orchestrator::load_config(set({"ncu.set="})).ncu.set.empty());
  CHECK(nl::orchestrator::load_config(set({"workload.env.A=b=c"})).workload.env.at("A") == "b=c");
  const auto mapped = nl::orchestrator::load_config(set({"stages.map.decode_step=^step [0-9]+"}));
  CHECK(mapped.stages.map.at("decode_step") == "^step [0-9]+");
  CHECK(nl::orchestrator::compose_yaml(mapped).find("^step [0-9]+") != std::string::npos);  // no secret
  CHECK(error_of(set({"run.top_n=20"})).where == "--set run.top_n=20");
  CHECK(error_of(set({"run.top_n=20"})).fix == "did you mean 'run.top_n_kernels'?");
  CHECK(error_of(set({"run.mode"})).message == "--set wants key=value, not 'run.mode'");
  CHECK(error_of(set({"run.mode=shallow"})).where == "--set run.mode=shallow");
  CHECK(error_of(set({"run.stages=[a"})).message.starts_with("this is no valid YAML"));
  CHECK(error_of(set({"workload.env.TOKEN=[s3cret]"})).where == "--set workload.env.TOKEN=…");
  CHECK(error_of(set({"workload.env.TOKEN=[s3cret]"})).message.find("s3cret") == std::string::npos);
}

TEST_CASE("the composed configuration can be loaded again, and repeats no environment value") {
  FakeTree tree;
  nl::orchestrator::ConfigRequest request{.runner_file = kConf / "runner/deep.yaml",
                                          .model_file = "tiny-llama",
                                          .sets = {"workload.env={HF_TOKEN: s3cret}", "nsys.timeout_s=0.5", "ncu.set='a \"b\" # c'"},
                                          .command = {"python", "x y.py", "--é=\n", "true"}};
  const auto config = nl::orchestrator::load_config(request);
  CHECK(config.composed_yaml.find("s3cret") == std::string::npos);
  CHECK(config.composed_yaml.find("HF_TOKEN") != std::string::npos);
  for (const auto& key : nl::orchestrator::config_keys())
    if (key.path.substr(0, 6) != "model.")
      CHECK(config.composed_yaml.find(std::string(key.path.substr(key.path.rfind('.') + 1)) + ":") != std::string::npos);
  const auto again = nl::orchestrator::load_config({.runner_file = tree.write("config.yaml", config.composed_yaml)});
  CHECK(again.composed_yaml == config.composed_yaml);
  CHECK(again.workload.command == config.workload.command);
  CHECK(again.ncu.metrics == config.ncu.metrics);
  CHECK(again.nsys.timeout_s == 0.5);
  CHECK(again.model.attributes == config.model.attributes);
  CHECK(again.workload.env.at("HF_TOKEN") == nl::orchestrator::kMaskedValue);
  request.sets.push_back("artifacts.keep_env=true");
  CHECK(nl::orchestrator::load_config(request).composed_yaml.find("s3cret") != std::string::npos);
}

TEST_CASE("every shipped file loads") {
  CHECK(nl::orchestrator::load_config({.runner_file = "deep"}).run.mode == "deep");
  const auto light = nl::orchestrator::load_config({.runner_file = "light"});
  CHECK(light.run.mode == "light");
  CHECK_FALSE(light.ncu.enabled);
  CHECK(light.ncu.metrics.size() == 8);
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kConf)) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string room = *entry.path().lexically_relative(kConf).begin();
    if (room != "runner" && room != "profiling" && room != "model") continue;
    INFO(entry.path());
    CHECK_NOTHROW(nl::orchestrator::load_config({.runner_file = entry.path()}));
    ++files;
  }
  CHECK(files >= 11);
}

TEST_CASE("the defaults need no file and pass their own checks") {
  FakeTree tree;
  const auto config = nl::orchestrator::load_config({});
  CHECK(nl::orchestrator::load_config({.runner_file = tree.write("c.yaml", config.composed_yaml)}).composed_yaml == config.composed_yaml);
}

TEST_CASE("edit distance") {
  CHECK(nl::orchestrator::edit_distance("", "abc") == 3);
  CHECK(nl::orchestrator::edit_distance("kitten", "sitting") == 3);
  CHECK(nl::orchestrator::edit_distance("defualt", "default") == 1);
  CHECK(nl::orchestrator::nearest_name("zzz", {"run", "nsys"}).empty());
}

TEST_CASE("a gated capture needs its range") {
  CHECK(Conf("nsys: {capture_range: nvtx}\n").error().message == "nsys.capture_range is nvtx, but nsys.nvtx_capture names no range");
}

TEST_CASE("counters and sampling: the shipped preset, and the runners that compose it") {
  const nl::orchestrator::CaptureOptions defaults;
  const auto capture = [](const char* runner, std::vector<std::string> sets = {}) {
    return nl::orchestrator::load_config({.runner_file = runner, .sets = std::move(sets)}).capture;
  };
  // The preset repeats the defaults, which hold for runners that compose nothing.
  for (const char* runner : {"deep", "cupti", "sampling"}) {
    CHECK(capture(runner).counter_metrics == defaults.counter_metrics);
    CHECK(capture(runner).sampling_metrics == defaults.sampling_metrics);
    CHECK(capture(runner).replay_metrics.size() == 20);
  }
  // One pass is what ncu's preset of that name was tried to fit into.
  CHECK(nl::orchestrator::load_config({.runner_file = "light"}).ncu.metrics == defaults.counter_metrics);
  CHECK(capture("deep").counters == "auto");
  CHECK(capture("light").counters == "auto");
  CHECK(capture("light").sampling_us == 0);
  CHECK(capture("cupti").prefer == "cupti");
  CHECK(capture("cupti").counters == "cupti");
  CHECK(capture("sampling").counters == "off");
  CHECK(capture("sampling").sampling_us == 500);
  CHECK(nl::orchestrator::load_config({.runner_file = "sampling"}).perturbation.repeats == 0);
  CHECK(capture("deep", {"capture.replay_metrics=a,b"}).replay_metrics == std::vector<std::string>{"a", "b"});
}

TEST_CASE("counters and sampling: values that make no sense") {
  const auto error = [](std::vector<std::string> sets) { return error_of({.runner_file = "deep", .sets = std::move(sets)}); };
  CHECK(error({"capture.counters=ncu"}).where == "--set capture.counters=ncu");
  CHECK(error({"capture.pc_sampling=3"}).message == "capture.pc_sampling is 3");
  CHECK(error({"capture.pc_sampling=32"}).where == "--set capture.pc_sampling=32");
  CHECK(error({"capture.sampling_us=10"}).message == "capture.sampling_us is 10");
  CHECK(error({"capture.sampling_us=500", "capture.sampling_metrics=[]"}).message ==
        "capture.sampling_us is set, but capture.sampling_metrics names nothing");
  CHECK(error({"capture.counters=cupti", "capture.counter_metrics=[]", "capture.replay_metrics=[]"}).message ==
        "capture.counters is cupti, but there is no metric to count");
}

TEST_CASE("a key of the model that is a number takes no other, whole or not as it says") {
  using nl::orchestrator::ModelAttribute;
  std::size_t whole = 0;
  for (const auto& key : nl::orchestrator::config_keys()) {
    const auto* attribute = std::get_if<ModelAttribute>(&key.member);
    if (attribute == nullptr || attribute->type == ModelAttribute::Type::kText || attribute->type == ModelAttribute::Type::kNumbers)
      continue;
    const std::string path(key.path);
    INFO(path);
    CHECK(error_of({.sets = {path + "=many"}}).kind == nl::ErrorKind::kConfig);
    CHECK(nl::orchestrator::load_config({.sets = {path + "=3"}}).model.attributes.at(path.substr(6)) == "3");
    const nl::orchestrator::ConfigRequest half{.sets = {path + "=1.5"}};
    if (attribute->type == ModelAttribute::Type::kNumber) {
      CHECK(nl::orchestrator::load_config(half).model.attributes.at(path.substr(6)) == "1.5");
      continue;
    }
    ++whole;
    CHECK(error_of(half).kind == nl::ErrorKind::kConfig);
  }
  CHECK(whole > 10);
}

TEST_CASE("a folder that is called like a preset does not hide it") {
  const FakeTree tree;
  const fs::path before = fs::current_path(), folder = tree.write("light/notes.txt", "mine").parent_path();
  fs::current_path(folder.parent_path());
  const std::string mode = nl::orchestrator::load_config({.runner_file = "light"}).run.mode;
  fs::current_path(before);
  CHECK(mode == "light");
}
