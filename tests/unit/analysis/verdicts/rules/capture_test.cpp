#include "analysis/verdicts/rules/fields.h"

#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis::rules;

namespace {

std::string command(const std::set<Capture>& captures, const Run& run = {}) {
  const std::string text = capture_command(captures, run), beginning = "nl-stage run ", end = " -- ./your_workload";
  REQUIRE(text.starts_with(beginning));
  REQUIRE(text.ends_with(end));
  return text.substr(beginning.size(), text.size() - beginning.size() - end.size());
}

Run refused_run(Code code) {
  Run run;
  run.provenance.counters_missing = Problem{code, "what happened.", "", "do this"};
  return run;
}

Run generating_run() {
  Run run;
  run.workload.verdict.kind = WorkloadKind::kGeneration;
  return run;
}

}  // namespace

TEST_CASE("capture: every capture that is missing is named, and those that are always there are not") {
  CHECK(
      capture_reason({Capture::kStages, Capture::kAlways, Capture::kBare, Capture::kNvml}, {}) ==
      "needs NVTX ranges of the domain LLM around the program's stages (docs/capture.md), and unprofiled runs, and power and clock samples "
      "(NVML)");
  CHECK(capture_reason({Capture::kCuda, Capture::kOperators}, {}) ==
        "needs a CUDA trace (nsys or the collector), and operator ranges of PyTorch");
  CHECK(capture_reason({Capture::kModel}, {}) == "needs the model shape, the sizes of its inputs and a GPU with known peaks");
  CHECK(capture_reason({Capture::kModel, Capture::kIterations}, generating_run()) ==
        "needs the model shape, token counts and a GPU with known peaks, and three iterations or more, two of them after warm-up");
  CHECK(capture_reason({Capture::kNcu, Capture::kCounters, Capture::kSampling}, {}) ==
        "needs kernel counters (ncu or the collector), and stage counters (collector, CUPTI), and GPU activity samples (collector)");
  CHECK(capture_reason({Capture::kAlways}, {}) == "");
}

TEST_CASE("capture: the command has the lightest configuration that captures all of it") {
  CHECK(command({Capture::kStages, Capture::kCuda, Capture::kIterations}) == "--config light");
  for (const Capture deep : {Capture::kNcu, Capture::kBare, Capture::kNvml}) CHECK(command({deep}) == "--config deep");
  CHECK(command({Capture::kCounters, Capture::kNcu}) == "--config cupti");
  CHECK(command({Capture::kSampling}) == "--config sampling");
  CHECK(command({Capture::kSampling, Capture::kCounters}) == "--config cupti --set capture.sampling_us=500");
  CHECK(command({Capture::kSampling, Capture::kBare}) == "--config deep --set capture.prefer=cupti --set capture.sampling_us=500");
  CHECK(command({Capture::kOperators}) == "--config light --set nsys.pytorch=autograd-shapes-nvtx");
}

TEST_CASE("capture: the command asks for what the model still lacks") {
  CHECK(command({Capture::kModel}) == "--config light --model MODEL.yaml");
  Run run = generating_run();
  run.model.attributes = {{"layers", "4"}, {"prompt_tokens", "256"}};
  CHECK(command({Capture::kModel}, run) == "--config light --set model.batch_size=N --set model.decode_tokens=N");
  run.model.attributes = {{"batch_size", "1"}, {"prompt_tokens", "256"}, {"decode_tokens", "8"}};
  CHECK(command({Capture::kModel}, run) == "--config light --model MODEL.yaml");
  run.workload.verdict.kind = WorkloadKind::kEncoding;
  CHECK(command({Capture::kModel}, run) == "--config light --set model.sequence_tokens=N");
}

TEST_CASE("capture: more samples of the host where there are few, and no command where a run gets none") {
  Run run;
  CHECK(capture_command({Capture::kHostStacks}, run) == "");
  CHECK(command({Capture::kHostStacks, Capture::kCuda}, run) == "--config light");
  run.provenance.tracer = Tracer::kImport;
  CHECK(command({Capture::kHostStacks}, run) == "--config light");
  run.host.emplace();
  CHECK(command({Capture::kHostStacks}, run) == "--config light --set mark.host_samples_hz=199");
}

TEST_CASE("capture: the workload's own command is repeated, quoted") {
  Run run;
  run.workload.command = {"python", "my model.py"};
  CHECK(capture_command({Capture::kCuda}, run) == "nl-stage run --config light -- python 'my model.py'");
}

TEST_CASE("capture: what was refused is not suggested again") {
  for (const Code code : {Code::kCountersDenied, Code::kCountersBusy, Code::kCountersFailed})
    for (const Capture counted : {Capture::kNcu, Capture::kCounters}) {
      CHECK(capture_reason({counted}, refused_run(code)) == "what happened. do this");
      CHECK(capture_command({counted}, refused_run(code)) == "");
    }
  CHECK(capture_reason({Capture::kBare}, refused_run(Code::kCountersDenied)) == "needs unprofiled runs");
  CHECK(capture_command({Capture::kNcu}, refused_run(Code::kCountersOff)) != "");
  Run no_fix = refused_run(Code::kCountersDenied);
  no_fix.provenance.counters_missing->fix.clear();
  CHECK(capture_reason({Capture::kNcu}, no_fix) == "what happened.");
}
