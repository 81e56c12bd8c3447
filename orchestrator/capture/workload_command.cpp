#include "orchestrator/capture/workload_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "model/words.h"
#include "orchestrator/config/choices.h"

namespace nl::orchestrator {
namespace {

// A value by Hydra's grammar: outside of quotes a comma begins a sweep, and a brace a dictionary.
std::string hydra_quoted(const std::string& text) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '/' || c == '.' || c == '_' || c == '-'; };
  if (std::all_of(text.begin(), text.end(), plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "\\'" : std::string(1, c);
  return quoted + "'";
}

// Also as "+key=" and "++key=", which add it.
bool overrides(const std::vector<std::string>& command, std::string_view key) {
  return std::any_of(command.begin(), command.end(), [&](std::string_view word) {
    word.remove_prefix(std::min(word.find_first_not_of('+'), word.size()));
    return word.starts_with(key) && word.substr(key.size()).starts_with('=');
  });
}

bool sweeps(const std::vector<std::string>& command) {
  return std::any_of(command.begin(), command.end(),
                     [](const std::string& word) { return word == "-m" || word == "--multirun" || word == "hydra.mode=MULTIRUN"; });
}

}  // namespace

std::string pass_name(PassKind kind, int number) {
  return number > 0 ? fmt::format("{}-{}", key_of(kind), number) : std::string(key_of(kind));
}

std::vector<std::string> workload_command(const WorkloadOptions& workload, const std::filesystem::path& bundle, PassKind kind, int number) {
  std::vector<std::string> command = workload.command;
  if (!workload.hydra) return command;
  const std::string folder = hydra_quoted((bundle / "hydra" / pass_name(kind, number)).string());
  const bool many = sweeps(workload.command);
  command.push_back("hydra.run.dir=" + folder);  // of one key given twice, Hydra takes the last
  if (many) command.push_back("hydra.sweep.dir=" + folder);
  if (choice<HydraChdir>(workload.hydra_chdir) != HydraChdir::kKeep && !overrides(workload.command, "hydra.job.chdir"))
    command.push_back("hydra.job.chdir=" + workload.hydra_chdir);
  return command;
}

}  // namespace nl::orchestrator
