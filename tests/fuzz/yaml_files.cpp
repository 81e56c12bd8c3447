// The YAML that users write.
#include "orchestrator/config/config.h"
#include "orchestrator/config/knowledge.h"
#include "orchestrator/config/yaml_file.h"
#include "runs/gate/expectations.h"
#include "runs/suite/suite.h"
#include "tests/fuzz/input_files.h"
#include "tests/fuzz/readers.h"

namespace nl::fuzz::read {
namespace {

orchestrator::ConfFile as_conf_file(std::string_view bytes) { return {.relative = "input.yaml", .disk = {}, .text_built_in = bytes}; }

}  // namespace

// Also what --set takes, which may be YAML where a file of it is none.
void config(std::string_view bytes) {
  takes([&] { orchestrator::read_yaml_value(bytes, "--set"); });
  orchestrator::load_knowledge(orchestrator::load_config({.runner_file = as_file(bytes, "input.yaml")}));
}

void rules(std::string_view bytes) { orchestrator::load_rules({as_conf_file(bytes)}, {}); }

void devices(std::string_view bytes) { orchestrator::read_device_file(as_file(bytes, "input.yaml")); }

// As `gate --update` does: edited, and written anew.
void expectations(std::string_view bytes) {
  const orchestrator::ConfFile file = as_conf_file(bytes);
  const Expectations wanted = runs::read_expectations(file);
  runs::edited_text(file, wanted);
  const std::string text = runs::expectations_text(wanted);
  runs::read_expectations(as_conf_file(text));
}

void suite(std::string_view bytes) {
  const runs::Suite suite = runs::read_suite(as_file(bytes, "input.yaml"));
  runs::find_pairs(suite);
  runs::plan_tasks(suite);
}

}  // namespace nl::fuzz::read
