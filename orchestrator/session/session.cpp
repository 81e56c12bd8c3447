#include "orchestrator/session/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "adapters/measure.h"
#include "analysis/figures/nodes/session_figures.h"
#include "model/error.h"
#include "model/input_bounds.h"
#include "model/words.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/config/choices.h"
#include "orchestrator/session/model_digest.h"
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

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ModelSession, backend, version, provider, precision, model, digest, weight_files, weight_dtypes,
                                   inputs_from, threads, idle_threads, warmup, load_ns, inputs, outputs, unprofiled_ns, profiled_ns,
                                   host_times_known, nodes, runs, notes, profile)

}  // namespace nl

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

// "batch=4"
std::pair<std::string, std::int64_t> dimension_of(const std::string& text) {
  const auto equals = text.rfind('=');
  std::int64_t size = 0;
  const char *begin = text.data() + (equals == std::string::npos ? text.size() : equals + 1), *end = text.data() + text.size();
  const auto read = std::from_chars(begin, end, size);
  if (equals == 0 || read.ec != std::errc() || read.ptr != end || size < 0)
    throw Error(ErrorKind::kUsage, "'" + text + "' gives no dimension a size", "session.dims", "write --dim NAME=N, such as --dim batch=4");
  return {text.substr(0, equals), size};
}

// "x=2x16:float32"
std::pair<std::string, adapters::GivenShape> shape_of(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw Error(ErrorKind::kUsage, "'" + text + "' gives no input a shape", "session.shapes",
                "write --shape NAME=AxB:TYPE, such as --shape x=2x16:float32");
  return {text.substr(0, equals), adapters::parse_shape(text.substr(equals + 1))};
}

// For what a backend writes by itself; gone with the session.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "nl-stage-session-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw Error(ErrorKind::kOutput, "no folder for temporary files can be made", name, "set TMPDIR to a folder with room");
    folder_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_;
};

std::string provider_of(const ModelFileOptions& options, const adapters::Adapter& adapter) {
  const std::vector<std::string> there = adapter.availability().providers;
  return !options.provider.empty() || there.empty() ? options.provider : there.front();
}

adapters::MeasureOptions measure_options(const ModelFileOptions& options, const adapters::Adapter& adapter, const fs::path& scratch) {
  adapters::MeasureOptions measured;
  measured.session.model = options.model;
  measured.session.provider = provider_of(options, adapter);
  measured.session.precision = choice<Precision>(options.precision) == Precision::kModel ? "" : options.precision;
  measured.session.threads = static_cast<std::uint32_t>(options.threads);
  measured.session.scratch = scratch;
  measured.inputs = options.inputs;
  measured.seed = static_cast<std::uint64_t>(options.seed);
  for (const std::string& text : options.dims) measured.dims.insert(dimension_of(text));
  for (const std::string& text : options.shapes) measured.shapes.insert(shape_of(text));
  measured.iterations = static_cast<std::uint32_t>(options.iterations);
  measured.warmup = static_cast<std::uint32_t>(options.warmup);
  measured.session.progress = [](const std::string& what) { fmt::print(stderr, "session: {}\n", what); };
  return measured;
}

// The backend's own profile goes beside the record: session.profile.json beside session.json.
void write_record(ModelSession session, const fs::path& record) {
  if (record.has_parent_path()) fs::create_directories(record.parent_path());
  if (session.profile) {
    const fs::path kept = fs::path(record).replace_extension(".profile.json");
    std::error_code failed;
    fs::copy_file(session.profile->file, kept, fs::copy_options::overwrite_existing, failed);
    if (failed)
      throw Error(ErrorKind::kOutput, "the profile of the session cannot be kept: " + failed.message(), kept.string(),
                  "give --record a folder with room");
    session.profile->file = kept.filename();
  }
  write_file_whole(record, session_json(session));
}

// Some fusions give all their nodes one name ("BiasGelu"): these run in the order of the file. Where only some ran, it is not known which.
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

