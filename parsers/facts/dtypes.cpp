#include "parsers/facts/dtypes.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>

#include "parsers/process_files.h"

namespace fs = std::filesystem;

namespace nl::parsers {
namespace {

constexpr std::uintmax_t kMaxDtypesBytes = 16 << 20;

std::string dtype_text(const nlohmann::json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

void add_dtypes_of(const fs::path& file, RecordedDtypes& out) {
  std::ifstream in(file, std::ios::binary);
  const auto json = nlohmann::json::parse(in, nullptr, false);
  if (!json.is_object() || !json.contains("operators") || !json["operators"].is_array())
    return out.notes.push_back(fmt::format("{} is no whole JSON", file.filename().string()));
  for (const auto& row : json["operators"]) {
    OperatorDtypes recorded{dtype_text(row, "name"), dtype_text(row, "shapes"), dtype_text(row, "dtypes")};
    if (!recorded.name.empty() && !recorded.dtypes.empty()) out.operators.push_back(std::move(recorded));
  }
}

}  // namespace

RecordedDtypes read_dtypes(const fs::path& folder) {
  RecordedDtypes out;
  for (const fs::path& file : process_files(folder, "dtypes-", ".json", kMaxDtypesBytes)) add_dtypes_of(file, out);
  std::sort(out.operators.begin(), out.operators.end(), [](const OperatorDtypes& a, const OperatorDtypes& b) {
    return std::tie(a.name, a.shapes, a.dtypes) < std::tie(b.name, b.shapes, b.dtypes);
  });
  out.operators.erase(std::unique(out.operators.begin(), out.operators.end()), out.operators.end());
  return out;
}

}  // namespace nl::parsers
