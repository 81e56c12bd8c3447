#include "parsers/load/results.h"

#include <array>
#include <nlohmann/json.hpp>

#include "model/error_code.h"
#include "model/input_bounds.h"

namespace nl::parsers {

extern const LoadFormat kVllmResults, kSglangResults, kAiperfRecords, kGuideLlmReport, kInferencePerfRequests;

namespace {

using nlohmann::json;

constexpr std::array kLoadFormats = {&kVllmResults, &kSglangResults, &kAiperfRecords, &kGuideLlmReport, &kInferencePerfRequests};

// {"request_rate": Infinity, "accept_length": NaN} → {"request_rate":     null, "accept_length": null}
std::string without_python_numbers(std::string_view text) {
  std::string out(text);
  bool in_text = false;
  for (std::size_t at = 0; at < out.size(); ++at) {
    if (out[at] == '"') in_text = !in_text;
    else if (in_text && out[at] == '\\') ++at;
    else if (!in_text && (out[at] == 'N' || out[at] == 'I'))
      for (const std::string_view word : {"NaN", "Infinity"})
        if (std::string_view(out).substr(at, word.size()) == word) {
          const bool negative = at > 0 && out[at - 1] == '-';
          const std::size_t from = negative ? at - 1 : at, size = word.size() + (negative ? 1 : 0);
          out.replace(from, size, "null");
          at = from + 3;
          break;
        }
  }
  return out;
}

}  // namespace

LoadDocuments load_documents(std::string_view text, const std::string& where) {
  LoadDocuments out;
  out.where = where;
  const std::string plain = without_python_numbers(text);
  if (json whole = json::parse(json_within_bounds(plain, where), nullptr, false); !whole.is_discarded()) {
    out.documents.push_back(std::move(whole));
    return out;
  }
  for (std::size_t at = 0; at < plain.size();) {
    const std::size_t end = std::min(plain.find('\n', at), plain.size());
    const std::string_view line = std::string_view(plain).substr(at, end - at);
    at = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    json document = json::parse(json_within_bounds(line, where), nullptr, false);
    if (document.is_discarded()) ++out.damaged;
    else out.documents.push_back(std::move(document));
  }
  return out;
}

const LoadFormat& load_format_of(const LoadDocuments& documents) {
  if (!documents.documents.empty())
    for (const LoadFormat* format : kLoadFormats)
      if (format->is_own(documents.documents.front())) return *format;
  throw CodedError(ErrorCode::kUnknownFormat, "the file is not what a load generator writes", documents.where,
                   "give a file of nl-stage load --out, vllm bench serve --save-detailed, SGLang's bench_serving --output-details, aiperf "
                   "(profile_export.jsonl), GuideLLM or inference-perf (per_request_lifecycle_metrics.json)");
}

}  // namespace nl::parsers
