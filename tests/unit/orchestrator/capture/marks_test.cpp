#include "orchestrator/capture/marks.h"

#include <algorithm>

#include "model/words.h"
#include "orchestrator/capture/plan.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/orchestrator/capture/pass_words.h"

using namespace nl;
using namespace nl::orchestrator;
namespace fs = std::filesystem;

namespace {

Bundle marked_bundle(const nl::test::Folder& folder) {
  return Bundle::create({folder.path / "runs", {}, "x", "deep"}, std::chrono::system_clock::now());
}

}  // namespace

TEST_CASE("marks: the package lies in the bundle as it is in the tree") {
  const nl::test::Folder folder;
  const Bundle bundle = marked_bundle(folder);
  write_marks(bundle);
  for (const char* file : {"auto/sitecustomize.py", "auto/nl_stage_auto/sampler.py", "nl_stage_nvtx.py"}) {
    INFO(file);
    CHECK(nl::test::read_text(bundle.path() / "python" / file) == nl::test::read_text(fs::path(NL_SOURCE_ROOT) / "nvtx/python" / file));
  }
  fs::create_directories(bundle.path() / "python/auto/__pycache__");
  drop_compiled_marks(bundle);
  CHECK_FALSE(fs::exists(bundle.path() / "python/auto/__pycache__"));
  CHECK(fs::exists(bundle.path() / "python/auto/sitecustomize.py"));
}

TEST_CASE("marks: every pass of the workload finds them, the traced one notes the facts and samples the host") {
  Config config;
  config.workload.command = {"./w"};
  const Toolset tools = nl::test::all_tools();
  std::size_t runs = 0, facts = 0;
  for (const Pass& pass : make_plan(config, tools, "/b").passes) {
    const bool exports = pass.kind == PassKind::kNsysExport || pass.kind == PassKind::kNsysRepeatExport ||
                         pass.kind == PassKind::kOperatorsExport || pass.kind == PassKind::kNcuExportRaw ||
                         pass.kind == PassKind::kNcuExportDetails;
    INFO(key_of(pass.kind));
    CHECK(pass.process.prepend_env.contains("PYTHONPATH") == !exports);
    CHECK(pass.process.env.contains("NL_STAGE_MARK") == !exports);
    if (!exports) CHECK(pass.process.prepend_env.at("PYTHONPATH") == "/b/python/auto");
    runs += !exports;
    facts += pass.process.env.contains("NL_STAGE_FACTS_DIR");
    CHECK(pass.process.env.contains("NL_STAGE_HOST_SAMPLES_HZ") == pass.process.env.contains("NL_STAGE_FACTS_DIR"));
    if (pass.kind == PassKind::kNsys) CHECK(pass.process.env.at("NL_STAGE_HOST_SAMPLES_HZ") == "97");
  }
  CHECK(runs > 2);
  CHECK(facts == 1);
  config.mark.host_samples_hz = 0;
  for (const Pass& pass : make_plan(config, tools, "/b").passes) CHECK_FALSE(pass.process.env.contains("NL_STAGE_HOST_SAMPLES_HZ"));
  config.mark.host_samples_hz = 97;
  config.mark.automatic = false;
  for (const Pass& pass : make_plan(config, tools, "/b").passes) {
    CHECK(pass.process.prepend_env.empty());
    CHECK_FALSE(pass.process.env.contains("NL_STAGE_MARK"));
    CHECK_FALSE(pass.process.env.contains("NL_STAGE_HOST_SAMPLES_HZ"));
  }
}

TEST_CASE("marks: an engine gets its switches in every pass of the workload, and the plan says so") {
  Config config;
  config.workload.command = {"./w"};
  const Toolset tools = nl::test::all_tools();
  const auto env_of = [&](const Plan& plan) {
    for (const Pass& pass : plan.passes)
      if (pass.kind == PassKind::kNsys) return pass.process.env;
    FAIL("no trace is planned");
    return std::map<std::string, std::string>();
  };
  const auto said = [](const Plan& plan) { return find_first(plan.adaptations, {Code::kEngineSwitches}); };
  const Plan off = make_plan(config, tools, "/b");
  CHECK_FALSE(env_of(off).contains("NL_STAGE_ENGINE"));
  CHECK(said(off) == nullptr);

  config.mark.engine = "vllm";
  const Plan vllm = make_plan(config, tools, "/b");
  CHECK(env_of(vllm).at("NL_STAGE_ENGINE") == "vllm");
  CHECK(env_of(vllm).at("NL_STAGE_ENGINE_SWITCHES") == "VLLM_NVTX_SCOPES_FOR_PROFILING");
  CHECK(env_of(vllm).at("VLLM_NVTX_SCOPES_FOR_PROFILING") == "1");
  CHECK_FALSE(env_of(vllm).contains("SGLANG_ENABLE_NVTX_SCHEDULER"));
  REQUIRE(said(vllm) != nullptr);
  CHECK(text_of(*said(vllm)) ==
        "mark.engine is vllm: the workload gets VLLM_NVTX_SCOPES_FOR_PROFILING=1, and each of its steps a mark with the requests in it.");

  config.mark.engine = "dynamo";  // whose workers are one of the others
  for (const char* variable : {"DYN_ENABLE_RUST_NVTX", "DYN_NVTX", "SGLANG_ENABLE_NVTX_SCHEDULER", "TLLM_LLMAPI_ENABLE_NVTX"}) {
    INFO(variable);
    CHECK(env_of(make_plan(config, tools, "/b")).at(variable) == "1");
  }
  config.workload.env["DYN_NVTX"] = "0";  // the user's own wins, and is not taken back
  const Plan own = make_plan(config, tools, "/b");
  CHECK(env_of(own).at("DYN_NVTX") == "0");
  CHECK(env_of(own).at("NL_STAGE_ENGINE_SWITCHES").find("DYN_NVTX") == std::string::npos);

  config.mark.automatic = false;
  CHECK_FALSE(env_of(make_plan(config, tools, "/b")).contains("NL_STAGE_ENGINE"));
  CHECK(said(make_plan(config, tools, "/b")) == nullptr);
}
