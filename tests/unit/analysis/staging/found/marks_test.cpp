#include "analysis/staging/found/sources.h"
#include "tests/unit/analysis/trace_builder.h"

using nl::analysis::FoundStage;
using nl::analysis::stages_of_marks;

namespace {

std::vector<FoundStage> found_in(const TraceBuilder& b, const std::string& name) {
  std::vector<FoundStage> all = stages_of_marks(b.trace).stages;
  std::erase_if(all, [&](const FoundStage& stage) { return stage.name != name; });
  return all;
}

}  // namespace

TEST_CASE("a training step lasts from its data to the data of the next") {
  TraceBuilder b;
  for (int i = 0; i < 3; ++i) {
    const nl::Ns at = 1000 * i;
    b.stage("load_data", at, at + 100);
    b.stage("forward", at + 150, at + 300);
    b.stage("backward", at + 300, at + 600);
    b.stage("optimizer", at + 700, at + 900);
  }
  const auto steps = found_in(b, "train_step");
  REQUIRE(steps.size() == 3);
  CHECK(steps[0].start_ns == 0);
  CHECK(steps[0].end_ns == 1000);
  CHECK(steps[2].end_ns == 2900);  // nothing follows the optimizer
  CHECK(stages_of_marks(b.trace).origin.source == nl::StageSource::kMarked);
}

TEST_CASE("gradients of several batches are one training step") {
  TraceBuilder b;
  for (int i = 0; i < 4; ++i) {
    const nl::Ns at = 1000 * i;
    b.stage("forward", at, at + 300);
    b.stage("backward", at + 300, at + 600);
    if (i % 2 == 1) b.stage("optimizer", at + 600, at + 900);
  }
  const auto steps = found_in(b, "train_step");
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].end_ns == 2000);
  CHECK(steps[1].start_ns == 2000);
}

TEST_CASE("two optimizers after each other end one training step") {
  TraceBuilder b;
  for (int i = 0; i < 3; ++i) {
    const nl::Ns at = 1000 * i;
    b.stage("forward", at, at + 300);
    b.stage("backward", at + 300, at + 600);
    b.stage("optimizer", at + 600, at + 700);
    b.stage("optimizer", at + 750, at + 900);
  }
  CHECK(found_in(b, "train_step").size() == 3);
}

TEST_CASE("an evaluation between two training steps belongs to neither") {
  TraceBuilder b;
  b.stage("forward", 0, 300);
  b.stage("backward", 300, 600);
  b.stage("optimizer", 600, 900);
  b.stage("load_data", 1000, 1100);  // for the evaluation
  b.stage("model_call", 1100, 5000);
  b.stage("forward", 6000, 6300);
  b.stage("backward", 6300, 6600);
  b.stage("optimizer", 6600, 6900);
  const auto steps = found_in(b, "train_step");
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].end_ns == 1000);
  CHECK(steps[1].start_ns == 6000);
}

TEST_CASE("a call of a model that steps of decoding follow has read the prompt") {
  TraceBuilder b;
  b.stage("model_call", 0, 100);
  b.stage("decode_step", 120, 200);
  b.stage("decode_step", 200, 300);
  b.stage("model_call", 400, 500);
  b.stage("decode_step", 520, 600);
  CHECK(found_in(b, "prefill").size() == 2);
  CHECK(found_in(b, "batch").empty());
}

TEST_CASE("a server reads several prompts before it takes a step for all of them") {
  TraceBuilder b;
  for (int i = 0; i < 3; ++i) b.stage("model_call", 100 * i, 100 * i + 90);
  b.stage("decode_step", 300, 400);
  CHECK(found_in(b, "prefill").size() == 3);
  CHECK(found_in(b, "batch").empty());
}

TEST_CASE("calls of a model that generates nothing are batches, each until the next") {
  TraceBuilder b;
  for (int i = 0; i < 5; ++i) b.stage("model_call", 100 * i, 100 * i + 30);
  b.stage("model_call", 10000, 10030);  // after a pause
  b.wait(10040, 10060);
  const auto batches = found_in(b, "batch");
  REQUIRE(batches.size() == 6);
  CHECK(batches[0].end_ns == 100);
  CHECK(batches[4].end_ns == 430);    // nothing waits for it
  CHECK(batches[5].end_ns == 10060);  // with the wait for its work
  CHECK(found_in(b, "prefill").empty());
}

TEST_CASE("steps of an image end with it") {
  TraceBuilder b;
  for (int image = 0; image < 2; ++image) {
    const nl::Ns at = 1000 * image;
    b.stage("image", at, at + 450);
    for (int i = 0; i < 4; ++i) b.stage("denoise_step", at + 100 * i, at + 100 * i + 20);
  }
  const auto steps = found_in(b, "denoise_step");
  REQUIRE(steps.size() == 8);
  CHECK(steps[0].end_ns == 100);
  CHECK(steps[3].end_ns <= 450);
  CHECK(steps[4].start_ns == 1000);
}

TEST_CASE("a step of a function that JAX compiles lasts until its next call") {
  TraceBuilder b;
  for (int i = 0; i < 5; ++i) b.stage("fit_once", 100 * i, 100 * i + 20);
  b.stage("compile", 5, 15);
  for (int i = 0; i < 5; ++i) b.stage("mine", 1000 + 100 * i, 1020 + 100 * i);  // marked by the program: it ends where it says
  const auto steps = found_in(b, "fit_once");
  REQUIRE(steps.size() == 5);
  CHECK(steps[0].end_ns == 100);
  CHECK(steps[4].end_ns == 420);
  CHECK(found_in(b, "mine").empty());
}