// Adds the members that records of older bundles do not have.
void add_newer_members(nlohmann::json& record) {
  record.emplace("profile", nullptr);
  record.emplace("digest", "");
  for (const char* list : {"weight_files", "weight_dtypes"}) record.emplace(list, nlohmann::json::array());
  for (auto& node : record.at("nodes")) node.emplace("inside", "");
}

}  // namespace

void check_session(const ModelFileOptions& options) {
  if (options.backend.empty()) return;
  const adapters::Adapter& adapter = adapters::adapter_named(options.backend);
  if (const adapters::Availability here = adapter.availability(); !here.loads)
    throw Error(ErrorKind::kTool, adapter.title() + " cannot be used here: " + here.reason, "--backend " + options.backend,
                "nl-stage backends lists what can");
  std::error_code ignored;
  if (!fs::is_regular_file(options.model, ignored))
    throw Error(ErrorKind::kInput, fs::exists(options.model, ignored) ? "the model is not a file" : "there is no such model file",
                options.model, "give --model FILE");
  std::map<std::string, std::int64_t> dims;
  adapters::GivenShapes shapes;
  for (const std::string& text : options.dims) dims.insert(dimension_of(text));
  for (const std::string& text : options.shapes) shapes.insert(shape_of(text));
  if (const auto inputs = adapter.declared_inputs(options.model)) adapters::check_sizes(*inputs, options.inputs, dims, shapes);
}

ModelSession run_session(const ModelFileOptions& options, const fs::path& record) {
  check_session(options);
  const Scratch scratch;
  const adapters::Adapter& adapter = adapters::adapter_named(options.backend);
  ModelSession session = adapters::measure(adapter, measure_options(options, adapter, scratch.folder()));
  if (!record.empty()) session.digest = model_digest(session.model, session.weight_files);
  ModelSession whole = session;
  read_profile(whole);  // first: nothing is left of a session that it refuses
  if (!record.empty()) write_record(session, record);
  return whole;
}

std::string session_text(const ModelSession& session) {
  const SessionEntry figures = analysis::session_figures(session);
  std::string text =
      fmt::format("{} {}, {}: {} iterations, median {:.3f} ms unprofiled, {:.3f} ms profiled", session.backend, session.version,
                  session.provider, session.unprofiled_ns.size(), figures.unprofiled.median_ns / 1e6, figures.profiled.median_ns / 1e6);
  if (figures.slowdown) text += fmt::format(" ({:.2f} times)", 1 + *figures.slowdown);
  for (const std::string& note : session.notes) text += "\n" + note;
  return text;
}

std::string session_figures_json(const ModelSession& session) {
  const SessionEntry figures = analysis::session_figures(session);
  const nlohmann::ordered_json json = {
      {"backend", session.backend},
      {"version", session.version},
      {"provider", session.provider},
      {"iterations", session.unprofiled_ns.size()},
      {"unprofiled_ms", figures.unprofiled.median_ns / 1e6},
      {"profiled_ms", figures.profiled.median_ns / 1e6},
      {"slowdown", figures.slowdown ? nlohmann::ordered_json(*figures.slowdown) : nlohmann::ordered_json()},
      {"notes", session.notes}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string session_json(const ModelSession& session) {
  // Names in a model may not be UTF-8.
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
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    nlohmann::json json = nlohmann::json::parse(json_within_bounds(text, file.string()));
    add_newer_members(json);
    auto session = json.get<ModelSession>();
    for (const NodeRun& run : session.runs)
      if (run.node >= session.nodes.size())
        throw Error(ErrorKind::kInput, "the record of the session names a node that it does not have", file.string(), "profile again");
    if (session.profile) session.profile->file = file.parent_path() / fs::path(session.profile->file).filename();
    read_profile(session);
    return session;
  } catch (const nlohmann::json::exception& wrong) {
    throw Error(ErrorKind::kInput, std::string("the record of the session is damaged: ") + json_fault(wrong.what()), file.string(),
                "profile again");
  }
}

}  // namespace nl::orchestrator
