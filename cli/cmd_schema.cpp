#include <vector>

#include "cli/json_output.h"
#include "cli/manual/reference.h"
#include "cli/verbs.h"
#include "exporters/answer/answer.h"
#include "exporters/run_json/run_json.h"
#include "model/error.h"
#include "orchestrator/config/nearest.h"

namespace nl::cli {
namespace {

struct Schema {
  const char* name;
  const char* file;
  std::string (*text)();
};

// As schema/ has them.
constexpr Schema kSchemas[] = {{"run", "run.json", exporters::run_json_schema},
                               {"compare", "compare.json", exporters::comparison_schema},
                               {"suite", "suite.json", exporters::suite_schema},
                               {"answer", "what run, import, profile and show print with --json", exporters::answer_schema}};

struct SchemaFlags {
  std::string name;
  bool json = false;
};

int list_schemas(bool json) {
  auto list = nlohmann::ordered_json::array();
  for (const Schema& schema : kSchemas) list.push_back({{"name", schema.name}, {"file", schema.file}});
  if (json) write_json({{"schemas", list}});
  else
    for (const Schema& schema : kSchemas) write_out("{:<8} of {}\n", schema.name, schema.file);
  return 0;
}

int print_schema(const SchemaFlags& flags) {
  if (flags.name.empty()) return list_schemas(flags.json);
  for (const Schema& schema : kSchemas) {
    if (flags.name != schema.name) continue;
    write_data(schema.text());
    return 0;
  }
  throw Error(ErrorKind::kUsage, fmt::format("unknown schema '{}'", flags.name), "schema",
              orchestrator::nearest_or_all(flags.name, schema_names()));
}

}  // namespace

std::vector<std::string> schema_names() {
  std::vector<std::string> names;
  for (const Schema& schema : kSchemas) names.emplace_back(schema.name);
  return names;
}

void add_schema(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<SchemaFlags>();
  CLI::App* verb = app.add_subcommand("schema", "Print the JSON Schema of run.json, compare.json, suite.json or the answer of --json");
  verb->add_option("name", flags->name, "run, compare, suite or answer; none: list them")->type_name("SCHEMA");
  verb->add_flag("--json", flags->json, "list them as {schemas: [{name, file}]}; a schema is JSON in any case");
  verb->footer(
      "Examples:\n"
      "  nl-stage schema\n"
      "  nl-stage schema run > run.schema.json");
  verb->callback([flags, &action] { action = [flags] { return print_schema(*flags); }; });
}

}  // namespace nl::cli
