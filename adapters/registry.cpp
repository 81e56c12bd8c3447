#include <fmt/format.h>

#include <algorithm>

#include "adapters/adapter.h"
#include "model/error.h"

namespace nl::adapters {
namespace {

class NotBuilt : public Adapter {
 public:
  NotBuilt(std::string name, std::string title, std::string fix) : name_(std::move(name)), title_(std::move(title)), fix_(std::move(fix)) {}

  std::string name() const override { return name_; }
  std::string title() const override { return title_; }
  Availability availability() const override {
    Availability none;
    none.reason = "nl-stage was built without it; " + fix_;
    return none;
  }
  std::unique_ptr<Session> open(const SessionOptions&) const override {
    throw Error(ErrorKind::kTool, "nl-stage was built without " + title_, "--backend " + name_, fix_);
  }

 private:
  std::string name_, title_, fix_;
};

std::vector<std::unique_ptr<Adapter>> all_adapters() {
  std::vector<std::unique_ptr<Adapter>> adapters;
  adapters.push_back(onnxruntime_adapter());
  adapters.push_back(libtorch_adapter());
  adapters.push_back(tensorrt_adapter());
  adapters.push_back(fake_adapter());
  return adapters;
}

std::string names_of_backends() {
  std::string names;
  for (const auto& adapter : registry())
    if (!adapter->for_tests()) names += (names.empty() ? "" : ", ") + adapter->name();
  return names;
}

}  // namespace

std::unique_ptr<Adapter> not_built(std::string name, std::string title, std::string fix) {
  return std::make_unique<NotBuilt>(std::move(name), std::move(title), std::move(fix));
}

const std::vector<std::unique_ptr<Adapter>>& registry() {
  static const std::vector<std::unique_ptr<Adapter>> adapters = all_adapters();
  return adapters;
}

const Adapter& adapter_named(const std::string& name) {
  const auto found = std::find_if(registry().begin(), registry().end(), [&](const auto& adapter) { return adapter->name() == name; });
  if (found == registry().end())
    throw Error(ErrorKind::kUsage, fmt::format("there is no backend \"{}\"", name), "--backend", "give one of: " + names_of_backends());
  return **found;
}

}  // namespace nl::adapters
