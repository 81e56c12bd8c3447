#pragma once

#include <cstddef>
#include <cstdint>

// How a recorder records, as the environment says. NL_STAGE_RECORD=1 with the library alone is enough: all else has a default.
namespace nl::collector {

struct RecordSettings {
  char folder[3072] = {};        // NL_STAGE_RECORD_DIR: of the ring, the windows and the sockets
  char step_names[4096] = {};    // NL_STAGE_RECORD_STEPS, as of watch_stages()
  std::uint32_t seconds = 30;    // NL_STAGE_RECORD_SECONDS: so long is always there
  std::uint32_t megabytes = 64;  // NL_STAGE_RECORD_MB: and no more than that of each process
  // NL_STAGE_RECORD_ATTACH=1: to CUPTI when CUDA starts. Then no launch is delayed by the first window, and every launch of a graph
  // costs a fifth more.
  bool attach_early = false;
};

// The name of a range that is a step, where nothing else is said.
inline constexpr char kUsualSteps[] = "LLM@decode_step\nLLM@prefill\nexecute_*\n*@execute_*\nstep[*\n*@step[*";

bool record_is_asked_for();
// False, and said on stderr, where there is no folder that is ours alone.
bool read_settings(RecordSettings& settings);

}  // namespace nl::collector
