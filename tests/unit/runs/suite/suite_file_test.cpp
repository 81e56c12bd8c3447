#include "model/error.h"
#include "runs/suite/suite.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

using namespace nl::runs;

namespace {

using SuiteWords = std::vector<std::string>;

struct SuiteFolder : nl::test::Folder {
  Suite read(const std::string& text) const { return read_suite(file("bench.yaml", text)); }
  nl::Error refused(const std::string& text) const {
    try {
      read(text);
    } catch (const nl::Error& error) {
      return error;
    }
    FAIL("it was read: " << text);
    return {nl::ErrorKind::kInternal, ""};
  }
};

}  // namespace

TEST_CASE("suite file: every key") {
  const SuiteFolder folder;
  const Suite suite = folder.read(R"(name: attention
iterations: 7
warmup: 2
profile: deep
threshold: 1.2
timeout: 3m
measure: decode
waive: [clocks, mig]
require: [virtual_machine]
outputs: [stdout]
rtol: 1e-3
atol: 0.5
expectations: perf/speedups.yaml
slurm:
  partition: gpu
  gpus: h100:2
  constraint: a&b
  time: 30
  sbatch: [--account=x]
  srun: [--container-image=img, --container-mounts=/data]
targets:
  eager:
    command: [python, bench.py, "a b"]
    env: {X: 1, Y: "two words"}
    set: [run.top_n_kernels=20]
    directory: sub
    outputs: [stdout, logits.npy]
    rtol: 0.01
  fused: {command: "A=1 python bench.py | tee log", baseline: eager}
)");
  CHECK(suite.file == folder.path / "bench.yaml");
  CHECK(suite.name == "attention");
  CHECK(suite.iterations == 7);
  CHECK(suite.warmup == 2);
  CHECK(suite.profile == SuiteProfile::kDeep);
  CHECK(suite.threshold == 1.2);
  CHECK(suite.timeout_s == 180);
  CHECK(suite.measure.kind == Measure::Kind::kStage);
  CHECK(suite.measure.stage == "decode");
  CHECK(suite.waived == SuiteWords{"clocks", "mig"});
  CHECK(suite.slurm.partition == "gpu");
  CHECK(suite.slurm.gpus == "h100:2");
  CHECK(suite.slurm.constraint == "a&b");
  CHECK(suite.slurm.time == "30");
  CHECK(suite.slurm.sbatch_args == SuiteWords{"--account=x"});
  CHECK(suite.slurm.srun_args == SuiteWords{"--container-image=img", "--container-mounts=/data"});
  CHECK(suite.required == SuiteWords{"virtual_machine"});
  CHECK(suite.outputs == SuiteWords{kStandardOutput});
  CHECK(suite.tolerance == OutputTolerance{1e-3, 0.5});
  CHECK(suite.expectations == folder.path / "perf/speedups.yaml");
  REQUIRE(suite.targets.size() == 2);
  CHECK(suite.targets[0].outputs == SuiteWords{"stdout", "logits.npy"});
  CHECK(suite.targets[0].tolerance == OutputTolerance{0.01, 0});
  CHECK_FALSE(suite.targets[1].tolerance);
  CHECK(suite.targets[0].name == "eager");
  CHECK(suite.targets[0].command == SuiteWords{"python", "bench.py", "a b"});
  CHECK(suite.targets[0].env == std::map<std::string, std::string>{{"X", "1"}, {"Y", "two words"}});
  CHECK(suite.targets[0].sets == SuiteWords{"run.top_n_kernels=20"});
  CHECK(suite.targets[0].directory == (folder.path / "sub").string());
  CHECK(suite.targets[1].command == SuiteWords{"/bin/sh", "-c", "A=1 python bench.py | tee log"});
  CHECK(suite.targets[1].directory == folder.path.string());
  CHECK(suite.targets[1].baseline == "eager");
}

TEST_CASE("suite file: sizes are a range or a list, for both halves of a pair") {
  const SuiteFolder folder;
  const auto pair_with = [](const std::string& size) {
    return "targets:\n  x_baseline: {command: 'run {size}'}\n  x_optimized: {command: [run, '{size}'], size: " + size + "}\n";
  };
  const auto range = [&](const std::string& size) { return folder.read(pair_with(size)).targets[1].size; };
  CHECK(range("{from: 8, to: 100, times: 3}") == SizeRange{{8, 24, 72, 100}, 0.1});
  CHECK(range("{values: [5, 7], least: 50ms}") == SizeRange{{5, 7}, 0.05});
  CHECK(range("{from: 8, to: 8, least: 2s}") == SizeRange{{8}, 2});
  CHECK(folder.refused(pair_with("{from: 8}")).message == "'size' has no range");
  CHECK(folder.refused(pair_with("{values: [8, 4]}")).message == "the values of 'size' do not rise");
  CHECK(
      folder.refused("targets:\n  x_baseline: {command: run}\n  x_optimized: {command: 'run {size}', size: {from: 1, to: 2}}\n").message ==
      "the command of 'x_baseline' has no {size}");
  CHECK(folder
            .refused("targets:\n  x_baseline: {command: 'r {size}', size: {from: 1, to: 4}}\n  x_optimized: {command: 'r {size}', size: "
                     "{from: 1, to: 2}}\n")
            .message == "'x_baseline' and 'x_optimized' have different sizes");
}

