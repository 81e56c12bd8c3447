#include "adapters/libtorch/iteration.h"

#include <fmt/format.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

#include <optional>

#include "adapters/libtorch/tensors.h"

namespace nl::adapters {
namespace {

// The package says how its inputs were nested, as JSON, and every leaf of it is a tensor without a name:
//   [1, {"type": "builtins.tuple", "context": "null", "children_spec": [{"type": null, "context": null, "children_spec": []}, …
std::size_t leaves_in(const std::string& spec) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = spec.find("\"type\":", at)) != std::string::npos; ++at)
    count += spec.compare(spec.find_first_not_of(' ', at + 7), 4, "null") == 0 ? 1 : 0;
  return count;
}

std::vector<TensorSpec> numbered(const std::string& spec, const char* what) {
  std::vector<TensorSpec> specs;
  for (std::size_t n = 0; n < leaves_in(spec); ++n) specs.push_back({fmt::format("{}_{}", what, n), "", {}, false});
  return specs;
}

class PackageSession : public Session {
 public:
  explicit PackageSession(const SessionOptions& options)
      : options_(options), device_(device_of(options)), loader_(options.model.string()), call_spec_(loader_.get_call_spec()) {
    if (options.profiled) recorder_.emplace();
  }

  std::vector<TensorSpec> inputs() const override { return numbered(call_spec_.at(0), "input"); }
  std::vector<TensorSpec> outputs() const override { return numbered(call_spec_.at(1), "output"); }

  void bind(std::vector<Tensor> inputs) override {
    inputs_.clear();
    for (const Tensor& tensor : inputs) inputs_.push_back(to_torch(tensor, device_, std::nullopt));
  }

  void run() override {
    run_iteration(options_, device_, recorder_, [&] { outputs_ = loader_.run(inputs_); });
  }

  std::vector<Tensor> results() override {
    std::vector<Tensor> results;
    for (const at::Tensor& output : outputs_) results.push_back(from_torch(output, fmt::format("output_{}", results.size())));
    return results;
  }

  Executions executions() override { return recorder_ ? recorder_->executions() : Executions{}; }

 private:
  SessionOptions options_;
  c10::Device device_;
  torch::inductor::AOTIModelPackageLoader loader_;
  std::vector<std::string> call_spec_;
  std::vector<at::Tensor> inputs_, outputs_;
  std::optional<Recorder> recorder_;
};

}  // namespace

std::unique_ptr<Session> open_package(const SessionOptions& options) {
  if (!options.precision.empty())
    throw Error(ErrorKind::kUsage, "a compiled model has the precision that it was compiled for", "--precision " + options.precision,
                "leave it out");
  try {
    return std::make_unique<PackageSession>(options);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& exception) {
    throw load_failure(exception, options,
                       "make it with torch._inductor.aoti_compile_and_package(torch.export.export(…)) for this machine's device");
  }
}

}  // namespace nl::adapters
