#include "orchestrator/bundle/read_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "exporters/answer/answer.h"
#include "exporters/consistency/consistency.h"
#include "exporters/run_json/run_json.h"
#include "model/comparison.h"
#include "model/error_code.h"
#include "model/input_bounds.h"
#include "model/run.h"
#include "model/suite_report.h"
#include "orchestrator/bundle/schemas.h"

namespace nl::orchestrator {
namespace {

using nlohmann::json;

const valijson::Schema* parsed_schema(const std::string& text) {
  auto* parsed = new valijson::Schema;  // lives as long as the program
  const json document = json::parse(text);
  valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(valijson::adapters::NlohmannJsonAdapter(document), *parsed);
  return parsed;
}

// A file that nl-stage writes, and how it is recognised.
struct FileFormat {
  const char* file;
  const char* told_by;  // a key that no other has; empty: all the rest
  const char* version;  // that this nl-stage writes
  const char* fix;
  const char* fix_of_older;
  const valijson::Schema& (*schema)();
};

template <std::string (*text)()>
const valijson::Schema& schema_of() {
  static const valijson::Schema* const schema = parsed_schema(text());
  return *schema;
}

const FileFormat kFormats[] = {
    {"compare.json", "comparability", kCompareSchemaVersion, "schema/compare.schema.json describes the format",
     "`nl-stage compare` of the same runs writes it anew", schema_of<exporters::comparison_schema>},
    {"suite.json", "orphans", kSuiteSchemaVersion, "schema/suite.schema.json describes the format", "`nl-stage suite` writes it anew",
     schema_of<exporters::suite_schema>},
    {"answer", "left_out", exporters::kAnswerSchemaVersion, "schema/answer.schema.json describes the format",
     "`nl-stage show RUN --json` prints it anew", schema_of<exporters::answer_schema>},
    {"run.json", "", kRunSchemaVersion,
     "schema/run.schema.json describes the format; `nl-stage import` makes a bundle anew from its captures",
     "`nl-stage report` still reads it and renders its reports again; `nl-stage import` makes a bundle anew from its captures",
     schema_of<exporters::run_json_schema>}};

// Files of other verbs and of other programs have no schema here, and would be called a run.json that lacks everything.
void refuse_unknown(const json& document, const std::string& where) {
  for (const char* key : {"schema_version", "run_id", "stages"})
    if (document.is_object() && document.contains(key)) return;
  throw Error(ErrorKind::kInput, "this is no file that has a schema: it has neither a schema_version nor a run_id", where,
              "`nl-stage schema` lists the files that have one; --schema NAME checks against it");
}

const FileFormat& format_of(const json& document) {
  return *std::find_if(std::begin(kFormats), std::end(kFormats), [&](const FileFormat& each) {
    return *each.told_by == '\0' || (document.is_object() && document.contains(each.told_by));
  });
}

json parse(std::string_view text, const std::string& where) {
  try {
    return json::parse(json_within_bounds(text, where));
  } catch (const json::exception& broken) {
    throw CodedError(ErrorCode::kRunJsonInvalid, fmt::format("not JSON: {}", json_fault(broken.what())), where,
                     "is the file whole, and is it a run.json?");
  }
}

// valijson's path {"<root>", "[kernels]", "[0]"} as the JSON pointer /kernels/0.
std::string pointer_of(const std::vector<std::string>& context) {
  std::string pointer;
  for (std::size_t i = 1; i < context.size(); ++i) {
    std::string_view step = context[i];
    if (step.size() >= 2 && step.front() == '[' && step.back() == ']') step = step.substr(1, step.size() - 2);
    pointer += '/';
    for (const char c : step) pointer += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return pointer.empty() ? "/" : pointer;
}

// A place in the document, and what is wrong there; empty: nothing.
struct SchemaFault {
  std::string pointer, reason;
};

// valijson reports the innermost fault first, then every schema around it that failed with it.
SchemaFault first_fault(valijson::ValidationResults& results) {
  valijson::ValidationResults::Error fault;
  if (!results.popError(fault)) return {"/", "it does not match the schema"};
  return {pointer_of(fault.context), fault.description};
}

// Patterns are matched by std::regex, which recurses for each character: a string of a megabyte would overflow the stack. None asks for more.
void shorten_strings(json& value) {
  constexpr std::size_t kMost = 4096;
  if (value.is_string() && value.get_ref<const std::string&>().size() > kMost) value.get_ref<std::string&>().resize(kMost);
  if (value.is_structured())
    for (json& each : value) shorten_strings(each);
}

SchemaFault fault_of(json document, const valijson::Schema& schema, const std::string& where) {
  shorten_strings(document);
  valijson::ValidationResults results;
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  try {
    if (validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(document), &results)) return {};
  } catch (const std::exception& broken) {
    throw Error(ErrorKind::kInternal, fmt::format("the schema could not be applied: {}", broken.what()), where);
  }
  return first_fault(results);
}

using Version = std::array<unsigned, 3>;

std::optional<Version> version_of(std::string_view text) {
  Version version{};
  const char *at = text.data(), *const end = at + text.size();
  for (std::size_t i = 0; i < version.size(); ++i) {
    if (i > 0 && (at == end || *at++ != '.')) return std::nullopt;
    const auto [rest, wrong] = std::from_chars(at, end, version[i]);
    if (wrong != std::errc()) return std::nullopt;
    at = rest;
  }
  return at == end ? std::optional(version) : std::nullopt;
}

// Before the schema, which would complain of whatever was added since.
void refuse_older(const json& document, const std::string& where, const FileFormat& format) {
  const auto found = document.is_object() ? document.find("schema_version") : document.end();
  if (found == document.end() || !found->is_string()) return;
  const auto& text = found->get_ref<const std::string&>();
  const auto version = version_of(text);
  if (!version || *version >= version_of(format.version)) return;
  throw CodedError(ErrorCode::kRunJsonInvalid,
                   fmt::format("format {}, written by an older nl-stage; this one writes {} and checks no other", text, format.version),
                   where, format.fix_of_older);
}

}  // namespace

void validate_run_json(std::string_view text, const std::string& where) {
  json document = parse(text, where);
  refuse_unknown(document, where);
  const FileFormat& format = format_of(document);
  refuse_older(document, where, format);
  const SchemaFault fault = fault_of(std::move(document), format.schema(), where);
  if (!fault.reason.empty())
    throw CodedError(ErrorCode::kRunJsonInvalid, fmt::format("not a valid {}: at {}: {}", format.file, fault.pointer, fault.reason), where,
                     format.fix);
}

void validate_by_schema(std::string_view name, std::string_view text, const std::string& where) {
  const std::unique_ptr<const valijson::Schema> schema(parsed_schema(schema_named(name)));
  const SchemaFault fault = fault_of(parse(text, where), *schema, where);
  if (!fault.reason.empty())
    throw CodedError(ErrorCode::kRunJsonInvalid,
                     fmt::format("it does not fit the schema '{}': at {}: {}", name, fault.pointer, fault.reason), where,
                     fmt::format("`nl-stage schema {}` prints the schema", name));
}

void refuse_contradictions(const std::string& text, const std::string& where) {
  if (*format_of(parse(text, where)).told_by != '\0') return;
  const auto found = exporters::contradictions(exporters::run_from_json(text));
  if (found.empty()) return;
  std::string more;
  for (std::size_t i = 1; i < std::min<std::size_t>(found.size(), 4); ++i) more += fmt::format("; {}: {}", found[i].where, found[i].what);
  if (found.size() > 4) more += fmt::format("; and {} more", found.size() - 4);
  throw CodedError(
      ErrorCode::kRunJsonInvalid, fmt::format("contradicts itself: {}{}", found[0].what, more),
      fmt::format("{}: {}", where, found[0].where),
      "nl-stage does not write such a file: was it changed? If not, it is a fault of nl-stage; `nl-stage import` makes a bundle anew");
}

}  // namespace nl::orchestrator
