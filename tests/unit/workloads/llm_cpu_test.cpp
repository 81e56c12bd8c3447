#include "workloads/llm_cpu.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/catch.h"
#include "workloads/llm_generate.h"

using namespace nl::llm;

namespace {

Shape small_shape() { return shape_of(2, 64); }

std::vector<int> generated(const Shape& shape, std::uint64_t seed, int threads) {
  Weights weights = random_weights(shape, seed);
  CpuModel model(shape, weights, 64, threads);
  return generate(model, random_prompt(shape, 12, seed), 40).tokens;
}

float largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
  float largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

}  // namespace

TEST_CASE("decoding with the KV cache equals recomputing the whole sequence") {
  Shape shape = small_shape();
  Weights weights = random_weights(shape, 3);
  std::vector<int> sequence = random_prompt(shape, 24, 3);
  CpuModel cached(shape, weights, 24, 1), whole(shape, weights, 24, 1);
  cached.prefill({sequence.begin(), sequence.begin() + 8});
  for (std::size_t length = 9; length <= sequence.size(); ++length) {
    std::vector<float> step = cached.forward({sequence[length - 1]});
    whole.reset();
    const std::vector<float>& full = whole.forward({sequence.begin(), sequence.begin() + static_cast<std::ptrdiff_t>(length)});
    REQUIRE(step.size() == static_cast<std::size_t>(shape.vocab));
    // Both do the same sums in the same order, but the compiler may fuse multiply and add in one and not
    // in the other: a few units in the last place of logits of about one.
    CHECK(largest_difference(step, full) < 1e-4F);
  }
}

TEST_CASE("a prompt in two pieces equals the prompt at once") {
  Shape shape = small_shape();
  Weights weights = random_weights(shape, 4);
  std::vector<int> prompt = random_prompt(shape, 20, 4);
  CpuModel pieces(shape, weights, 20, 1), once(shape, weights, 20, 1);
  pieces.forward({prompt.begin(), prompt.begin() + 13});
  std::vector<float> last = pieces.forward({prompt.begin() + 13, prompt.end()});
  CHECK(largest_difference(last, once.forward(prompt)) < 1e-4F);  // as above
}

TEST_CASE("attention looks back: an earlier token changes the logits, a later one does not exist") {
  Shape shape = small_shape();
  Weights weights = random_weights(shape, 5);
  std::vector<int> prompt = random_prompt(shape, 10, 5);
  CpuModel model(shape, weights, 10, 1);
  std::vector<float> before = model.forward(prompt);
  prompt[2] = (prompt[2] + 1) % shape.vocab;
  model.reset();
  CHECK(largest_difference(before, model.forward(prompt)) > 1e-2F);
}

TEST_CASE("the position matters: the same tokens in another order give other logits") {
  Shape shape = small_shape();
  Weights weights = random_weights(shape, 6);
  CpuModel model(shape, weights, 4, 1);
  std::vector<float> one = model.forward({1, 2, 3});
  model.reset();
  CHECK(largest_difference(one, model.forward({2, 1, 3})) > 1e-3F);
}

TEST_CASE("the seed decides the tokens, the number of threads does not") {
  Shape shape = small_shape();
  std::vector<int> tokens = generated(shape, 1, 1);
  CHECK(tokens.size() == 41);
  CHECK(generated(shape, 1, 1) == tokens);
  CHECK(generated(shape, 1, 3) == tokens);
  CHECK(generated(shape, 2, 1) != tokens);
  CHECK(checksum(generated(shape, 1, 1)) == checksum(tokens));
  CHECK(checksum(generated(shape, 2, 1)) != checksum(tokens));
  CHECK(std::set<int>(tokens.begin(), tokens.end()).size() > 5);
}

TEST_CASE("the default shape is what the flags say") {
  Shape shape = shape_of(4, 256);
  CHECK(shape.heads == 8);
  CHECK(shape.kv_heads == 4);
  CHECK(shape.intermediate == 704);
  CHECK(shape_of(1, 96).heads % shape_of(1, 96).kv_heads == 0);
}

TEST_CASE("a sequence longer than its cache is refused") {
  Shape shape = small_shape();
  Weights weights = random_weights(shape, 7);
  CpuModel model(shape, weights, 4, 1);
  model.forward({1, 2, 3, 4});
  CHECK_THROWS_AS(model.forward({5}), std::length_error);
}
