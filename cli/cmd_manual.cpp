#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>

#include "cli/manual/reference.h"
#include "cli/verbs.h"
#include "orchestrator/bundle/whole_file.h"

namespace nl::cli {
namespace {

struct ManualFlags {
  std::string folder;
  bool markdown = false;
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

int write_manual(const ManualFlags& flags, const VerbReference& program) {
  const std::filesystem::path folder = flags.folder;
  std::filesystem::create_directories(folder);
  if (flags.markdown) {
    write_page(folder / "README.md", verbs_index_markdown(program));
    for (const VerbReference& verb : program.verbs) write_page(folder / (verb.name + ".md"), verb_markdown(verb));
    return 0;
  }
  write_page(folder / man_file(program), man_page(program, program));
  for (const VerbReference* verb : all_verbs(program)) write_page(folder / man_file(*verb), man_page(program, *verb));
  return 0;
}

}  // namespace

// For `meson install`, which puts the pages where man(1) looks.
void add_manual(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<ManualFlags>();
  CLI::App* verb = app.add_subcommand("manual", "Write the pages of all verbs for man(1)")->group("");
  verb->add_option("folder", flags->folder, "where they are put")->required()->type_name("DIR");
  verb->add_flag("--markdown", flags->markdown, "as docs/verbs has them");
  verb->callback([flags, &app, &action] { action = [flags, &app] { return write_manual(*flags, reference_of(app)); }; });
}

}  // namespace nl::cli
