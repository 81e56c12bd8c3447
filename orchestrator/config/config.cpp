#include "orchestrator/config/config.h"

#include <fmt/format.h>

#include <cctype>

#include "model/error.h"
#include "orchestrator/config/choices.h"
#include "orchestrator/config/compose.h"
#include "orchestrator/config/session_workload.h"
#include "orchestrator/config/units.h"
#include "orchestrator/config/warmup_rule.h"

namespace nl::orchestrator {
namespace {

void check_sampling(const CaptureOptions& capture, const std::string& where) {
  // 0 is "not", so that the keys' bounds cannot say it.
  if (capture.pc_sampling > 0 && capture.pc_sampling < 5)
    throw Error(ErrorKind::kConfig, fmt::format("capture.pc_sampling is {}", capture.pc_sampling), where,
                "0 (off), or 5 to 31: a sample every 2^n cycles");
  if (capture.sampling_us > 0 && capture.sampling_us < 50)
    throw Error(ErrorKind::kConfig, fmt::format("capture.sampling_us is {}", capture.sampling_us), where,
                "0 (off), or at least 50: a sample costs about 80 µs of a processor");
  if (capture.sampling_us > 0 && capture.sampling_metrics.empty())
    throw Error(ErrorKind::kConfig, "capture.sampling_us is set, but capture.sampling_metrics names nothing", where,
                "such as --set capture.sampling_metrics=[sm__cycles_active.avg.pct_of_peak_sustained_elapsed]");
  if (choice<CounterPreference>(capture.counters) == CounterPreference::kCupti && capture.counter_metrics.empty() &&
      capture.replay_metrics.empty())
    throw Error(ErrorKind::kConfig, "capture.counters is cupti, but there is no metric to count", where,
                "name some in capture.counter_metrics");
}

void check_size(const CaptureOptions& capture, const std::string& where) {
  if (!capture.max_size.empty() && bytes_in(capture.max_size).value_or(0) == 0)
    throw Error(ErrorKind::kConfig, fmt::format("capture.max_size is '{}', which is no size", capture.max_size), where,
                "such as 2GB or 500MiB");
}

void check_together(const Config& config) {
  check_sampling(config.capture, config.sources.empty() ? "--set" : config.sources.back());
  check_size(config.capture, config.sources.empty() ? "--set" : config.sources.back());
  if (choice<CaptureRange>(config.nsys.capture_range) == CaptureRange::kNvtx && config.nsys.nvtx_capture.empty())
    throw Error(ErrorKind::kConfig, "nsys.capture_range is nvtx, but nsys.nvtx_capture names no range",
                config.sources.empty() ? "--set" : config.sources.back(), "such as --set nsys.nvtx_capture=decode_all@LLM");
  warmup_rule(config);
}

}  // namespace

Config load_config(const ConfigRequest& request) {
  Config config;
  config.run.name.clear();
  Composer composer(config, ConfFiles::shipped());
  if (!request.runner_file.empty()) composer.add_runner(request.runner_file);
  if (!request.model_file.empty()) composer.add_model(request.model_file);
  for (const auto& set : request.sets) composer.add_set(set);
  if (!request.name.empty()) {
    const YamlTree name{YamlTree::Kind::kScalar, {}, request.name, true, {}, {}};
    apply_config(config, name, "run.name", {}, [](YamlTree::Place) { return std::string("--name"); });
  }
  config.run.name_given = !config.run.name.empty();
  if (!config.run.name_given) config.run.name = Config{}.run.name;
  config.analysis.rules.insert(config.analysis.rules.end(), request.rules.begin(), request.rules.end());
  if (!request.command.empty()) config.workload.command = request.command;
  check_together(config);
  config.composed_yaml = compose_yaml(config);
  if (!config.session.backend.empty() && !request.command.empty())
    throw Error(ErrorKind::kUsage, "a backend and a command are given", "--backend " + config.session.backend, "profile one of them");
  use_session(config);
  return config;
}

std::string run_name_of(const std::filesystem::path& file) {
  const bool packed = file.extension() == ".gz" || file.extension() == ".zst";
  return as_run_name((packed ? file.stem() : file).stem().string());
}

std::string as_run_name(std::string_view text) {
  std::string name(text.substr(0, 100));
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '_' && c != '.') c = '-';
  return name.empty() || name.front() == '.' ? Config{}.run.name : name;
}

}  // namespace nl::orchestrator
