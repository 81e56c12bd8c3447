#include "nvtx/engine_steps.h"

#include "tests/catch.h"

using nl::nvtx::engine_step;
using nl::nvtx::EngineStep;
using nl::nvtx::StepKind;

namespace {

// What the name says, in one value: a step that is not one fails here.
EngineStep step_named(std::string_view name) {
  INFO(std::string(name));
  const auto step = engine_step(name);
  REQUIRE(step);
  return *step;
}

}  // namespace

TEST_CASE("vLLM's steps carry the requests and tokens of prompts and outputs") {
  const EngineStep step = step_named("execute_context_2(512)_generation_6(7)");
  CHECK(step.engine == "vLLM");
  CHECK(step.kind == StepKind::kMixed);
  CHECK(step.prompts == 2);
  CHECK(step.prompt_tokens == 512);
  CHECK(step.sequences == 6);
  CHECK(step.output_tokens == 7);
  CHECK(step.tokens() == 519);
  CHECK(step_named("execute_context_1(64)_generation_0(0)").kind == StepKind::kPrefill);
  CHECK(step_named("execute_context_0(0)_generation_4(4)").kind == StepKind::kDecode);
  const EngineStep idle = step_named("execute_context_0(0)_generation_0(0)");
  CHECK(idle.kind == StepKind::kIdle);
  CHECK(idle.told());
}

// From TraceLens' traces of vLLM with detailed_trace_annotation.
TEST_CASE("vLLM's detailed steps: 9 prompts beside 37 requests that write") {
  const EngineStep mixed =
      step_named("execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37(sq37sk34489sqsq37sqsk34489)");
  CHECK(mixed.engine == "vLLM");
  CHECK(mixed.kind == StepKind::kMixed);
  CHECK(mixed.prompts == 9);
  CHECK(mixed.prompt_tokens == 8155);
  CHECK(mixed.sequences == 37);
  CHECK(mixed.output_tokens == 37);
  CHECK(mixed.tokens() == 8192);
  const EngineStep decode = step_named("execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)");
  CHECK(decode.kind == StepKind::kDecode);
  CHECK(decode.sequences == 32);
  CHECK(decode.tokens() == 32);
}

TEST_CASE("SGLang's steps") {
  const EngineStep extend = step_named("step[EXTEND bs=15 toks=15360]");
  CHECK(extend.engine == "SGLang");
  CHECK(extend.kind == StepKind::kPrefill);
  CHECK(extend.prompts == 15);
  CHECK(extend.sequences == 0);
  CHECK(extend.tokens() == 15360);
  CHECK(step_named("step[EXTEND bs=1 toks=1025 c_sq=1025 c_sqsq=1050625 c_sqsk=1050625 c_sk=1025]").prompt_tokens == 1025);
  CHECK(step_named("step[DECODE bs=64 g_sq=64 g_sqsq=64 g_sqsk=100032 g_sk=100032]").tokens() == 64);
  const EngineStep decode = step_named("step[DECODE bs=8]");
  CHECK(decode.kind == StepKind::kDecode);
  CHECK(decode.sequences == 8);
  CHECK(decode.output_tokens == 8);
  CHECK(decode.prompts == 0);
  CHECK(step_named("step[SPLIT_PREFILL bs=2]").kind == StepKind::kPrefill);
  CHECK(step_named("step[IDLE bs=0]").kind == StepKind::kIdle);
}

TEST_CASE("SGLang's mixed steps have counts only with detailed annotations") {
  const EngineStep mixed =
      step_named("step[MIXED bs=66 c=2 g=64 c_sq=2048 c_sk=2048 c_sqsq=2097152 c_sqsk=2097152 g_sq=64 g_sk=65600 g_sqsq=64 g_sqsk=65600]");
  CHECK(mixed.kind == StepKind::kMixed);
  CHECK(mixed.prompts == 2);
  CHECK(mixed.prompt_tokens == 2048);
  CHECK(mixed.sequences == 64);
  CHECK(mixed.output_tokens == 64);
  const EngineStep plain = step_named("step[MIXED bs=9]");
  CHECK(plain.kind == StepKind::kMixed);
  CHECK_FALSE(plain.prompts);
  CHECK_FALSE(plain.prompt_tokens);
  CHECK_FALSE(plain.tokens());
}

TEST_CASE("a step that checks drafts decodes several tokens of a request") {
  const EngineStep verify = step_named("step[TARGET_VERIFY bs=2 g_sq=6 g_sqsq=18 g_sqsk=90 g_sk=30]");
  CHECK(verify.kind == StepKind::kDecode);
  CHECK(verify.verifies_drafts);
  CHECK(verify.sequences == 2);
  CHECK(verify.output_tokens == 6);
  CHECK_FALSE(step_named("step[TARGET_VERIFY bs=2]").output_tokens);
  CHECK_FALSE(step_named("step[DECODE bs=2]").verifies_drafts);
}

TEST_CASE("TensorRT-LLM's steps, with and without their tokens") {
  const EngineStep prefill = step_named("[Executor] _forward_step 7: 1 ctx reqs, 300 ctx tokens, 0 gen reqs");
  CHECK(prefill.engine == "TensorRT-LLM");
  CHECK(prefill.kind == StepKind::kPrefill);
  CHECK(prefill.tokens() == 300);
  const EngineStep mixed = step_named("[Executor] _forward_step 7: 2 ctx reqs, 300 ctx tokens, 5 gen reqs");
  CHECK(mixed.kind == StepKind::kMixed);
  CHECK(mixed.tokens() == 305);
  const EngineStep older = step_named("[Executor] _forward_step 60000: 0 ctx reqs, 32 gen reqs");
  CHECK(older.kind == StepKind::kDecode);
  CHECK(older.output_tokens == 32);
  CHECK(older.prompt_tokens == 0);
  CHECK_FALSE(step_named("[Executor] _forward_step: 2 ctx reqs, 0 gen reqs").tokens());
}

TEST_CASE("ranges around a step that do not say what it does") {
  CHECK_FALSE(step_named("scheduler.run_batch").told());
  CHECK_FALSE(step_named("gpu_model_runner: forward").told());
  CHECK(step_named("gpu_model_runner: forward").engine == "vLLM");
  CHECK_FALSE(step_named("step[DECODE]").output_tokens);
}

TEST_CASE("what is no step, or not all of a name") {
  for (const char* other :
       {"", "execute_", "execute_context_", "execute_8192_", "execute_context_1(2)_generation_", "execute_context_1(sq)_generation_1(1)",
        "execute_context_1(2_generation_1(1)", "[Executor] _forward_step 1: many", "[Executor] _forward_step 7: 2 ctx reqs, 5 ctx tokens",
        "scheduler.recv_requests", "gpu_model_runner: sample", "schedule: allocate_slots", "step[DRAFT_LOOP raw_bs=2 bs=2 topk=1]",
        "step[DRAFT_EXTEND_V2 bs=2]", "step[PREBUILT bs=2]", "preprocess.tokenize", "decode_step"}) {
    INFO(other);
    CHECK_FALSE(engine_step(other));
  }
}
