#include "exporters/run_json/run_json.h"

#include <fmt/core.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "exporters/run_json/parts.h"
#include "model/error_code.h"
#include "model/input_bounds.h"
#include "model/run_metrics.h"

namespace nl::exporters {
namespace {

constexpr const char* kPlace = "run.json: /schema_version";

struct Version {
  unsigned major = 0, minor = 0;
  friend auto operator<=>(const Version&, const Version&) = default;
};

Version parsed_version(std::string_view text) {
  Version version;
  const char* end = text.data() + text.size();
  auto [dot, wrong] = std::from_chars(text.data(), end, version.major);
  if (wrong == std::errc() && dot != end && *dot == '.') {
    auto [rest, also_wrong] = std::from_chars(dot + 1, end, version.minor);
    if (also_wrong == std::errc() && rest != end && *rest == '.') return version;
  }
  throw CodedError(ErrorCode::kRunJsonInvalid, fmt::format("not a run.json: its schema version reads '{}'", text), kPlace);
}

// Before anything else is read: a newer file may look like a damaged one.
Version version_of(const nlohmann::json& document) {
  const auto found = document.is_object() ? document.find("schema_version") : document.end();
  if (found == document.end() || !found->is_string())
    throw CodedError(ErrorCode::kRunJsonInvalid, "not a run.json: it has no schema_version", kPlace,
                     "name the run.json that `nl-stage run` or `import` wrote");
  const Version version = parsed_version(found->get_ref<const std::string&>());
  if (version.major > parsed_version(kRunSchemaVersion).major)
    throw CodedError(ErrorCode::kRunJsonNewer,
                     fmt::format("a run.json of schema version {}; this nl-stage reads up to {}", found->get_ref<const std::string&>(),
                                 kRunSchemaVersion),
                     kPlace, "use the nl-stage that wrote it, or a newer one; or import its captures anew");
  return version;
}

}  // namespace

const nlohmann::json* JsonReader::find(const char* key) const {
  expect(here_->is_object(), "an object");
  const auto found = here_->find(key);
  if (found != here_->end()) return &*found;
  if (!older_) refuse(std::string("no '") + key + "'");
  return nullptr;
}

const JsonDocument& JsonReader::run_json(bool older) {
  static const JsonDocument kLatest, kOlder{.older = true};
  return older ? kOlder : kLatest;
}

std::string JsonReader::pointer() const {
  if (parent_ == nullptr) return {};
  if (key_ == nullptr) return parent_->pointer() + '/' + std::to_string(index_);
  std::string out = parent_->pointer() + '/';
  for (const char* c = key_; *c != '\0'; ++c) out += *c == '~' ? "~0" : *c == '/' ? "~1" : std::string(1, *c);
  return out;
}

void JsonReader::refuse(const std::string& what) const {
  const std::string place = pointer();
  throw CodedError(ErrorCode::kRunJsonInvalid, about_->what + ": " + what, about_->where + ": " + (place.empty() ? "/" : place),
                   about_->fix);
}

nlohmann::json parsed_json(std::string_view text, const JsonDocument& about) {
  try {
    return nlohmann::json::parse(json_within_bounds(text, about.where));
  } catch (const nlohmann::json::exception& broken) {
    throw CodedError(ErrorCode::kRunJsonInvalid, about.what + ": " + json_fault(broken.what()), about.where, about.fix);
  }
}

void fields(auto& io, Ref<decltype(io), RunSummary> s) {
  for (const RunMetricInfo& info : run_metric_table())
    if (!info.uses.summary.empty())
      io(info.key.data(), s.figures[info.key], info.uses.summary.data(), info.unit == FigureUnit::kShare ? kFraction : Limits{});
  io.known("top_finding", s.top_finding, "rule of the first of findings that asks for a change of the workload; null: none does");
}

void fields(auto& io, Ref<decltype(io), Run> run) {
  io("schema_version", run.schema_version, "of this format", matching("^3\\.[0-9]+\\.[0-9]+$"));
  io("run_id", run.run_id, "time, name and mode, and what makes it unique");
  io("created_at", run.created_at, "RFC 3339, UTC; may be empty",
     matching("^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?Z)?$"));
  io.code("status", run.status, "complete: all that was planned was captured");
  io("summary", run.summary, "the figures to quote, for jq and dashboards");
  origin_fields(io, run);
  stage_fields(io, run);
  serving_fields(io, run);
  kernel_fields(io, run);
  operator_fields(io, run);
  finding_fields(io, run);
  capture_fields(io, run);
}

std::string run_to_json(const Run& run) { return json_text(run); }

std::string run_json_schema() {
  return schema_text<Run>("run.json of nl-stage",
                          "One analysed run. Times are nanoseconds. null is \"not captured\" or \"not known\", never zero.");
}

Run run_from_json(std::string_view text) {
  nlohmann::json document;
  try {
    document = nlohmann::json::parse(json_within_bounds(text, "run.json"));
  } catch (const nlohmann::json::exception& broken) {
    throw CodedError(ErrorCode::kRunJsonInvalid, fmt::format("not JSON: {}", json_fault(broken.what())), "run.json",
                     "is the file whole, and is it a run.json?");
  }
  Run run;
  const bool older = version_of(document) < parsed_version(kRunSchemaVersion);
  JsonReader(document, older).get(run);
  return run;
}

}  // namespace nl::exporters
