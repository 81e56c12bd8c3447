#include <cmath>
#include <map>

#include "adapters/inputs.h"
#include "tests/unit/adapters/arrays.h"
#include "tests/unit/adapters/onnxruntime/models.h"

// The arithmetic on the page of tools/make-models, in double precision and as plainly as it can be written.

using namespace nl;
using namespace nl::adapters;
using namespace nl::test;

namespace {

constexpr std::size_t kSeq = 5, kPast = 3, kHidden = 64, kHeads = 4, kHead = 16, kInner = 256, kAll = kPast + kSeq;

using Values = std::vector<double>;

class ReferenceBlock {
 public:
  ReferenceBlock() {
    for (const Tensor& tensor : read_numpy(made_model("block.weights.npz"))) weights_[tensor.name] = doubles(tensor);
  }

  static Values doubles(const Tensor& tensor) {
    const std::vector<float> floats = values_of<float>(tensor);
    return {floats.begin(), floats.end()};
  }

  Values output(const Values& x, const Values& past_key, const Values& past_value) const {
    const Values n = norm("norm1", x);
    const Values context = attention(linear("query", n, kHidden), with_past(past_key, linear("key", n, kHidden)),
                                     with_past(past_value, linear("value", n, kHidden)));
    const Values h = sum(x, linear("output", context, kHidden));
    Values up = linear("up", norm("norm2", h), kInner);
    for (double& value : up) value = value * (1 + std::erf(value / std::sqrt(2.0))) * 0.5;
    return sum(h, linear("down", up, kHidden));
  }

  // [head][position][of head], the past first.
  static Values with_past(const Values& past, const Values& now) {
    Values all(kHeads * kAll * kHead);
    for (std::size_t h = 0; h < kHeads; ++h)
      for (std::size_t t = 0; t < kAll; ++t)
        for (std::size_t d = 0; d < kHead; ++d)
          all[(h * kAll + t) * kHead + d] = t < kPast ? past[(h * kPast + t) * kHead + d] : now[(t - kPast) * kHidden + h * kHead + d];
    return all;
  }

 private:
  Values norm(const std::string& name, const Values& x) const {
    Values out(x.size());
    for (std::size_t row = 0; row < kSeq; ++row) {
      double mean = 0, variance = 0;
      for (std::size_t n = 0; n < kHidden; ++n) mean += x[row * kHidden + n] / kHidden;
      for (std::size_t n = 0; n < kHidden; ++n) variance += std::pow(x[row * kHidden + n] - mean, 2) / kHidden;
      for (std::size_t n = 0; n < kHidden; ++n)
        out[row * kHidden + n] =
            (x[row * kHidden + n] - mean) / std::sqrt(variance + 1e-5) * weights_.at(name + ".weight")[n] + weights_.at(name + ".bias")[n];
    }
    return out;
  }

  Values linear(const std::string& name, const Values& x, std::size_t columns) const {
    const Values &weight = weights_.at(name + ".weight"), &bias = weights_.at(name + ".bias");
    const std::size_t rows = x.size() / kSeq;
    Values out(kSeq * columns);
    for (std::size_t t = 0; t < kSeq; ++t)
      for (std::size_t c = 0; c < columns; ++c) {
        out[t * columns + c] = bias[c];
        for (std::size_t r = 0; r < rows; ++r) out[t * columns + c] += x[t * rows + r] * weight[r * columns + c];
      }
    return out;
  }

  static Values attention(const Values& query, const Values& key, const Values& value) {
    Values context(kSeq * kHidden);
    for (std::size_t h = 0; h < kHeads; ++h)
      for (std::size_t t = 0; t < kSeq; ++t) {
        Values weights(kAll);
        double total = 0;
        for (std::size_t s = 0; s < kAll; ++s) {
          double score = 0;
          for (std::size_t d = 0; d < kHead; ++d) score += query[t * kHidden + h * kHead + d] * key[(h * kAll + s) * kHead + d];
          total += weights[s] = std::exp(score / std::sqrt(double{kHead}));
        }
        for (std::size_t s = 0; s < kAll; ++s)
          for (std::size_t d = 0; d < kHead; ++d)
            context[t * kHidden + h * kHead + d] += weights[s] / total * value[(h * kAll + s) * kHead + d];
      }
    return context;
  }

  static Values sum(Values a, const Values& b) {
    for (std::size_t n = 0; n < a.size(); ++n) a[n] += b[n];
    return a;
  }

  std::map<std::string, Values> weights_;
};

}  // namespace

TEST_CASE("ONNX Runtime: the block computes what the page of tools/make-models says") {
  NL_NEEDS_ONNXRUNTIME();
  Folder scratch;
  const auto session = opened_session(made_model("block.onnx"), scratch);
  const std::vector<Tensor> inputs = make_inputs(session->inputs(), "random", 1, {{"batch", 1}, {"seq", kSeq}, {"past", kPast}});
  session->bind(inputs);
  session->run();
  const std::vector<Tensor> results = session->results();
  const Values expected =
      ReferenceBlock().output(ReferenceBlock::doubles(inputs[0]), ReferenceBlock::doubles(inputs[1]), ReferenceBlock::doubles(inputs[2]));
  const Values actual = ReferenceBlock::doubles(results.at(0));
  REQUIRE(actual.size() == expected.size());
  double furthest = 0;
  for (std::size_t n = 0; n < actual.size(); ++n) furthest = std::max(furthest, std::abs(actual[n] - expected[n]));
  CHECK(furthest < 1e-5);  // float32, sums of up to 256 products of the order of 1
  CHECK(results.at(1).shape == std::vector<std::int64_t>{1, kHeads, kAll, kHead});
}
