#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "model/load.h"

// What other load generators leave behind, as the requests that it is about.
namespace nl::parsers {

// The JSON documents of a file: one, or one a line. What Python writes beyond JSON (NaN, Infinity) is null.
struct LoadDocuments {
  std::vector<nlohmann::json> documents;
  std::uint64_t damaged = 0;  // lines that are none
  std::string where;          // the file, for errors
};

struct LoadFormat {
  LoadTool tool = LoadTool::kVllm;
  bool (*is_own)(const nlohmann::json& first) = nullptr;
  std::vector<LoadRun> (*read)(const LoadDocuments& documents) = nullptr;  // throws Error(kInput) where it has no requests
};

LoadDocuments load_documents(std::string_view text, const std::string& where);

// Whose file it is, by what is in it. Throws Error(kInput) where it belongs to none.
const LoadFormat& load_format_of(const LoadDocuments& documents);

}  // namespace nl::parsers
