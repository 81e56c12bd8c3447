#include "orchestrator/session/record.h"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "adapters/measure.h"
#include "model/error.h"
#include "model/words.h"
#include "parsers/ort/profile.h"

// Older releases of nlohmann-json know no std::optional: null.
template <class Value>
struct nlohmann::adl_serializer<std::optional<Value>> {
  static void to_json(json& out, const std::optional<Value>& value) { out = value ? json(*value) : json(); }
  static void from_json(const json& in, std::optional<Value>& value) {
    value = in.is_null() ? std::nullopt : std::optional<Value>(in.get<Value>());
  }
};

namespace nl {

// Found by nlohmann-json by their names and the namespace of what they convert.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TensorInfo, name, dtype, declared, shape)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SessionNode, name, type, provider, shapes, dtypes, depth, holds, index, output_shapes, output_dtypes,
                                   inside)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OptimisedNode, name, type, holds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SessionProfile, file, zero_ns, graph)

// A list, not an object: there are many.
static void to_json(nlohmann::json& json, const NodeRun& run) {
  json = {run.iteration, run.node, run.start_ns, run.host_ns, nlohmann::json(run.gpu_ns)};
}

static void from_json(const nlohmann::json& json, NodeRun& run) {
  run = {json.at(0), json.at(1), json.at(2), json.at(3), json.at(4).get<std::optional<Ns>>()};
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ModelSession, backend, version, provider, precision, model, inputs_from, threads, idle_threads, warmup,
                                   load_ns, inputs, outputs, unprofiled_ns, profiled_ns, host_times_known, nodes, runs, notes, profile)

}  // namespace nl

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

// Some fusions call all their nodes the same ("BiasGelu"): they run in the order of the file. Where only some of them ran, nobody knows which.
void add_held_nodes(const std::vector<OptimisedNode>& graph, std::vector<SessionNode>& nodes) {
  using NameAndType = std::pair<std::string, std::string>;
  std::map<NameAndType, std::vector<const OptimisedNode*>> by_name;
  for (const OptimisedNode& node : graph) by_name[{node.name, node.type}].push_back(&node);
  std::map<NameAndType, std::size_t> executed;  // how many of a name; those that differ in shapes alone are one
  std::map<NodeIdentity, std::size_t> places;   // among them
  for (const SessionNode& node : nodes)
    if (const auto [place, added] = places.try_emplace(identity_of(node)); added) place->second = executed[{node.name, node.type}]++;
  for (SessionNode& node : nodes) {
    const auto found = by_name.find({node.name, node.type});
    if (found == by_name.end() || found->second.size() != executed[found->first]) continue;
    node.holds = found->second[places[identity_of(node)]]->holds;
  }
}

// That records of older bundles do not have.
void add_newer_members(nlohmann::json& record) {
  record.emplace("profile", nullptr);
  for (auto& node : record.at("nodes")) node.emplace("inside", "");
}

}  // namespace

std::string session_json(const ModelSession& session) {
  // Names out of a model may be no UTF-8.
  return nlohmann::json(session).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void read_profile(ModelSession& session) {
  if (!session.profile) return;
  const SessionProfile profile = *session.profile;
  Trace trace = parsers::read_ort_profile(profile.file);
  ModelSession read = std::move(trace.session).value_or(ModelSession{});
  if (read.profiled_ns.empty() || read.profiled_ns.size() != profile.zero_ns.size())  // it keeps a million events
    throw Error(ErrorKind::kWorkload,
                fmt::format("ONNX Runtime's profile has {} of {} iterations", read.profiled_ns.size(), profile.zero_ns.size()),
                profile.file, "give fewer --iterations");
  for (NodeRun& run : read.runs) run.start_ns += profile.zero_ns[run.iteration];
  add_held_nodes(profile.graph, read.nodes);
  if (read.threads > 0) session.threads = read.threads;
  session.idle_threads = read.idle_threads;
  for (const auto& [damage, count] : trace.stats.rows_damaged)
    session.notes.push_back(fmt::format("ONNX Runtime's profile: {} left out ({})", count, text_of(damage)));
  adapters::keep_measured({std::move(read.nodes), std::move(read.runs)}, session);
}

ModelSession read_session(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw Error(ErrorKind::kInput, "the record of the session cannot be read", file.string(), "its pass has logs");
  try {
    nlohmann::json json = nlohmann::json::parse(in);
    add_newer_members(json);
    auto session = json.get<ModelSession>();
    for (const NodeRun& run : session.runs)
      if (run.node >= session.nodes.size())
        throw Error(ErrorKind::kInput, "the record of the session names a node that it does not have", file.string(), "profile again");
    if (session.profile) session.profile->file = file.parent_path() / fs::path(session.profile->file).filename();
    read_profile(session);
    return session;
  } catch (const nlohmann::json::exception& wrong) {
    throw Error(ErrorKind::kInput, std::string("the record of the session is damaged: ") + wrong.what(), file.string(), "profile again");
  }
}

}  // namespace nl::orchestrator
