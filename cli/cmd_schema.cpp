#include <algorithm>
#include <vector>

#include "cli/json_output.h"
#include "cli/manual/reference.h"
#include "cli/verbs.h"
#include "model/visible_text.h"
#include "orchestrator/bundle/schemas.h"

namespace nl::cli {
namespace {

struct SchemaFlags {
  std::string name;
  bool list = false, json = false;
};

int list_schemas(const VerbReference& program, bool json) {
  auto list = nlohmann::ordered_json::array();
  std::size_t widest = 0;
  for (const std::string& name : orchestrator::schema_names()) {
    auto verbs = nlohmann::ordered_json::array();
    for (const VerbReference* verb : all_verbs(program))
      if (orchestrator::schema_of_verb(verb->name) == name) verbs.push_back(verb->name);
    list.push_back({{"name", name}, {"title", orchestrator::schema_title(orchestrator::schema_named(name))}, {"verbs", verbs}});
    widest = std::max(widest, name.size());
  }
  if (json) return write_json({{"schemas", list}}), 0;
  for (const auto& each : list)
    write_out("{:<{}}  {}\n", each["name"].get<std::string>(), widest,
              wrapped(each["title"].get<std::string>(), line_width(), widest + 2, widest + 2));
  return 0;
}

int print_schema(const CLI::App& app, const SchemaFlags& flags) {
  if (flags.name.empty() || flags.list) return list_schemas(reference_of(app), flags.json);
  write_data(orchestrator::schema_named(flags.name));
  return 0;
}

}  // namespace

void add_schema(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<SchemaFlags>();
  CLI::App* verb = app.add_subcommand("schema", "Print the JSON Schema of what nl-stage writes, or prints with --json");
  verb->add_option("name", flags->name, "run for run.json, ls for `ls --json` …; none: list them")->type_name("SCHEMA");
  verb->add_flag("--list", flags->list, "list them");
  verb->add_flag("--json", flags->json, "list them as {schemas: [{name, title, verbs}]}; a schema is JSON in any case");
  verb->footer(
      "`nl-stage validate --schema NAME FILE` checks a file.\n"
      "Examples:\n"
      "  nl-stage schema\n"
      "  nl-stage schema run > run.schema.json\n"
      "  nl-stage schema error");
  verb->callback([flags, &app, &action] { action = [flags, &app] { return print_schema(app, *flags); }; });
}

}  // namespace nl::cli
