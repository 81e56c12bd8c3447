#include "adapters/onnxruntime/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "adapters/onnxruntime/element_types.h"
#include "model/error.h"

namespace nl::adapters {
namespace {

using nlohmann::json;

constexpr std::string_view kNodeEnd = "_kernel_time";

struct NodeEvent {
  SessionNode node;
  std::string index;  // of the node in its graph: some fusions call all their nodes the same
  NodeRun run;
  std::uint32_t executors = 0;  // graphs around it, the model's own included
  std::string inside;           // the nodes around it: two loops may have nodes of one name and index
};

Ns nanoseconds(const json& event, const char* key) { return event.at(key).get<Ns>() * 1000; }

// [{"float":[3,64]},{"int64":[4]}]: shapes "[[3, 64], [4]]", types "[float32, int64]"
void describe_tensors(const json& tensors, SessionNode& node) {
  std::vector<std::string> shapes, dtypes;
  for (const json& tensor : tensors)
    for (const auto& [type, shape] : tensor.items()) {
      dtypes.push_back(dtype_of_profile(type));
      shapes.push_back(fmt::format("[{}]", fmt::join(shape.get<std::vector<std::int64_t>>(), ", ")));
    }
  node.shapes = fmt::format("[{}]", fmt::join(shapes, ", "));
  node.dtypes = fmt::format("[{}]", fmt::join(dtypes, ", "));
}

// An event is written when it ends, so what is inside another stands before it:
//   Node     /then/Mul_kernel_time
//   Session  SequentialExecutor::Execute     the inner graph of
//   Node     /If_kernel_time
//   Session  SequentialExecutor::Execute     the model's graph
//   Session  model_run                       an iteration
class ProfileReader {
 public:
  void read(const std::string& name, const json& event) {
    const std::string category = event.at("cat").get<std::string>();
    if (category == "Node" && name.ends_with(kNodeEnd)) return add_node(event, name.substr(0, name.size() - kNodeEnd.size()));
    if (category == "Kernel") return add_kernel(event);
    if (category != "Session") return;
    if (name == "SequentialExecutor::Execute") end_graph(nanoseconds(event, "ts"));
    if (name == "model_run") end_iteration();
  }

  NodeProfile take() { return std::move(out_); }

 private:
  void add_node(const json& event, const std::string& name) {
    const json& args = event.at("args");
    NodeEvent added;
    added.node.name = name;
    added.node.type = args.at("op_name").get<std::string>();
    added.node.provider = args.value("provider", "");
    added.index = args.value("node_index", "");
    if (args.contains("input_type_shape")) describe_tensors(args.at("input_type_shape"), added.node);
    added.run.start_ns = nanoseconds(event, "ts");
    added.run.host_ns = nanoseconds(event, "dur");
    for (auto inner = open_.rbegin(); inner != open_.rend() && inner->executors > 0 && inner->run.start_ns >= added.run.start_ns; ++inner)
      inner->inside.insert(0, name + "#" + added.index + "/");
    open_.push_back(std::move(added));
  }

  // Of the CUDA provider: what a node launched follows it.
  void add_kernel(const json& event) {
    if (!open_.empty()) open_.back().run.gpu_ns = open_.back().run.gpu_ns.value_or(0) + nanoseconds(event, "dur");
  }

  void end_graph(Ns start_ns) {
    for (auto event = open_.rbegin(); event != open_.rend() && event->run.start_ns >= start_ns; ++event) ++event->executors;
  }

  void end_iteration() {
    for (NodeEvent& event : open_) event.node.depth = event.executors > 0 ? event.executors - 1 : 0;
    std::stable_sort(open_.begin(), open_.end(), [](const NodeEvent& a, const NodeEvent& b) {
      return std::tie(a.run.start_ns, a.node.depth) < std::tie(b.run.start_ns, b.node.depth);
    });
    for (NodeEvent& event : open_) {
      event.run.iteration = out_.iterations;
      event.run.node = number_of(event);
      out_.runs.push_back(event.run);
    }
    open_.clear();
    ++out_.iterations;
  }

  std::uint32_t number_of(NodeEvent& event) {
    const auto next = static_cast<std::uint32_t>(out_.nodes.size());
    const auto [place, is_new] = numbers_.try_emplace(std::tuple(event.inside, event.node.name, event.index), next);
    if (is_new) out_.nodes.push_back(std::move(event.node));
    return place->second;
  }

  NodeProfile out_;
  std::vector<NodeEvent> open_;  // of the iteration that is read
  std::map<std::tuple<std::string, std::string, std::string>, std::uint32_t> numbers_;
};

// "… "name" :"/a"b_kernel_time","args" : …": a name is written as it is, so that one with a quote or a backslash makes no JSON of the line.
// Takes it out of the line.
std::optional<std::string> take_name(std::string& line) {
  constexpr std::string_view kBefore = "\"name\" :\"", kAfter = "\",\"args\" :";
  const auto begin = line.find(kBefore), end = line.find(kAfter);
  if (begin == std::string::npos || end == std::string::npos || end < begin + kBefore.size()) return std::nullopt;
  std::string name = line.substr(begin + kBefore.size(), end - begin - kBefore.size());
  line.erase(begin + kBefore.size(), name.size());
  return name;
}

}  // namespace

// A line is an event, but for the brackets around them all.
NodeProfile read_node_profile(const std::filesystem::path& file) {
  std::ifstream lines(file);
  if (!lines) throw Error(ErrorKind::kInput, "the profile of ONNX Runtime cannot be read", file.string());
  ProfileReader reader;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (!line.starts_with('{')) continue;
    line.resize(line.find_last_not_of(", \r") + 1);
    try {
      const std::optional<std::string> name = take_name(line);
      const json event = json::parse(line);
      reader.read(name ? *name : event.at("name").get<std::string>(), event);
    } catch (const json::exception& error) {
      throw Error(ErrorKind::kInput, fmt::format("the profile of ONNX Runtime is not as expected: {}", error.what()),
                  fmt::format("{}:{}", file.string(), number));
    }
  }
  return reader.take();
}

}  // namespace nl::adapters
