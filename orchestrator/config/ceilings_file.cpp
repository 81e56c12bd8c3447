#include "orchestrator/config/ceilings_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "model/error.h"
#include "model/input_bounds.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {

std::string ceilings_json(const DeviceCeilings& card) {
  using nlohmann::ordered_json;
  const auto figure = [](const std::optional<double>& value) { return value ? ordered_json(*value) : ordered_json(); };
  return ordered_json{{"name", card.name},
                      {"uuid", card.uuid},
                      {"measured_at", card.measured_at},
                      {"gemm_flops_per_s", card.gemm_flops_per_s},
                      {"copy_bytes_per_s", figure(card.copy_bytes_per_s)},
                      {"h2d_bytes_per_s", figure(card.h2d_bytes_per_s)},
                      {"d2h_bytes_per_s", figure(card.d2h_bytes_per_s)},
                      {"attention_flops_per_s", figure(card.attention_flops_per_s)}}
             .dump(2) +
         "\n";
}

DeviceCeilings read_ceilings(const fs::path& file) {
  try {
    std::ifstream in(file);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    const auto read = nlohmann::json::parse(json_within_bounds(text, file.string()));
    const auto figure = [&](const char* key) {
      return read.at(key).is_null() ? std::optional<double>() : std::optional(read.at(key).get<double>());
    };
    DeviceCeilings card;
    card.name = read.at("name").get<std::string>();
    card.uuid = read.at("uuid").get<std::string>();
    card.measured_at = read.at("measured_at").get<std::string>();
    card.gemm_flops_per_s = read.at("gemm_flops_per_s").get<std::map<std::string, double>>();
    card.copy_bytes_per_s = figure("copy_bytes_per_s");
    card.h2d_bytes_per_s = figure("h2d_bytes_per_s");
    card.d2h_bytes_per_s = figure("d2h_bytes_per_s");
    card.attention_flops_per_s = figure("attention_flops_per_s");
    return card;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::kInput, "the ceilings of a card cannot be read", file.string(),
                fmt::format("run nl-stage ceilings again ({})", json_fault(error.what())));
  }
}

fs::path ceilings_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value != nullptr ? value : "");
  };
  if (const fs::path named = variable("NL_STAGE_CEILINGS"); !named.empty()) return named;
  if (const fs::path data = variable("XDG_DATA_HOME"); data.is_absolute()) return data / "nl-stage" / "ceilings";
  const fs::path home = variable("HOME");
  return home.is_absolute() ? home / ".local" / "share" / "nl-stage" / "ceilings" : fs::path();
}

fs::path ceilings_file(const DeviceCeilings& card) { return ceilings_folder() / (card.uuid + ".json"); }

std::vector<DeviceCeilings> kept_ceilings() {
  std::vector<DeviceCeilings> cards;
  std::error_code failed;
  for (fs::directory_iterator entry(ceilings_folder(), failed), end; !failed && entry != end; entry.increment(failed)) {
    if (entry->path().extension() != ".json") continue;
    try {
      cards.push_back(read_ceilings(entry->path()));
    } catch (const Error&) {
      continue;  // what-if says that there are none, and the verb writes the file anew
    }
  }
  std::sort(cards.begin(), cards.end(), [](const DeviceCeilings& a, const DeviceCeilings& b) { return a.uuid < b.uuid; });
  return cards;
}

}  // namespace nl::orchestrator
