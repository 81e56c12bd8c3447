#include "model/identity.h"

#include "model/program.h"
#include "tests/catch.h"

using namespace nl;

namespace {

Run run_of_command(std::vector<std::string> command) {
  Run run;
  run.workload.command = std::move(command);
  run.model.name = "llama";
  run.model.attributes = {{"architecture", "llama"}, {"layers", "4"}, {"dtype", "bf16"}, {"prompt_tokens", "128"}};
  run.latency.batch = 8;
  return run;
}

void add_kernel(Run& run, const std::string& name, Ns total_ns) {
  if (!run.kernels) run.kernels.emplace();
  KernelEntry& kernel = run.kernels->emplace_back();
  kernel.name = kernel.short_name = name;
  kernel.time.total_ns = total_ns;
}

}  // namespace

TEST_CASE("program: what a command runs, whatever starts it") {
  CHECK(program_of({}).empty());
  CHECK(program_of({"/usr/bin/python3", "-u", "../generate.py", "--batch", "8"}) == "generate.py");
  CHECK(program_of({"env", "-u", "HOME", "A=1", "python", "-X", "dev", "generate.py"}) == "generate.py");
  CHECK(program_of({"/bin/sh", "-c", "python generate.py"}) == "generate.py");
  CHECK(program_of({"torchrun", "--nproc-per-node", "2", "train.py", "--steps", "8"}) == "train.py");
  CHECK(program_of({"numactl", "-N", "0", "python3.12", "-m", "vllm.entrypoints"}) == "vllm.entrypoints");
  CHECK(program_of({"mpirun", "-n", "2", "./solve"}) == "mpirun");  // which of the words it starts is not known
}

TEST_CASE("program: the arguments that matter, files by their names") {
  CHECK(arguments_of({"python3", "/a/generate.py", "--batch", "8", "--model=/data/llama"}) == "--batch 8 --model=llama");
  CHECK(arguments_of({"./decode", "--out", "/tmp/x", "--seed=3", "--verbose", "--steps", "4", "-n", "2"}) == "--steps 4 -n 2");
  CHECK(arguments_of({"torchrun", "--nproc-per-node", "2", "train.py", "--lr", "-1"}) == "--lr -1");
  CHECK(arguments_of({"./decode"}).empty());
}

TEST_CASE("identity: folders, output and a few tokens are no other workload; arguments, batch and lengths are") {
  const WorkloadIdentity a = identity_of(run_of_command({"python3", "/a/generate.py", "--steps", "4", "--out", "x"}));
  Run other = run_of_command({"/opt/python", "/b/generate.py", "--steps", "4", "--out", "y"});
  other.model.attributes["prompt_tokens"] = "131";
  CHECK(differing_parts(a, identity_of(other)).empty());
  CHECK(identity_key(a) == identity_key(identity_of(other)));
  CHECK(identity_text(a) == "generate.py --steps 4, llama, bf16, batch 8, prompts of 128 tokens");
  other.latency.batch = 16;
  other.model.attributes["prompt_tokens"] = "256";
  CHECK(differing_parts(a, identity_of(other)) == std::vector{IdentityPart::kBatch, IdentityPart::kPromptTokens});
  CHECK(identity_key(a) != identity_key(identity_of(other)));
}

TEST_CASE("identity: what is not known neither differs nor agrees") {
  const WorkloadIdentity known = identity_of(run_of_command({"./decode"}));
  Run less = run_of_command({"./decode"});
  less.latency.batch.reset();
  CHECK(differing_parts(known, identity_of(less)).empty());
  CHECK(identity_key(known) != identity_key(identity_of(less)));
  CHECK(identity_key(WorkloadIdentity()).empty());
  CHECK(identity_text(WorkloadIdentity()).empty());
}

TEST_CASE("identity: a model file by its name and the shapes that it is given") {
  Run run;
  run.session.emplace().model = "/models/block.onnx";
  run.session->inputs = {{"x", "float32", "[batch, 16]", {1, 64}}};
  const WorkloadIdentity small = identity_of(run);
  CHECK(small[IdentityPart::kModel] == "block.onnx");
  CHECK(small[IdentityPart::kInputs] == "x:float32[1x64]");
  run.session->inputs[0].shape = {1, 256};
  CHECK(differing_parts(small, identity_of(run)) == std::vector{IdentityPart::kInputs});
}

TEST_CASE("identity: kernels in common are counted by their share of the time") {
  Run a, b;
  CHECK_FALSE(common_kernels(a, b));
  add_kernel(a, "gemm", 60);
  add_kernel(a, "softmax", 40);
  add_kernel(b, "gemm", 30);
  add_kernel(b, "sort", 70);
  CHECK(common_kernels(a, b) == 0.3);
  CHECK(common_kernels(a, a) == 1);
}

TEST_CASE("identity: a model file is its digest, whatever it is called, and the precision of weights and of products counts") {
  Run run;
  run.session.emplace().model = "/models/block.onnx";
  run.model.digest = "sha256:12";
  run.model.weights_precision = run.model.compute_precision = DataType::kF32;
  const WorkloadIdentity before = identity_of(run);
  CHECK(identity_text(before) == "block.onnx, f32");
  run.session->model = "/tmp/copy.onnx";
  CHECK(differing_parts(before, identity_of(run)).empty());
  CHECK(identity_key(before) == identity_key(identity_of(run)));
  run.model.digest = "sha256:34";
  CHECK(differing_parts(before, identity_of(run)) == std::vector{IdentityPart::kModel, IdentityPart::kDigest});
  CHECK(identity_key(before) != identity_key(identity_of(run)));
  run.model.digest = "sha256:12";
  run.model.compute_precision = DataType::kTf32;
  CHECK(differing_parts(before, identity_of(run)) == std::vector{IdentityPart::kCompute});
  CHECK(identity_text(identity_of(run)) == "copy.onnx, f32 (computes in tf32)");
}

TEST_CASE("identity: precisions have several spellings, and unknown ones are compared as they are written") {
  CHECK(same_part(IdentityPart::kPrecision, "bf16", "bfloat16"));
  CHECK(same_part(IdentityPart::kPrecision, "int4 weights (gptq), bf16 compute", "int4"));
  CHECK_FALSE(same_part(IdentityPart::kPrecision, "bf16", "f16"));
  CHECK(same_part(IdentityPart::kPrecision, "posit8", "posit8"));
  CHECK_FALSE(same_part(IdentityPart::kPrecision, "posit8", "ternary"));
}
