#include "orchestrator/session/record.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "model/error.h"

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
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SessionNode, name, type, provider, shapes, dtypes, depth, holds, index, output_shapes, output_dtypes)

// A list, not an object: there are many.
static void to_json(nlohmann::json& json, const NodeRun& run) {
  json = {run.iteration, run.node, run.start_ns, run.host_ns, nlohmann::json(run.gpu_ns)};
}

static void from_json(const nlohmann::json& json, NodeRun& run) {
  run = {json.at(0), json.at(1), json.at(2), json.at(3), json.at(4).get<std::optional<Ns>>()};
}

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ModelSession, backend, version, provider, precision, model, inputs_from, threads, idle_threads, warmup,
                                   load_ns, inputs, outputs, unprofiled_ns, profiled_ns, host_times_known, nodes, runs, notes)

}  // namespace nl

namespace nl::orchestrator {

std::string session_json(const ModelSession& session) {
  // Names out of a model may be no UTF-8.
  return nlohmann::json(session).dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

ModelSession read_session(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw Error(ErrorKind::kInput, "the record of the session cannot be read", file.string(), "its pass has logs");
  try {
    ModelSession session = nlohmann::json::parse(in).get<ModelSession>();
    for (const NodeRun& run : session.runs)
      if (run.node >= session.nodes.size())
        throw Error(ErrorKind::kInput, "the record of the session names a node that it does not have", file.string(), "profile again");
    return session;
  } catch (const nlohmann::json::exception& wrong) {
    throw Error(ErrorKind::kInput, std::string("the record of the session is damaged: ") + wrong.what(), file.string(), "profile again");
  }
}

}  // namespace nl::orchestrator
