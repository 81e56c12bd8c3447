#include <fmt/ranges.h>

#include "adapters/adapter.h"
#include "cli/json_output.h"
#include "cli/verbs.h"

namespace nl::cli {
namespace {

std::string backend_text(const adapters::Adapter& adapter, const adapters::Availability& here) {
  const std::string head = fmt::format("{:<12} {}", adapter.name(), adapter.title());
  if (!here.loads) return fmt::format("{}: not usable: {}\n", head, here.reason);
  return fmt::format("{} {}: {}{}\n", head, here.version, fmt::join(here.providers, ", "), here.library.empty() ? "" : "; " + here.library);
}

nlohmann::ordered_json backend_json(const adapters::Adapter& adapter, const adapters::Availability& here) {
  return {{"name", adapter.name()},
          {"title", adapter.title()},
          {"built_in", here.built_in},
          {"loads", here.loads},
          {"version", text_or_null(here.version)},
          {"library", text_or_null(here.library)},
          {"providers", here.providers},
          {"reason", text_or_null(here.reason)}};
}

int print_backends(bool json) {
  std::string text;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const auto& adapter : adapters::registry()) {
    if (adapter->for_tests()) continue;
    const adapters::Availability here = adapter->availability();
    if (json) all.push_back(backend_json(*adapter, here));
    else text += backend_text(*adapter, here);
  }
  if (json) write_json({{"backends", all}});
  else write_text(text);
  return 0;
}

}  // namespace

void add_backends(CLI::App& app, std::function<int()>& action) {
  auto json = std::make_shared<bool>(false);
  CLI::App* verb = app.add_subcommand("backends", "List what can run a model file here, and why the rest cannot");
  verb->add_flag("--json", *json, "print {backends: [{name, built_in, loads, version, library, providers, reason}]}");
  verb->footer(
      "A backend is built in where its headers were found, and loads where its library is found. docs/adapters.md has the places.\n"
      "Examples:\n"
      "  nl-stage backends\n"
      "  NL_STAGE_ONNXRUNTIME=/opt/ort/libonnxruntime.so nl-stage backends --json");
  verb->callback([json, &action] { action = [json] { return print_backends(*json); }; });
}

}  // namespace nl::cli
