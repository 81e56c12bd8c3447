#include "orchestrator/import_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "orchestrator/config/config.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 4> kPassFolders = {"nsys", "collector", "ncu", "counters"};
constexpr std::array<std::string_view, 15> kToolsNames = {"nsys",    "nvtx",      "ncu",    "run",       "report",
                                                          "trace",   "export",    "raw",    "first-raw", "profile",
                                                          "capture", "collector", "output", "out",       "tmp"};

// "nsys", "report1", "nvtx-4242", "Trace_0", and a number alone.
bool says_nothing(std::string name) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  name.resize(name.find_last_not_of("0123456789.-_") + 1);
  return name.empty() || std::find(kToolsNames.begin(), kToolsNames.end(), name) != kToolsNames.end();
}

// A bundle keeps each pass in a folder of its own.
fs::path folder_of(const fs::path& capture) {
  const fs::path folder = capture.parent_path();
  return std::find(kPassFolders.begin(), kPassFolders.end(), folder.filename().string()) != kPassFolders.end() ? folder.parent_path()
                                                                                                               : folder;
}

// Ends the reading at the name, which stands before the long lists.
struct NameReader {
  std::string name;
  int depth = 0;
  bool is_name = false;

  bool other() {
    is_name = false;
    return true;
  }
  bool open() {
    ++depth;
    return other();
  }
  bool close() {
    --depth;
    return other();
  }
  bool key(std::string& key) {
    is_name = depth == 1 && key == "name";
    return true;
  }
  bool string(std::string& text) {
    if (is_name) name = text;
    return !is_name;
  }
  bool null() { return other(); }
  bool boolean(bool) { return other(); }
  bool number_integer(json::number_integer_t) { return other(); }
  bool number_unsigned(json::number_unsigned_t) { return other(); }
  bool number_float(json::number_float_t, const std::string&) { return other(); }
  bool binary(json::binary_t&) { return other(); }
  bool start_object(std::size_t) { return open(); }
  bool end_object() { return close(); }
  bool start_array(std::size_t) { return open(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t, const std::string&, const json::exception&) { return false; }
};

}  // namespace

std::string import_name(const NameSources& sources) {
  if (!sources.recorded.empty()) return as_run_name(sources.recorded);
  for (const std::string& name : {run_name_of(sources.capture), folder_of(sources.capture).filename().string(), sources.process})
    if (!says_nothing(name)) return as_run_name(name);
  return Config{}.run.name;
}

std::string recorded_name(const fs::path& capture) {
  const fs::path file = folder_of(capture) / "run.json";
  std::error_code ignored;
  if (folder_of(capture) == capture.parent_path() || !fs::is_regular_file(file, ignored)) return {};
  std::ifstream stream(file, std::ios::binary);
  NameReader reader;
  json::sax_parse(stream, &reader, json::input_format_t::json, false);
  return reader.name;
}

}  // namespace nl::orchestrator
