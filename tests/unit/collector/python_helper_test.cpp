// The Python helper's own NVTX loader (ctypes on NVTX_INJECTION64_PATH) against the real collector.
#include <fstream>

#include "tests/catch.h"
#include "tests/unit/collector/injected_program.h"

using namespace nl;
using namespace nl::test;

namespace {

constexpr const char* kScript = R"(
import os, sys, threading
sys.modules["nvtx"] = None
import nl_stage_nvtx as stage
with stage.prefill():
    with stage.op("größe", 7):
        pass
with stage.decode_all():
    for i in range(3):
        with stage.decode_step(i):
            pass
stage.mark("first token")
stage.tokens(prompt=256)
with stage.layer("model.layers.0", "Block"):
    pass
handle = stage.start("request")
worker = threading.Thread(target=lambda: stage.end(handle))
worker.start()
worker.join()
if os.fork() == 0:
    with stage.stage("child"):
        pass
    os._exit(0)
os.wait()
print(stage.backend())
)";

}  // namespace

TEST_CASE("the Python helper speaks to the injected library without any package") {
#ifdef __SANITIZE_ADDRESS__
  NL_SKIP("python3 cannot load a library built with AddressSanitizer");
#endif
  ScratchFolder folder;
  std::filesystem::path script = folder.path() / "script.py";
  std::ofstream(script) << kScript;
  Outcome outcome = run_injected({"python3", "-B", script.string()}, folder.path(), {{"PYTHONPATH", NL_SOURCE_ROOT "/nvtx/python"}});
  if (outcome.exit_status == 127) NL_SKIP("python3 is not here");
  REQUIRE(outcome.err == "");
  REQUIRE(outcome.out == "injection\n");
  Trace trace = read_folder(folder.path());
  CHECK(trace.stats.rows_damaged.empty());
  CHECK(trace.processes.size() == 2);
  CHECK(ranges_named(trace, "LLM", "prefill").size() == 1);
  auto op = ranges_named(trace, "LLM.ops", "größe");
  REQUIRE(op.size() == 1);
  CHECK(op[0].payload == 7);
  auto steps = ranges_named(trace, "LLM", "decode_step");
  REQUIRE(steps.size() == 3);
  CHECK(steps[2].payload == 2);
  auto request = ranges_named(trace, "LLM", "request");
  REQUIRE(request.size() == 1);
  CHECK(request[0].style == RangeStyle::kStartEnd);
  CHECK(request[0].end_thread != kNone);
  CHECK(ranges_named(trace, "LLM", "child").size() == 1);
  REQUIRE(trace.marks.size() == 2);
  CHECK(trace.strings[trace.marks[1].name] == "tokens prompt=256 batch=1");
  CHECK(ranges_named(trace, "LLM.layers", "model.layers.0|Block").size() == 1);
}
