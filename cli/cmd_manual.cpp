#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>

#include "cli/json_output.h"
#include "cli/manual/reference.h"
#include "cli/verbs.h"
#include "model/error.h"
#include "orchestrator/bundle/bundle.h"

namespace nl::cli {
namespace {

struct ManualFlags {
  std::string folder;
  bool markdown = false, json = false;
};

void write_page(const std::filesystem::path& file, const std::string& text) {
  orchestrator::WholeFile page(file);
  page.append(text);
  page.commit();
}

// "nl-stage fingerprint search" is nl-stage-fingerprint-search.1
std::string man_file(const VerbReference& verb) {
  std::string name = command_name(verb) + ".1";
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

using Pages = std::map<std::string, std::string>;  // by their files

Pages markdown_pages(const VerbReference& program) {
  Pages pages{{"README.md", verbs_index_markdown(program)}};
  for (const VerbReference& verb : program.verbs) pages[verb.name + ".md"] = verb_markdown(verb);
  return pages;
}

Pages man_pages(const VerbReference& program) {
  Pages pages{{man_file(program), man_page(program, program)}};
  for (const VerbReference* verb : all_verbs(program)) pages[man_file(*verb)] = man_page(program, *verb);
  return pages;
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) throw Error(ErrorKind::kOutput, "the folder cannot be made", folder.string(), "choose one that you may write to");
}

int write_manual(const ManualFlags& flags, const VerbReference& program) {
  const Pages pages = flags.markdown ? markdown_pages(program) : man_pages(program);
  make_folder(flags.folder);
  for (const auto& [file, text] : pages) write_page(std::filesystem::path(flags.folder) / file, text);
  if (!flags.json) return 0;
  auto files = nlohmann::ordered_json::array();
  for (const auto& [file, text] : pages) files.push_back(file);
  write_json({{"folder", flags.folder}, {"files", files}});
  return 0;
}

}  // namespace

// For `meson install`, which puts the pages where man(1) looks.
void add_manual(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<ManualFlags>();
  CLI::App* verb = app.add_subcommand("manual", "Write the pages of all verbs for man(1)")->group("");
  verb->add_option("folder", flags->folder, "where they are put")->required()->type_name("DIR");
  verb->add_flag("--markdown", flags->markdown, "as docs/verbs has them");
  verb->add_flag("--json", flags->json, "print {folder, files}");
  verb->callback([flags, &app, &action] { action = [flags, &app] { return write_manual(*flags, reference_of(app)); }; });
}

}  // namespace nl::cli
