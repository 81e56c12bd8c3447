#include <nlohmann/json.hpp>

#include "orchestrator/capture/plan.h"
#include "tests/catch.h"

using namespace nl;
using namespace nl::orchestrator;

namespace {

Plan small_plan() {
  Pass trace;
  trace.kind = PassKind::kNsys;
  trace.purpose = "the trace";
  trace.process.argv = {"/opt/nsys", "profile", "a b"};
  trace.process.env = {{"HF_TOKEN", "s3cret"}, {"MODE", "x y"}};
  trace.process.unset_env = {"CUDA_INJECTION64_PATH", "OTHER"};
  trace.process.prepend_env = {{"PYTHONPATH", "/b/python"}};
  trace.process.working_directory = "/work here";
  trace.process.stdout_log = "/b/logs/out.log";
  trace.process.stderr_log = "/b/logs/err.log";
  trace.process.timeout_s = 90;
  trace.outputs = {"nsys/run.nsys-rep", "nsys/second"};
  trace.private_env = {"HF_TOKEN"};
  Pass page;
  page.kind = PassKind::kNcuExportRaw;
  page.purpose = "its page";
  page.process.argv = {"ncu", "--import"};
  page.process.stdout_log = "/b/ncu/raw.csv";
  Plan plan;
  plan.passes = {trace, page};
  plan.tracer = Tracer::kNsys;
  plan.meter = Meter::kNcu;
  plan.why = "nsys was found";
  plan.adaptations = {{Code::kTracedRangesOnly, {}}};
  return plan;
}

}  // namespace

TEST_CASE("plan text: JSON has every part of a pass, and no value that is private") {
  const auto json = nlohmann::json::parse(plan_json(small_plan()));
  CHECK(json["captured_by"] == "nsys+ncu");
  CHECK(json["why"] == "nsys was found");
  CHECK(json["adaptations"].size() == 1);
  REQUIRE(json["passes"].size() == 2);
  const nlohmann::json expected = {{"name", "nsys"},
                                   {"purpose", "the trace"},
                                   {"argv", {"/opt/nsys", "profile", "a b"}},
                                   {"env", {{"HF_TOKEN", kMaskedValue}, {"MODE", "x y"}}},
                                   {"unset_env", {"CUDA_INJECTION64_PATH", "OTHER"}},
                                   {"prepend_env", {{"PYTHONPATH", "/b/python"}}},
                                   {"working_directory", "/work here"},
                                   {"stdout", "/b/logs/out.log"},
                                   {"stderr", "/b/logs/err.log"},
                                   {"timeout_s", 90.0},
                                   {"outputs", {"nsys/run.nsys-rep", "nsys/second"}}};
  CHECK(json["passes"][0] == expected);
  CHECK(json["passes"][1]["name"] == "ncu-export-raw");
  CHECK(json["passes"][1].at("unset_env").empty());
}

TEST_CASE("plan text: the command of each pass can be pasted into a shell") {
  const std::string text = describe_plan(small_plan());
  CHECK(text.starts_with("# captured by: nsys+ncu\n# because: nsys was found\n# order: nsys+ncu, "));
  CHECK(text.find("\n\n# 1. nsys: the trace\n"
                  "# with the configured variables HF_TOKEN (values not shown)\n"
                  "# ended after 90 s\n"
                  "cd '/work here' && env -u CUDA_INJECTION64_PATH -u OTHER 'MODE=x y' PYTHONPATH=/b/python\"${PYTHONPATH:+:$PYTHONPATH}\" "
                  "/opt/nsys profile 'a b'\n"
                  "#   makes nsys/run.nsys-rep\n"
                  "#   makes nsys/second\n\n"
                  "# 2. ncu-export-raw: its page\n"
                  "ncu --import > /b/ncu/raw.csv\n\n"
                  "# note: ") != std::string::npos);
}
