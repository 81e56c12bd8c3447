#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

// One function per verb: adds the subcommand, its flags and examples, and sets `action` when it is called. What each of them needs for that
// is included here.
namespace nl::cli {

void add_backends(CLI::App& app, std::function<int()>& action);
void add_bisect(CLI::App& app, std::function<int()>& action);
void add_calibrate(CLI::App& app, std::function<int()>& action);
void add_ceilings(CLI::App& app, std::function<int()>& action);
void add_collectives(CLI::App& app, std::function<int()>& action);
void add_compare(CLI::App& app, std::function<int()>& action);
void add_completion(CLI::App& app, std::function<int()>& action);
void add_doctor(CLI::App& app, std::function<int()>& action);
void add_explain(CLI::App& app, std::function<int()>& action);
void add_export(CLI::App& app, std::function<int()>& action);
void add_facts(CLI::App& app, std::function<int()>& action);
void add_fingerprint(CLI::App& app, std::function<int()>& action);
void add_gate(CLI::App& app, std::function<int()>& action);
void add_help(CLI::App& app, std::function<int()>& action);
void add_import(CLI::App& app, std::function<int()>& action);
void add_import_bundle(CLI::App& app, std::function<int()>& action);
void add_load(CLI::App& app, std::function<int()>& action);
void add_ls(CLI::App& app, std::function<int()>& action);
void add_manual(CLI::App& app, std::function<int()>& action);
void add_mcp(CLI::App& app, std::function<int()>& action);
void add_merge(CLI::App& app, std::function<int()>& action);
void add_nodes(CLI::App& app, std::function<int()>& action);
void add_note(CLI::App& app, std::function<int()>& action);
void add_plan(CLI::App& app, std::function<int()>& action);
void add_profile(CLI::App& app, std::function<int()>& action);
void add_query(CLI::App& app, std::function<int()>& action);
void add_record(CLI::App& app, std::function<int()>& action);
void add_recorder(CLI::App& app, std::function<int()>& action);
void add_report(CLI::App& app, std::function<int()>& action);
void add_rm(CLI::App& app, std::function<int()>& action);
void add_run(CLI::App& app, std::function<int()>& action);
void add_schema(CLI::App& app, std::function<int()>& action);
void add_serve(CLI::App& app, std::function<int()>& action);
void add_session(CLI::App& app, std::function<int()>& action);
void add_show(CLI::App& app, std::function<int()>& action);
void add_stats(CLI::App& app, std::function<int()>& action);
void add_submit(CLI::App& app, std::function<int()>& action);
void add_suite(CLI::App& app, std::function<int()>& action);
void add_tag(CLI::App& app, std::function<int()>& action);
void add_trends(CLI::App& app, std::function<int()>& action);
void add_try(CLI::App& app, std::function<int()>& action);
void add_validate(CLI::App& app, std::function<int()>& action);
void add_whatif(CLI::App& app, std::function<int()>& action);
void add_window(CLI::App& app, std::function<int()>& action);

struct VerbGroup {
  const char* title;  // empty: not listed
  std::vector<void (*)(CLI::App&, std::function<int()>&)> verbs;
};

// All of them, in the order of --help: those that most need, then by what they are for.
inline std::vector<VerbGroup> verbs_by_group() {
  return {{"Start here", {add_run, add_import, add_show, add_compare}},
          {"Capture",
           {add_profile, add_plan, add_doctor, add_backends, add_ceilings, add_load, add_recorder, add_window, add_submit, add_merge}},
          {"Read", {add_report, add_query, add_explain, add_whatif, add_collectives, add_stats, add_fingerprint, add_validate}},
          {"Compare", {add_try, add_bisect, add_nodes, add_trends}},
          {"Remember", {add_ls, add_tag, add_note, add_rm, add_record}},
          {"Teams", {add_suite, add_gate, add_export, add_import_bundle, add_facts, add_serve, add_mcp}},
          {"Help", {add_help, add_schema, add_completion}},
          {"", {add_manual, add_session, add_calibrate}}};
}

inline void add_verbs(CLI::App& app, std::function<int()>& action) {
  for (const VerbGroup& group : verbs_by_group())
    for (const auto add : group.verbs) {
      add(app, action);
      for (CLI::App* fresh : app.get_subcommands([&app](const CLI::App* verb) { return verb->get_group() == app.get_group(); }))
        fresh->group(group.title);
    }
}

const CLI::App* verb_named(const CLI::App& app, std::string_view name);  // null: it has none of this name

}  // namespace nl::cli
