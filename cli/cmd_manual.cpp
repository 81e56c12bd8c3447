#include <algorithm>
#include <filesystem>
#include <map>

#include "cli/exit_status.h"
#include "cli/json_output.h"
#include "cli/manual/reference.h"
#include "cli/verbs.h"
#include "model/error.h"
#include "orchestrator/bundle/bundle.h"

// completion and manual: what is made of the parser's own flags.
namespace nl::cli {
namespace {

enum class Shell { kBash, kZsh, kFish };
const std::map<std::string, Shell> kShells = {{"bash", Shell::kBash}, {"zsh", Shell::kZsh}, {"fish", Shell::kFish}};

std::string completion_for(Shell shell, const VerbReference& program) {
  switch (shell) {
    case Shell::kBash: return bash_completion(program);
    case Shell::kZsh: return zsh_completion(program);
    case Shell::kFish: return fish_completion(program);
  }
  return "";
}

struct CompletionFlags {
  Shell shell = Shell::kBash;
  bool json = false;
};

std::string shell_name(Shell shell) {
  return std::find_if(kShells.begin(), kShells.end(), [shell](const auto& each) { return each.second == shell; })->first;
}

int print_completion(const CompletionFlags& flags, const VerbReference& program) {
  const std::string script = completion_for(flags.shell, program);
  if (flags.json) write_json({{"shell", shell_name(flags.shell)}, {"script", script}});
  else write_data(script);
  return 0;
}

struct ManualFlags {
  std::string folder;
  bool markdown = false, json = false;
};

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
  std::vector<StatusMeaning> statuses;
  for (const ExitStatus& each : exit_statuses()) statuses.push_back({each.status, each.meaning});
  Pages pages{{man_file(program), man_page(program, program, statuses)}};
  for (const VerbReference* verb : all_verbs(program)) pages[man_file(*verb)] = man_page(program, *verb, statuses);
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
  for (const auto& [file, text] : pages) orchestrator::write_file_whole(std::filesystem::path(flags.folder) / file, text);
  if (!flags.json) return 0;
  auto files = nlohmann::ordered_json::array();
  for (const auto& [file, text] : pages) files.push_back(file);
  write_json({{"folder", flags.folder}, {"files", files}});
  return 0;
}

}  // namespace

void add_completion(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<CompletionFlags>();
  CLI::App* verb = app.add_subcommand("completion", "Print what makes a shell complete verbs, flags and values");
  verb->add_option("shell", flags->shell, "the shell")
      ->required()
      ->transform(CLI::CheckedTransformer(kShells).description("{bash,zsh,fish}"))
      ->type_name("SHELL");
  verb->add_flag("--json", flags->json, "print {shell, script}");
  verb->footer(
      "The packages install it. Elsewhere the shell has a folder for it; a new shell reads it.\n"
      "Examples:\n"
      "  nl-stage completion bash > ~/.local/share/bash-completion/completions/nl-stage\n"
      "  nl-stage completion zsh > ~/.zfunc/_nl-stage\n"
      "  nl-stage completion fish > ~/.config/fish/completions/nl-stage.fish\n"
      "  source <(nl-stage completion bash)");
  verb->callback([flags, &app, &action] { action = [flags, &app] { return print_completion(*flags, reference_of(app)); }; });
}

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