TEST_CASE("suite file: what it does not say") {
  const SuiteFolder folder;
  const Suite suite = folder.read("targets: {a: {command: 'true'}}\n");
  CHECK(suite.name == "bench");
  CHECK(suite.iterations == 5);
  CHECK(suite.warmup == 1);
  CHECK(suite.profile == SuiteProfile::kLight);
  CHECK(suite.threshold == 1.05);
  CHECK(suite.timeout_s == 1800);
  CHECK(suite.measure.kind == Measure::Kind::kAuto);
  CHECK(suite.waived.empty());
  CHECK(folder.read("measure: run\ntargets: {a: {command: 'true'}}\n").measure.kind == Measure::Kind::kRun);
}

TEST_CASE("suite file: every mistake names its place and the next step") {
  const SuiteFolder folder;
  const auto [text, place, message, fix] = GENERATE(table<std::string, std::string, std::string, std::string>({
      {"", "1:1", "the suite file is empty", "write targets: and below it NAME: {command: …}"},
      {"iterations: 3\n", "1:1", "the suite has no targets", "write targets: and below it NAME: {command: …}"},
      {"targets:\n", "1:1", "'targets' has no value", "give it one, or remove the line"},
      {"targets: [a]\n", "1:10", "'targets' wants names", "write targets: and below it NAME: {command: …}"},
      {"target: {}\n", "1:1", "unknown key 'target' of a suite", "did you mean 'targets'?"},
      {"targets:\n  a: {comand: x}\n", "2:7", "unknown key 'comand' of target 'a'", "did you mean 'command'?"},
      {"targets:\n  a: {env: {A: 1}}\n", "2:3", "target 'a' has no command", "write command: python bench.py"},
      {"targets:\n  a: {command: []}\n", "2:16", "'command' wants a text", "put quotes around it where it holds a ':' or a '#'"},
      {"targets:\n  a: x\n", "2:6", "target 'a' wants keys and values", "such as command:"},
      {"targets:\n  a/b: {command: x}\n", "2:3", "the target 'a/b' cannot be the name of a folder",
       "use letters, digits, '_', '-' and '.'"},
      {"name: ../x\ntargets: {a: {command: x}}\n", "1:7", "'name' '../x' cannot be the name of a folder",
       "use letters, digits, '_', '-' and '.'"},
      {"iterations: many\n", "1:13", "'iterations' wants a whole number", "such as iterations: 5"},
      {"iterations: '5'\n", "1:13", "'iterations' wants a whole number", "such as iterations: 5"},
      {"targets:\n  a: {command: x, set: [a, []]}\n", "2:28", "an item of 'set' wants a text",
       "put quotes around it where it holds a ':' or a '#'"},
      {"iterations: 0\n", "1:13", "'iterations' is out of range: 0", "between 1 and 1000"},
      {"warmup: -1\n", "1:9", "'warmup' is out of range: -1", "between 0 and 1000"},
      {"threshold: 0\n", "1:12", "'threshold' is out of range: 0", "1.05 asks for a speed-up of at least 5 %"},
      {"threshold: inf\n", "1:12", "'threshold' is out of range: inf", "1.05 asks for a speed-up of at least 5 %"},
      {"timeout: soon\n", "1:10", "'timeout' wants a time", "write 90s, 30m or 2h"},
      {"profile: lihgt\n", "1:10", "'profile' cannot be 'lihgt'", "did you mean 'light'?"},
      {"profile: fast\n", "1:10", "'profile' cannot be 'fast'", "one of: none, light, deep"},
      {"waive: clocks\n", "1:8", "'waive' wants a list", "write waive: [virtual_machine]"},
      {"waive: [clock]\n", "1:9", "'waive' cannot be 'clock'", "did you mean 'clocks'?"},
      {"slurm: {partion: p}\n", "1:9", "unknown key 'partion' of slurm", "did you mean 'partition'?"},
      {"targets:\n  a: {command: x, set: run.mode=deep}\n", "2:24", "'set' wants a list", "write [a, b]"},
      {"targets:\n  a: {command: x, env: [A]}\n", "2:24", "'env' wants names and values", "write env: {NAME: value}"},
      {"targets:\n  aa: {command: x, baseline: ab}\n  b: {command: x}\n", "2:30", "the baseline 'ab' of 'aa' is no other target",
       "did you mean 'aa'?"},
      {"targets:\n  a: {command: x}\n  a: {command: y}\n", "3:3", "the key 'a' is given twice", "keep one of them; the first is on line 2"},
  }));
  INFO(text);
  const nl::Error error = folder.refused(text);
  CHECK(error.kind == nl::ErrorKind::kConfig);
  CHECK(error.message == message);
  CHECK(error.where == (folder.path / "bench.yaml").string() + ":" + place);
  CHECK(error.fix == fix);
}
