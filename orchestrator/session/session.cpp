#include "orchestrator/session/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "adapters/measure.h"
#include "analysis/figures/nodes/session_figures.h"
#include "model/error.h"
#include "orchestrator/bundle/whole_file.h"
#include "orchestrator/config/choices.h"
#include "orchestrator/session/record.h"

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
  WholeFile file(record);
  file.append(session_json(session));
  file.commit();
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
  for (const std::string& text : options.dims) dimension_of(text);
  for (const std::string& text : options.shapes) shape_of(text);
}

ModelSession run_session(const ModelFileOptions& options, const fs::path& record) {
  check_session(options);
  const Scratch scratch;
  const adapters::Adapter& adapter = adapters::adapter_named(options.backend);
  const ModelSession session = adapters::measure(adapter, measure_options(options, adapter, scratch.folder()));
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

}  // namespace nl::orchestrator
