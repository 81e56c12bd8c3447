#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>

#include "cli/json_output.h"
#include "cli/manual/reference.h"
#include "cli/verbs.h"

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

}  // namespace nl::cli