TEST_CASE("of two functions that JAX compiles each lasts until a call of either") {
  TraceBuilder b;
  for (const Ns request : {0, 1000}) {
    b.stage("read_prompt", request, request + 20);
    for (int i = 1; i < 6; ++i) b.stage("next_token", request + 100 * i, request + 100 * i + 20);
  }
  b.stage("compile", 5, 15);
  b.stage("compile", 105, 115);
  const auto prompts = found_in(b, "read_prompt"), tokens = found_in(b, "next_token");
  REQUIRE(prompts.size() == 2);
  REQUIRE(tokens.size() == 10);
  CHECK(prompts[0].end_ns == 100);
  CHECK(tokens[0].end_ns == 200);
  CHECK(prompts[1].end_ns == 1100);
}

TEST_CASE("a function that JAX compiles and that computes gradients takes training steps") {
  TraceBuilder b;
  for (int i = 0; i < 5; ++i) {
    b.stage("fit_once", 100 * i, 100 * i + 20);
    b.stage("evaluate", 100 * i + 50, 100 * i + 60);
  }
  b.stage("compile", 5, 15);
  b.stage("compile", 52, 58);
  b.mark("LLM", "kind training function=fit_once", 21);
  const auto steps = found_in(b, "train_step");
  REQUIRE(steps.size() == 5);
  CHECK(steps[0].end_ns == 100);
  CHECK(found_in(b, "fit_once").empty());  // its own ranges stay
  CHECK(found_in(b, "evaluate").size() == 5);
}

TEST_CASE("marks of generation need nothing more") {
  TraceBuilder b;
  b.stage("prefill", 0, 100);
  b.stage("decode_step", 100, 200);
  CHECK(stages_of_marks(b.trace).stages.empty());
}

namespace {

constexpr const char* kNormal =
    "void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float, 4, "
    "at::native::templates::cuda::normal_and_transform>";

// Steps of a sampler written by hand; before each image some noise, and in each step as much as the sampler adds.
struct MadeSampler {
  TraceBuilder b;
  nl::Ns now = 1000;

  void launch(const char* name) {
    b.kernel(name, now + 5, 10, b.call(now));
    now += 10;
  }
  void step(int added = 0) {
    b.stage("denoise_step", now, now + 100);
    now += 10;
    launch("conv");
    now += 90;
    for (int i = 0; i < added; ++i) launch(kNormal);
    launch("subtract");
  }
  void image(int steps, const char* before, int added = 0) {
    if (before != nullptr) launch(before);
    for (int i = 0; i < steps; ++i) step(added);
    launch("clamp");
  }
};

}  // namespace

TEST_CASE("images of a sampler written by hand begin where noise is drawn") {
  MadeSampler made;
  SECTION("once for each image") {
    for (int i = 0; i < 3; ++i) made.image(8, kNormal);
    const auto images = found_in(made.b, "image");
    const auto steps = found_in(made.b, "denoise_step");
    REQUIRE(images.size() == 3);
    REQUIRE(steps.size() == 24);
    CHECK(images[1].start_ns == steps[8].start_ns);
    CHECK(images[1].end_ns == steps[15].end_ns);
    CHECK(stages_of_marks(made.b.trace).notes == std::vector<nl::Remark>{{nl::Code::kImagesByNoise, {"3", "8"}}});
  }
  SECTION("and in each step, but once more for each image") {
    for (int i = 0; i < 3; ++i) made.image(8, kNormal, 1);
    CHECK(found_in(made.b, "image").size() == 3);
  }
  SECTION("on the host") {
    for (int i = 0; i < 2; ++i) {
      made.b.copy(nl::MemOpKind::kHostToDevice, made.now + 5, made.now + 8, made.b.call(made.now, 0, "cudaMemcpyAsync"), 0).bytes = 32768;
      made.now += 10;
      made.image(6, nullptr);
    }
    CHECK(found_in(made.b, "image").size() == 2);
  }
  SECTION("and where the capture ends within the last") {
    for (const int steps : {8, 8, 5}) made.image(steps, kNormal);
    CHECK(found_in(made.b, "image").size() == 3);
  }
}

TEST_CASE("images are not counted where nothing shows where they begin") {
  MadeSampler made;
  SECTION("no noise") {
    for (int i = 0; i < 3; ++i) made.image(8, "clamp");
  }
  SECTION("noise now and then") {
    for (const int steps : {8, 3, 5}) made.image(steps, kNormal);
  }
  SECTION("one image") { made.image(8, kNormal); }
  SECTION("a step at a time") {
    for (int i = 0; i < 8; ++i) made.image(1, kNormal);
  }
  CHECK(found_in(made.b, "denoise_step").size() >= 8);
  CHECK(found_in(made.b, "image").empty());
}

TEST_CASE("images begin where the marks say that time steps start anew") {
  MadeSampler made;
  for (const int steps : {8, 3, 5}) {
    made.b.mark("LLM", "image", made.now);
    made.image(steps, nullptr);
  }
  const auto images = found_in(made.b, "image");
  REQUIRE(images.size() == 3);
  CHECK(images[2].start_ns == found_in(made.b, "denoise_step")[11].start_ns);
  CHECK(stages_of_marks(made.b.trace).notes.empty());
}

TEST_CASE("images of a pipeline are those that it marks") {
  MadeSampler made;
  for (int i = 0; i < 2; ++i) {
    const nl::Ns from = made.now;
    made.image(8, kNormal);
    made.b.stage("image", from, made.now);
  }
  CHECK(found_in(made.b, "image").empty());
}
