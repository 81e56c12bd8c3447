// The bundled CPU workload under the collector: stages and operators, as many as the flags say.
#include <algorithm>

#include "tests/catch.h"
#include "tests/unit/collector/injected_program.h"

using namespace nl;
using namespace nl::test;

TEST_CASE("a workload that takes turns iterates once for each line it is given") {
  ScratchFolder folder;
  Outcome outcome =
      run_injected({"/bin/sh", "-c", "printf 'go\\n\\nhalf a line' | \"$0\" --layers 1 --hidden 32 --prompt 2 --steps 1 --turns",
                    NL_BUILD_ROOT "/workloads/nl-llm-cpu"},
                   folder.path());
  REQUIRE(outcome.exit_status == 0);
  CHECK(std::count(outcome.out.begin(), outcome.out.end(), '\n') == 2);
  CHECK(ranges_named(read_folder(folder.path()), "LLM", "prefill").size() == 2);
}

TEST_CASE("the CPU workload's stages and operators are recorded") {
  ScratchFolder folder;
  Outcome outcome = run_injected({NL_BUILD_ROOT "/workloads/nl-llm-cpu", "--layers", "2", "--hidden", "64", "--prompt", "5", "--steps", "4",
                                  "--iterations", "3", "--threads", "2"},
                                 folder.path());
  REQUIRE(outcome.exit_status == 0);
  CHECK(outcome.err.empty());
  Trace trace = read_folder(folder.path());
  CHECK(trace.stats.rows_damaged.empty());
  CHECK(trace.processes.at(0).name == "nl-llm-cpu");
  CHECK(ranges_named(trace, "LLM", "prefill").size() == 3);
  CHECK(ranges_named(trace, "LLM", "decode_all").size() == 3);
  CHECK(ranges_named(trace, "LLM", "decode_step").size() == 12);
  std::size_t forwards = 3 * (1 + 4);
  for (const char* name : {"qkv_proj", "rope", "attention", "o_proj", "mlp"})
    CHECK(ranges_named(trace, "LLM.ops", name).size() == 2 * forwards);
  CHECK(ranges_named(trace, "LLM.ops", "rms_norm").size() == 5 * forwards);
  CHECK(ranges_named(trace, "LLM.ops", "lm_head").size() == forwards);
  CHECK(trace.marks.size() == 2 * 3);  // "tokens prompt=… batch=1" before each iteration, "first token" in it
}
