#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "adapters/adapter.h"
#include "adapters/tensor_types.h"
#include "model/error.h"

// A "model" of this backend is a text, one declaration a line:
//
//   input x float32 batch 16
//   output y float32 1 16
//   node /block/MatMul MatMul 2000          name, type, nanoseconds
//   weights float16 4096                    their type and bytes
//   sleep 3                                 milliseconds of each iteration, which are spent
//   nan                                     the outputs have no numbers
//   fail out of memory                      what an iteration ends with
namespace nl::adapters {
namespace {

struct FakeModel {
  std::vector<TensorSpec> inputs, outputs;
  std::vector<std::pair<SessionNode, Ns>> nodes;
  ModelWeights weights;
  int sleep_ms = 0;
  bool nan = false;
  std::string failure;
};

TensorSpec spec_of(std::istringstream& words) {
  TensorSpec spec;
  words >> spec.name >> spec.dtype;
  for (std::string size; words >> size;) {
    const bool open = size.find_first_not_of("0123456789") != std::string::npos;
    spec.shape.push_back(open ? Dimension{-1, size} : Dimension{std::stoll(size), {}});
  }
  return spec;
}

void declare(const std::string& line, FakeModel& model) {
  std::istringstream words(line);
  std::string kind;
  words >> kind;
  if (kind == "input") return model.inputs.push_back(spec_of(words));
  if (kind == "output") return model.outputs.push_back(spec_of(words));
  if (kind == "node") {
    SessionNode node;
    Ns time = 0;
    words >> node.name >> node.type >> time;
    node.provider = "fake";
    return model.nodes.emplace_back(node, time), void();
  }
  if (kind == "weights") {
    std::string dtype;
    words >> dtype >> model.weights.bytes_by_dtype[dtype];
    return;
  }
  if (kind == "sleep") return words >> model.sleep_ms, void();
  if (kind == "nan") model.nan = true;
  else if (kind == "fail") std::getline(words >> std::ws, model.failure);
  else throw Error(ErrorKind::kInput, fmt::format("\"{}\" declares nothing", kind), line, "see adapters/fake.cpp");
}

FakeModel read_fake_model(const std::filesystem::path& file) {
  std::ifstream lines(file);
  if (!lines) throw Error(ErrorKind::kInput, "the model cannot be read", file.string(), "give a file");
  FakeModel model;
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) declare(line, model);
  return model;
}

class FakeSession : public Session {
 public:
  FakeSession(FakeModel model, bool profiled) : model_(std::move(model)), profiled_(profiled) {}

  std::vector<TensorSpec> inputs() const override { return model_.inputs; }
  std::vector<TensorSpec> outputs() const override { return model_.outputs; }
  void bind(std::vector<Tensor>) override {}
  ModelWeights weights() const override { return model_.weights; }

  void run() override {
    if (!model_.failure.empty()) throw Error(ErrorKind::kWorkload, model_.failure, "iteration " + std::to_string(iteration_));
    std::this_thread::sleep_for(std::chrono::milliseconds(model_.sleep_ms));
    for (std::uint32_t n = 0; profiled_ && n < model_.nodes.size(); ++n) runs_.push_back({iteration_, n, 0, model_.nodes[n].second, {}});
    ++iteration_;
  }

  std::vector<Tensor> results() override {
    std::vector<Tensor> results;
    for (const TensorSpec& spec : model_.outputs) {
      Tensor tensor{spec.name, spec.dtype, {}, {}};
      for (const Dimension& dimension : spec.shape) tensor.shape.push_back(dimension.size < 0 ? 1 : dimension.size);
      tensor.data.resize(values_in(tensor.shape) * bytes_of(spec.dtype).value_or(1), model_.nan ? std::byte{0xff} : std::byte{0});
      results.push_back(std::move(tensor));
    }
    return results;
  }

  Executions executions() override {
    Executions done;
    for (const auto& [node, time] : model_.nodes) done.nodes.push_back(node);
    done.runs = std::move(runs_);
    return done;
  }

 private:
  FakeModel model_;
  bool profiled_;
  std::uint32_t iteration_ = 0;
  std::vector<NodeRun> runs_;
};

class Fake : public Adapter {
 public:
  std::string name() const override { return "fake"; }
  std::string title() const override { return "a backend for tests"; }
  bool for_tests() const override { return true; }
  Availability availability() const override { return {true, true, "1.0", "", "", {"cpu"}}; }

  std::optional<std::vector<TensorSpec>> declared_inputs(const std::filesystem::path& file) const override {
    return read_fake_model(file).inputs;
  }

  std::unique_ptr<Session> open(const SessionOptions& options) const override {
    return std::make_unique<FakeSession>(read_fake_model(options.model), options.profiled);
  }
};

}  // namespace

std::unique_ptr<Adapter> fake_adapter() { return std::make_unique<Fake>(); }

}  // namespace nl::adapters
