#include <CLI/CLI.hpp>

#include <cstdio>
#include <functional>
#include <map>
#include <memory>

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

}  // namespace

void add_completion(CLI::App& app, std::function<int()>& action) {
  auto shell = std::make_shared<Shell>();
  CLI::App* verb = app.add_subcommand("completion", "Print what makes a shell complete verbs, flags and values");
  verb->add_option("shell", *shell, "the shell")->required()->transform(CLI::CheckedTransformer(kShells).description("{bash,zsh,fish}"))->type_name("SHELL");
  verb->footer(
      "The packages install it. Elsewhere the shell has a folder for it; a new shell reads it.\n"
      "Examples:\n"
      "  nl-stage completion bash > ~/.local/share/bash-completion/completions/nl-stage\n"
      "  nl-stage completion zsh > ~/.zfunc/_nl-stage\n"
      "  nl-stage completion fish > ~/.config/fish/completions/nl-stage.fish\n"
      "  source <(nl-stage completion bash)");
  verb->callback([shell, &app, &action] {
    action = [shell, &app] { return std::fputs(completion_for(*shell, reference_of(app)).c_str(), stdout) < 0 ? 1 : 0; };
  });
}

}  // namespace nl::cli
