#include "orchestrator/config/session_workload.h"

#include <algorithm>
#include <filesystem>

#include "model/error.h"
#include "model/session.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

std::vector<std::string> session_command(const ModelFileOptions& options) {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  std::vector<std::string> command = {failed ? "nl-stage" : program.string(),
                                      "session",
                                      "--backend",
                                      options.backend,
                                      "--model",
                                      fs::absolute(options.model).string(),
                                      "--precision",
                                      options.precision,
                                      "--inputs",
                                      options.inputs,
                                      "--seed",
                                      std::to_string(options.seed),
                                      "--iterations",
                                      std::to_string(options.iterations),
                                      "--warmup",
                                      std::to_string(options.warmup),
                                      "--threads",
                                      std::to_string(options.threads)};
  if (!options.provider.empty()) command.insert(command.end(), {"--provider", options.provider});
  for (const std::string& dimension : options.dims) command.insert(command.end(), {"--dim", dimension});
  for (const std::string& shape : options.shapes) command.insert(command.end(), {"--shape", shape});
  return command;
}

}  // namespace

void use_session(Config& config) {
  if (config.session.backend.empty()) return;
  if (config.session.model.empty())
    throw Error(ErrorKind::kUsage, "a backend is given, and no model file", "session.model", "give --model FILE");
  config.workload.command = session_command(config.session);
  config.mark.automatic = config.mark.operators = false;  // for Python
  if (!config.run.name_given) config.run.name = run_name_of(config.session.model);
  if (auto& stages = config.run.stages; std::find(stages.begin(), stages.end(), kIterationStage) == stages.end())
    stages.push_back(kIterationStage);
}

}  // namespace nl::orchestrator
