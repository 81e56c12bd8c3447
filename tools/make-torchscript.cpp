// Writes small TorchScript models: the twins of those that tools/make-models writes as ONNX (add, linear, block, deep: same inputs, arithmetic
// and weights, which are described there), and some that only tests need.
//
//   make-torchscript FOLDER
#include <ATen/ops/from_blob.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/resolver.h>
#include <torch/csrc/jit/frontend/sugared_value.h>

#include <cmath>
#include <cstdio>
#include <filesystem>

namespace {

using torch::jit::Module;

// xorshift64*, as in adapters/inputs.cpp.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u | 1u) {}

  at::Tensor values(const std::vector<std::int64_t>& shape, double centre, double scale) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = static_cast<float>(centre + scale * next());
    return at::from_blob(values.data(), shape).clone();
  }
  at::Tensor matrix(std::int64_t rows, std::int64_t columns) {
    return values({rows, columns}, 0, 1 / std::sqrt(static_cast<double>(rows)));
  }
  at::Tensor vector(std::int64_t size, double centre = 0) { return values({size}, centre, 0.1); }

 private:
  double next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<double>((state_ * 0x2545F4914F6CDD1Du) >> 11) * 0x1p-52 - 1;
  }
  std::uint64_t state_;
};

void add_linear(Module& module, const std::string& name, Dice& dice, std::int64_t rows, std::int64_t columns) {
  module.register_parameter(name + "_weight", dice.matrix(rows, columns), false);
  module.register_parameter(name + "_bias", dice.vector(columns), false);
}

void add_norm(Module& module, const std::string& name, Dice& dice, std::int64_t size) {
  module.register_parameter(name + "_weight", dice.vector(size, 1), false);
  module.register_parameter(name + "_bias", dice.vector(size), false);
}

void add_block_weights(Module& module, std::uint64_t seed, std::int64_t hidden, std::int64_t inner) {
  Dice dice(seed);
  add_norm(module, "norm1", dice, hidden);
  for (const char* name : {"query", "key", "value", "output"}) add_linear(module, name, dice, hidden, hidden);
  add_norm(module, "norm2", dice, hidden);
  add_linear(module, "up", dice, hidden, inner);
  add_linear(module, "down", dice, inner, hidden);
}

constexpr const char* kParts = R"(
def split(self, t):
    return torch.transpose(torch.reshape(t, [t.size(0), t.size(1), 4, t.size(2) // 4]), 1, 2)

def attend(self, x, query, key, value):
    scale = 1.0 / float(query.size(3)) ** 0.5
    weights = torch.softmax(torch.matmul(query, torch.transpose(key, 2, 3)) * scale, -1)
    context = torch.reshape(torch.transpose(torch.matmul(weights, value), 1, 2), [x.size(0), x.size(1), x.size(2)])
    h = x + (torch.matmul(context, self.output_weight) + self.output_bias)
    m = torch.layer_norm(h, [x.size(2)], self.norm2_weight, self.norm2_bias, 1e-05)
    up = torch.gelu(torch.matmul(m, self.up_weight) + self.up_bias)
    return h + (torch.matmul(up, self.down_weight) + self.down_bias)
)";

constexpr const char* kCachedForward = R"(
def forward(self, x, past_key, past_value):
    n = torch.layer_norm(x, [x.size(2)], self.norm1_weight, self.norm1_bias, 1e-05)
    query = self.split(torch.matmul(n, self.query_weight) + self.query_bias)
    key = torch.cat([past_key, self.split(torch.matmul(n, self.key_weight) + self.key_bias)], 2)
    value = torch.cat([past_value, self.split(torch.matmul(n, self.value_weight) + self.value_bias)], 2)
    return self.attend(x, query, key, value), key, value
)";

constexpr const char* kForward = R"(
def forward(self, x):
    n = torch.layer_norm(x, [x.size(2)], self.norm1_weight, self.norm1_bias, 1e-05)
    query = self.split(torch.matmul(n, self.query_weight) + self.query_bias)
    key = self.split(torch.matmul(n, self.key_weight) + self.key_bias)
    value = self.split(torch.matmul(n, self.value_weight) + self.value_bias)
    return self.attend(x, query, key, value)
)";

Module linear() {
  Module module("Linear");
  Dice dice(1);
  add_linear(module, "x", dice, 16, 8);
  module.define("def forward(self, x):\n    return torch.matmul(x, self.x_weight) + self.x_bias\n");
  return module;
}

Module block() {
  Module module("Block");
  add_block_weights(module, 1, 64, 256);
  module.define(std::string(kParts) + kCachedForward);
  return module;
}

Module deep() {
  Module module("Deep");
  std::string forward = "def forward(self, x):\n";
  for (std::uint64_t n = 0; n < 8; ++n) {
    Module block("Block" + std::to_string(n));
    add_block_weights(block, n + 1, 128, 512);
    block.define(std::string(kParts) + kForward);
    module.register_module("block" + std::to_string(n), block);
    forward += "    x = self.block" + std::to_string(n) + ".forward(x)\n";
  }
  module.define(forward + "    return x\n");
  return module;
}

// Control flow, numbers among the inputs, tasks, and what goes wrong.
const std::pair<const char*, const char*> kScripts[] = {
    {"add", "def forward(self, a, b):\n    return a + b\n"},
    {"control",
     "def forward(self, x, n: int):\n    for i in range(n):\n        x = torch.add(x, x)\n    if n > 2:\n        x = torch.relu(x)\n    "
     "else:\n        x = torch.neg(x)\n    return x\n"},
    {"numbers",
     "def forward(self, x, scale: float, negative: bool, times: int = 3):\n    y = x * scale * times\n    if negative:\n        y = "
     "torch.neg(y)\n    return {'y': y}\n"},
    {"tokens", "def forward(self, ids):\n    return torch.embedding(torch.ones([8, 16]), ids)\n"},
    {"forked",
     "def one(self, x):\n    return torch.relu(x)\n\ndef forward(self, x):\n    task = fork(self.one, x)\n    return torch.neg(x) + "
     "torch.wait(task)\n"},
    {"sqrt", "def forward(self, x):\n    return torch.sqrt(x)\n"},
    {"huge", "def forward(self, x):\n    return torch.zeros([1 << 46]) + x\n"},
    {"inverse", "def forward(self, x):\n    return torch.inverse(x)\n"},
    {"list", "def forward(self, xs: List[Tensor]):\n    return xs[0]\n"},
    {"other", "def run(self, x):\n    return x\n"},
};

// Knows fork besides torch, which Python's compiler knows as torch.jit.fork.
struct WithFork : torch::jit::Resolver {
  std::shared_ptr<torch::jit::SugaredValue> resolveValue(const std::string& name, torch::jit::GraphFunction& function,
                                                         const torch::jit::SourceRange& place) override {
    if (name == "fork") return torch::jit::SpecialFormValue::create(c10::prim::fork);
    return torch::jit::nativeResolver()->resolveValue(name, function, place);
  }
};

Module script(const std::string& name, const char* code) {
  Module module(name);
  module.define(code, std::make_shared<WithFork>());
  return module;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return std::fprintf(stderr, "usage: make-torchscript FOLDER\n"), 2;
  const std::filesystem::path folder = arguments[1];
  try {
    std::filesystem::create_directories(folder);
    linear().save((folder / "linear.pt").string());
    block().save((folder / "block.pt").string());
    deep().save((folder / "deep.pt").string());
    for (const auto& [name, code] : kScripts) script(name, code).save((folder / (std::string(name) + ".pt")).string());
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "make-torchscript: %s\n", error.what()), 1;
  }
  return 0;
}
