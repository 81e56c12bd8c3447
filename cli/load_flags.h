#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

#include "load/generator.h"

namespace nl::cli {

struct LoadFlags {
  std::string url, arrivals = "poisson", replay, prompts, model, endpoint = "completions", api_key_env, out;
  std::string prompt_tokens = "512", output_tokens = "128";
  std::vector<std::string> from, headers, limits;
  std::optional<double> rate, burstiness, seconds;
  std::optional<std::size_t> requests, concurrency;
  double timeout_s = 600;
  std::size_t warmups = 0, most_open = 1024;
  std::uint64_t seed = 1;
  bool stop_at_eos = false, json = false;
};

void add_load_flags(CLI::App& verb, LoadFlags& flags);

// What is to be sent. The server is asked for its model where none is named. Throws Error(kUsage) where flags do not fit each other.
load::LoadPlan load_plan(const LoadFlags& flags);

// "ttft=200ms,itl=30ms". Throws Error(kUsage).
LoadLimits load_limits(const std::vector<std::string>& limits);

}  // namespace nl::cli
