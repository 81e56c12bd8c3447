#include "orchestrator/process/output.h"

#include "tests/catch.h"

namespace {

// All of it at once, and byte by byte: how an output is cut into pieces changes nothing.
std::string shown(const std::string& output) {
  nl::orchestrator::ToolChatter whole, bytes;
  std::string at_once = whole.without(output), one_by_one;
  at_once += whole.rest();
  for (const char c : output) one_by_one += bytes.without({&c, 1});
  one_by_one += bytes.rest();
  CHECK(at_once == one_by_one);
  return at_once;
}

}  // namespace

TEST_CASE("tool chatter: what nsys says around a workload is taken out, and what the workload prints stays") {
  CHECK(shown("Collecting data...\nhello\npartial\nGenerating '/tmp/nsys-report-c87b.qdstrm'\n"
              "[1/1] [0%                          ] run.nsys-rep\r[1/1] [========================100%] run.nsys-rep\n"
              "Generated:\n    /b/nsys/run.nsys-rep\n\t/b/nsys/run.sqlite\n") == "hello\npartial\n");
  CHECK(shown("==PROF== Connected to process 1675 (/bin/sh)\ntoken\n==PROF== Profiling \"scale\" - 0: 0%....100% - 8 passes\n==PROF== "
              "Disconnected from process 1675\n") == "token\n");
  CHECK(shown("==ERROR== ERR_NVGPUCTRPERM - no permission\n") == "==ERROR== ERR_NVGPUCTRPERM - no permission\n");
}

TEST_CASE("tool chatter: lines of a workload that only begin alike are shown whole") {
  for (const std::string line : {"Generating text for 4 prompts\n", "Processing 12 requests\n", "Collecting data\n", "[1/4] step\n",
                                 "[3/8]\n", "    indented\n", "\n", "100%|####|\r", "G", "[12"}) {
    INFO(line);
    CHECK(shown(line) == line);
  }
}

TEST_CASE("tool chatter: a token is shown before its line ends") {
  nl::orchestrator::ToolChatter chatter;
  CHECK(chatter.without("The") == "The");
  CHECK(chatter.without(" quick") == " quick");
  CHECK(chatter.without("\nColl") == "\n");
  CHECK(chatter.without("ie dog") == "Collie dog");
}
