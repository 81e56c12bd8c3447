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
