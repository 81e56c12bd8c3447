#include "cli/help_json.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace nl::cli {

nlohmann::ordered_json help_json(const CLI::App& verb) {
  nlohmann::ordered_json out = {{"name", verb.get_name()}, {"description", verb.get_description()}};
  out["flags"] = nlohmann::ordered_json::array();
  for (const CLI::Option* option : verb.get_options())
    if (!option->get_group().empty())
      out["flags"].push_back(
          {{"names", option->get_name(true, true)}, {"description", option->get_description()}, {"required", option->get_required()}});
  out["verbs"] = nlohmann::ordered_json::array();
  for (const CLI::App* each : verb.get_subcommands([](const CLI::App* below) { return !below->get_group().empty(); }))
    out["verbs"].push_back({{"name", each->get_name()}, {"description", each->get_description()}});
  return out;
}

}  // namespace nl::cli
