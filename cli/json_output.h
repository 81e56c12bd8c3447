#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/output.h"

namespace nl::cli {

// The JSON, indented and with a line end; names out of captures may hold bytes that are not UTF-8.
inline std::string json_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// A text that is not known is null.
inline nlohmann::ordered_json text_or_null(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
}

inline void write_json(const nlohmann::ordered_json& json) { write_data(json_text(json)); }

}  // namespace nl::cli
