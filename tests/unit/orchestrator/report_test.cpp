#include "orchestrator/report.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "exporters/detail/detail_json.h"
#include "exporters/report/reports.h"
#include "exporters/report/text/figure_text.h"
#include "exporters/run_json/run_json.h"
#include "model/error.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/bundle/files.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/bundle/sha256.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/files.h"

namespace fs = std::filesystem;
using nl::test::read_text;
using nlohmann::json;

namespace {

struct ReportFolder : nl::test::Folder {
  ReportFolder() { fs::create_directories(path / "bundle"); }
  fs::path bundle() const { return path / "bundle"; }
};

void put(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

nl::Error report_refusal(const nl::orchestrator::ReportRequest& request) {
  try {
    nl::orchestrator::report_bundle(request);
  } catch (const nl::Error& error) {
    return error;
  }
  FAIL("it was rendered");
  throw;
}

const std::vector<std::string> kReports = {"report.md", "report.html", "stakeholder_summary.md", "operators.md", "kernels.md"};

}  // namespace

TEST_CASE("report renders what the run itself would have written") {
  ReportFolder folder;
  const nl::Run run = nl::test::rich_run();
  put(folder.bundle() / "run.json", nl::exporters::run_to_json(run));
  const auto result = nl::orchestrator::report_bundle({folder.bundle(), {}, {}});
  std::vector<std::string> direct;
  nl::orchestrator::write_reports(run, {}, [&](const fs::path& name, std::string_view text) {
    direct.push_back(name);
    INFO(name);
    CHECK(read_text(folder.bundle() / name) == text);
  });
  CHECK(direct == kReports);
  CHECK(result.run.run_id == run.run_id);
  CHECK(read_text(folder.bundle() / "run.json") == nl::exporters::run_to_json(run));  // untouched
}

// Real files of earlier builds. That of 3.1.0 is from before kernels[].kind, cut down to three kernels and two findings.
TEST_CASE("report renders a run.json of each earlier format, with the kinds of its kernels by their names") {
  for (const char* name : {"h200-llava-2.1.0", "h200-llama-3.0.0", "h200-llama-3.1.0"}) {
    INFO(name);
    ReportFolder folder;
    put(folder.bundle() / "run.json", read_text(NL_FIXTURES "/formats/" + std::string(name) + ".json"));
    const auto result = nl::orchestrator::report_bundle({folder.bundle(), {}, {}});
    for (const std::string& report : kReports) CHECK_FALSE(read_text(folder.bundle() / report).empty());
    REQUIRE(result.run.kernels);
    CHECK_FALSE(result.run.stages.empty());
    const auto kind = [&](nl::KernelClass wanted) {
      return std::count_if(result.run.kernels->begin(), result.run.kernels->end(),
                           [&](const nl::KernelEntry& kernel) { return kernel.kind == wanted; });
    };
    CHECK(kind(nl::KernelClass::kOther) < static_cast<std::ptrdiff_t>(result.run.kernels->size()));
    if (std::string(name) != "h200-llama-3.1.0") continue;
    CHECK(kind(nl::KernelClass::kGemm) == 1);
    CHECK(kind(nl::KernelClass::kAttention) == 1);
    CHECK(kind(nl::KernelClass::kElementwise) == 1);
    CHECK(read_text(folder.bundle() / "report.html").find("elementwise") != std::string::npos);
  }
}

TEST_CASE("report puts the detail of the bundle into the page again, unless it is damaged") {
  ReportFolder folder;
  const nl::Run run = nl::test::rich_run();
  put(folder.bundle() / "run.json", nl::exporters::run_to_json(run));
  nl::Detail detail;
  detail.end_ns = 1000;
  detail.names = {"decode_step"};
  const std::string bytes = nl::exporters::detail_file(detail);
  put(folder.bundle() / "detail.json.gz", bytes);
  put(folder.bundle() / "trace.pftrace", "whole");
  nl::orchestrator::report_bundle({folder.bundle(), {}, {}});
  CHECK(read_text(folder.bundle() / "report.html") == nl::exporters::report_html(run, {bytes, "trace.pftrace"}));
  const fs::path elsewhere = folder.bundle().parent_path() / "elsewhere";
  nl::orchestrator::report_bundle({folder.bundle(), {}, elsewhere});
  CHECK(read_text(elsewhere / "detail.json.gz") == bytes);
  CHECK(read_text(elsewhere / "report.html") == nl::exporters::report_html(run, {bytes, ""}));
  put(folder.bundle() / "detail.json.gz", bytes.substr(0, bytes.size() / 2));
  nl::orchestrator::report_bundle({folder.bundle(), {}, {}});
  CHECK(read_text(folder.bundle() / "report.html") == nl::exporters::report_html(run, {"", "trace.pftrace"}));
}

TEST_CASE("the stacks of the host are a file of their own, where there are any") {
  std::vector<std::string> files;
  nl::orchestrator::write_reports(nl::test::host_run(), {}, [&](const fs::path& name, std::string_view text) {
    files.push_back(name);
    if (name == "host_stacks.folded") CHECK(text.substr(0, 44) == "decode_step;<module> (run.py:88);decorate_co");
  });
  CHECK(files.back() == "host_stacks.folded");
  CHECK(files.size() == kReports.size() + 1);
}

TEST_CASE("report brings the manifest up to date, and only what it wrote") {
  ReportFolder folder;
  put(folder.bundle() / "run.json", nl::exporters::run_to_json(nl::test::rich_run()));
  put(folder.bundle() / "report.md", "old");
  put(folder.bundle() / "manifest.json",
      R"({"schema_version": "1.0.0", "files": [{"path": "report.md", "size_bytes": 3, "sha256": "old"}, {"path": "nsys/run.nsys-rep", "size_bytes": 9, "sha256": "kept"}]})");
  const auto result = nl::orchestrator::report_bundle({folder.bundle() / "run.json", {}, {}});
  const auto manifest = json::parse(read_text(folder.bundle() / "manifest.json"));
  CHECK(manifest.at("files").size() == result.files.size() + 1);
  for (const json& entry : manifest.at("files")) {
    const std::string name = entry.at("path");
    if (name == "nsys/run.nsys-rep") {
      CHECK(entry.at("sha256") == "kept");
      continue;
    }
    CHECK(entry.at("sha256") == nl::orchestrator::sha256_file(folder.bundle() / name));
    CHECK(entry.at("size_bytes") == fs::file_size(folder.bundle() / name));
  }
  put(folder.bundle() / "manifest.json", "{ broken");
  CHECK(nl::orchestrator::report_bundle({folder.bundle(), {}, {}}).notes.back().find("manifest.json is damaged") == 0);
  CHECK(read_text(folder.bundle() / "manifest.json") == "{ broken");
}

TEST_CASE("where the bundle has no trace, its timeline is shown, and that is said") {
  ReportFolder folder;
  auto run = nl::test::rich_run();
  REQUIRE(run.timeline);
  put(folder.bundle() / "run.json", nl::exporters::run_to_json(run));
  auto result = nl::orchestrator::report_bundle({folder.bundle(), {}, {}});
  CHECK(result.files.back() == "timeline.pftrace");
  CHECK(result.notes.at(0).find("the bundle has no trace.pftrace") != std::string::npos);
  fs::remove(folder.bundle() / "timeline.pftrace");
  put(folder.bundle() / "trace.pftrace", "whole");
  result = nl::orchestrator::report_bundle({folder.bundle(), {}, {}});
  CHECK_FALSE(fs::exists(folder.bundle() / "timeline.pftrace"));
  CHECK(read_text(folder.bundle() / "trace.pftrace") == "whole");
}

TEST_CASE("with --out the bundle stays as it is") {
  ReportFolder folder;
  put(folder.bundle() / "run.json", nl::exporters::run_to_json(nl::test::rich_run()));
  const auto result = nl::orchestrator::report_bundle({folder.bundle(), {}, folder.path / "new" / "place"});
  for (const auto& file : result.files) CHECK(fs::exists(folder.path / "new" / "place" / file));
  CHECK(std::distance(fs::directory_iterator(folder.bundle()), fs::directory_iterator()) == 1);
  CHECK(read_text(folder.path / "new/place/run.json") == read_text(folder.bundle() / "run.json"));
  const auto error = report_refusal({folder.bundle(), {}, folder.path / "new"});  // not empty
  CHECK(error.kind == nl::ErrorKind::kOutput);
}

TEST_CASE("with --rules the findings are judged anew and run.json says so") {
  ReportFolder folder;
  put(folder.bundle() / "run.json", nl::exporters::run_to_json(nl::test::full_run()));
  put(folder.path / "mine.yaml", "nonsense: [");
  CHECK(report_refusal({folder.bundle(), {(folder.path / "mine.yaml").string()}, {}}).kind == nl::ErrorKind::kConfig);
  CHECK_FALSE(fs::exists(folder.bundle() / "report.md"));  // nothing is written before the rules were read
  put(folder.path / "mine.yaml",
      "rules:\n  - name: any_stage\n    scope: stage\n    condition: total_time > 0\n    severity: low\n    message: \"{name} takes "
      "time\"\n"
      "    evidence:\n      - {when: total_time > 0, text: \"it does\"}\n    suggestions: [\"try this\", \"or that\"]\n");
  const auto result = nl::orchestrator::report_bundle({folder.bundle(), {(folder.path / "mine.yaml").string()}, {}});
  const std::string text = read_text(folder.bundle() / "run.json");
  nl::orchestrator::validate_run_json(text);
  const auto has_mine = [](const nl::Run& run) {
    return std::any_of(run.findings.begin(), run.findings.end(), [](const nl::Finding& finding) { return finding.rule == "any_stage"; });
  };
  CHECK(has_mine(nl::exporters::run_from_json(text)));
  CHECK(has_mine(result.run));
  CHECK(read_text(folder.bundle() / "report.md").find("any_stage") != std::string::npos);
}

TEST_CASE("a sparse run and one of the first format are rendered too") {
  ReportFolder folder;
  put(folder.bundle() / "run.json", nl::exporters::run_to_json(nl::test::sparse_run()));
  CHECK(nl::orchestrator::report_bundle({folder.bundle(), {}, {}}).files.size() >= kReports.size());
  auto old = nl::test::sparse_run();
  old.schema_version = "1.0.0";
  put(folder.bundle() / "run.json", nl::exporters::run_to_json(old));
  CHECK(nl::orchestrator::report_bundle({folder.bundle(), {}, {}}).files.size() >= kReports.size());
}

TEST_CASE("a run.json that is missing, damaged or newer is named with its place") {
  ReportFolder folder;
  const fs::path file = folder.bundle() / "run.json";
  CHECK(report_refusal({folder.bundle(), {}, {}}).where == file.string());
  CHECK(report_refusal({folder.path / "nowhere", {}, {}}).kind == nl::ErrorKind::kInput);
  const std::string whole = nl::exporters::run_to_json(nl::test::rich_run());
  put(file, whole.substr(0, whole.size() / 2));
  CHECK(report_refusal({folder.bundle(), {}, {}}).where == file.string());
  auto document = json::parse(whole);
  document["stages"][0]["count"] = "many";
  put(file, document.dump());
  CHECK(report_refusal({file, {}, {}}).where == file.string() + ": /stages/0/count");
  document["schema_version"] = "9.0.0";
  put(file, document.dump());
  const auto newer = report_refusal({file, {}, {}});
  CHECK(newer.message.find("9.0.0") != std::string::npos);
  CHECK_FALSE(newer.fix.empty());
  CHECK_FALSE(fs::exists(folder.bundle() / "report.md"));
}

TEST_CASE("report says which files it wrote, where, and what it has to say of them") {
  ReportFolder folder;
  auto run = nl::test::rich_run();
  run.timeline.reset();
  put(folder.bundle() / "run.json", nl::exporters::run_to_json(run));
  auto result = nl::orchestrator::report_bundle({folder.bundle(), {}, {}});
  CHECK(result.folder == folder.bundle());
  CHECK(result.files == kReports);
  CHECK(result.notes ==
        std::vector<std::string>{
            "no trace for Perfetto: the bundle has none, and run.json has no timeline; `nl-stage import` makes one from the captures"});
  CHECK_FALSE(fs::exists(folder.bundle() / "manifest.json"));  // none is made where there is none
  // The bundle itself, by another name, is not elsewhere.
  result = nl::orchestrator::report_bundle({folder.bundle(), {}, folder.path / "bundle/../bundle"});
  CHECK(result.folder == folder.bundle());
  CHECK(result.files == kReports);
  result = nl::orchestrator::report_bundle({folder.bundle(), {}, folder.path / "out"});
  std::vector<std::string> with_run = {"run.json"};
  with_run.insert(with_run.end(), kReports.begin(), kReports.end());
  CHECK(result.folder == folder.path / "out");
  CHECK(result.files == with_run);
  put(folder.path / "mine.yaml", "rules: []\n");
  auto valid = nl::test::full_run();
  valid.timeline.reset();
  put(folder.bundle() / "run.json", nl::exporters::run_to_json(valid));
  result = nl::orchestrator::report_bundle({folder.bundle(), {(folder.path / "mine.yaml").string()}, {}});
  with_run.emplace_back("host_stacks.folded");  // this one has stacks
  CHECK(result.files == with_run);
  CHECK(result.notes.at(0) == "judged anew: " + nl::exporters::plural(result.run.findings.size(), "finding") + ", " +
                                  nl::exporters::plural(result.run.abstentions.size(), "rule") + " abstained");
  CHECK(result.run.schema_version == json::parse(read_text(folder.bundle() / "run.json")).at("schema_version").get<std::string>());
}

TEST_CASE("the manifest stays in the order of its paths") {
  ReportFolder folder;
  put(folder.bundle() / "run.json", nl::exporters::run_to_json(nl::test::sparse_run()));
  put(folder.bundle() / "manifest.json", R"({"files": [{"path": "zzz"}, {"path": "report.md"}, {"path": "aaa"}], "kept": 1})");
  nl::orchestrator::report_bundle({folder.bundle(), {}, {}});
  const auto manifest = json::parse(read_text(folder.bundle() / "manifest.json"));
  CHECK(manifest.at("kept") == 1);
  std::vector<std::string> paths;
  for (const json& entry : manifest.at("files")) paths.push_back(entry.at("path"));
  CHECK(std::is_sorted(paths.begin(), paths.end()));
  CHECK(std::count(paths.begin(), paths.end(), "report.md") == 1);
  CHECK(paths.front() == "aaa");
}

TEST_CASE("report refuses a place that it cannot write to, and says what to do") {
  ReportFolder folder;
  put(folder.bundle() / "run.json", nl::exporters::run_to_json(nl::test::sparse_run()));
  put(folder.path / "file", "x");
  auto error = report_refusal({folder.bundle(), {}, folder.path / "file"});
  CHECK(error.message == "the output folder exists and is not empty");
  CHECK(error.where == (folder.path / "file").string());
  error = report_refusal({folder.bundle(), {}, folder.path / "file" / "below"});
  CHECK(error.kind == nl::ErrorKind::kOutput);
  CHECK(error.message.find("cannot make the folder: ") == 0);
  fs::create_directories(folder.path / "empty");
  CHECK(nl::orchestrator::report_bundle({folder.bundle(), {}, folder.path / "empty"}).folder == folder.path / "empty");
  fs::create_directories(folder.path / "no_file" / "run.json");
  error = report_refusal({folder.path / "no_file", {}, {}});
  CHECK(error.kind == nl::ErrorKind::kInput);
  CHECK(error.message == "the file cannot be read");
}
