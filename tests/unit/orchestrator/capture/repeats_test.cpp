#include "orchestrator/capture/repeats.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "analysis/figures/overhead/measured.h"
#include "collector/trace_format.h"
#include "exporters/tables.h"
#include "orchestrator/capture/capture.h"
#include "orchestrator/capture/pass_runner.h"
#include "orchestrator/config/knowledge.h"
#include "orchestrator/read.h"
#include "parsers/collector/trace.h"
#include "parsers/nsys/sqlite.h"
#include "tests/catch.h"
#include "tests/unit/orchestrator/capture/pass_words.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"
#include "tests/unit/parsers/collector/trace_header.h"

namespace fs = std::filesystem;
using namespace nl;
using namespace nl::parsers;
using namespace nl::orchestrator;
using nl::test::FakeTree;
using Strings = std::vector<std::string>;

namespace {

const fs::path kCapture = fs::path(NL_FIXTURES) / "h200-probe/probe_node.sqlite";

// A collector's file with one LLM:prefill of so many milliseconds, and a GPU half that came to work where it was `traced`.
void write_collector_file(const fs::path& file, Ns prefill_ms, bool traced) {
  namespace format = trace_format;
  std::string bytes;
  const auto add = [&](auto record, format::Kind kind, std::uint32_t id, const std::string& tail = {}) {
    record.head = {kind, static_cast<std::uint16_t>((sizeof record + tail.size() + 7) / 8 * 8), id};
    bytes.append(reinterpret_cast<const char*>(&record), sizeof record);
    bytes += tail + std::string(record.head.bytes - sizeof record - tail.size(), '\0');
  };
  const format::FileHeader header = nl::test::trace_header(7, 0);
  bytes.append(reinterpret_cast<const char*>(&header), sizeof header);
  add(format::ThreadStart{{}, 0, 7, 0, "w"}, format::Kind::kThreadStart, 0);
  add(format::String{{}, 3, 0}, format::Kind::kString, 1, "LLM");
  add(format::String{{}, 7, 0}, format::Kind::kString, 2, "prefill");
  add(format::Event{{}, 1000, 1, 0}, format::Kind::kPush, 2);
  add(format::Pop{{}, 1000 + prefill_ms * 1'000'000}, format::Kind::kPop, 1);
  if (traced) add(format::GpuSession{{}, 900, 1, 1}, format::Kind::kGpuSession, 130001);
  std::ofstream(file, std::ios::binary) << bytes;
}

// A collector's file without a range. Where launches are recorded, it has four of them, or the reason why there are none.
void write_unmarked_file(const fs::path& file, bool launches, const std::string& trouble) {
  namespace format = trace_format;
  const format::FileHeader header = nl::test::trace_header(7, 0);
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  const auto add = [&](auto record, format::Kind kind, std::uint32_t id, const std::string& tail = {}) {
    record.head = {kind, static_cast<std::uint16_t>((sizeof record + tail.size() + 7) / 8 * 8), id};
    bytes.append(reinterpret_cast<const char*>(&record), sizeof record);
    bytes += tail + std::string(record.head.bytes - sizeof record - tail.size(), '\0');
  };
  add(format::ThreadStart{{}, 0, 7, 0, "w"}, format::Kind::kThreadStart, 0);
  for (int i = 0; i < 4 && launches && trouble.empty(); ++i) add(format::Launch{{}, 1000 + i}, format::Kind::kLaunch, 2 + 2 * (i % 2));
  if (launches && !trouble.empty())
    add(format::String{{}, static_cast<std::uint32_t>(trouble.size()), 0}, format::Kind::kNote,
        static_cast<std::uint32_t>(format::NoteCode::kNotRecorded), trouble);
  std::ofstream(file, std::ios::binary) << bytes;
}

// Plays every process: leaves the files that it would, and takes the time that the test says.
struct Actor : Launcher {
  std::vector<std::string> order;
  std::vector<ProcessSpec> started;
  double bare_s = 5, nsys_s = 8, export_s = 2, collector_s = 6;
  int bare_status = 0, nsys_status = 0, collector_status = 0;
  int interrupt_at = -1, time_out_at = -1;  // counted over all processes
  int works_until = 100;                    // from then on the collector's GPU half records nothing
  bool marked = true;                       // the workload has a range
  std::string no_launches;                  // why none are recorded
  std::function<Ns(int number, bool traced)> prefill_ms = [](int number, bool) { return Ns{2} + number; };

  ProcessResult launch(const ProcessSpec& process) override {
    const int number = static_cast<int>(order.size());
    started.push_back(process);
    ProcessResult result;
    if (const auto folder = process.env.find("NL_STAGE_TRACE_DIR"); folder != process.env.end()) {
      const bool launches = process.env.contains("NL_STAGE_LAUNCHES");
      const bool traced = process.env.contains("CUDA_INJECTION64_PATH") && !launches;
      order.push_back(traced ? "collector" : launches ? "launches" : "bare");
      result.exit_status = traced ? collector_status : bare_status;
      result.duration_ns = static_cast<Ns>((traced ? collector_s : bare_s) * 1e9);
      REQUIRE(fs::is_directory(folder->second));
      const fs::path file = fs::path(folder->second) / "w.7.nltrace";
      if (marked || traced) write_collector_file(file, prefill_ms(number, traced), traced && number < works_until);
      else write_unmarked_file(file, launches, no_launches);
    } else if (process.argv.at(1) == "export") {
      order.push_back("export");
      result.duration_ns = static_cast<Ns>(export_s * 1e9);
      fs::copy_file(kCapture, output_of(process));
      fs::permissions(output_of(process), fs::perms::owner_write, fs::perm_options::add);
    } else {
      order.push_back("nsys");
      result.exit_status = nsys_status;
      result.duration_ns = static_cast<Ns>(nsys_s * 1e9);
      std::ofstream(output_of(process).string() + ".nsys-rep") << "a report";
    }
    result.interrupted = number == interrupt_at;
    result.interrupt_signal = result.interrupted ? 2 : 0;
    result.timed_out = number == time_out_at;
    return result;
  }

  static fs::path output_of(const ProcessSpec& process) {
    for (const auto& word : process.argv)
      if (word.rfind("--output=", 0) == 0) return word.substr(9);
    FAIL("no --output");
    return {};
  }
};

struct Stage {
  FakeTree tree;
  Config config;
  Toolset tools;
  Actor actor;
  Verdict verdict;
  Evidence evidence;
  Perturbation perturbation;
  Bundle bundle = Bundle::create({tree.root() / "runs", {}, "x", "deep"}, std::chrono::system_clock::now());

  Stage() {
    config.workload.command = {"./w"};
    config.ncu.enabled = false;
    config.mark.operators = false;
    tools.nsys.emplace();
    tools.nsys->path = "/opt/nsys";
    tools.collector = "/lib/libnl_collector.so";
  }

  void without_nsys() {
    tools.nsys.reset();
    tools.gpus.push_back({});
  }

  void play() { play(actor); }
  void play(Launcher& launcher) {
    const Plan plan = make_plan(config, tools, bundle.path());
    PassRunner runner(launcher, bundle, verdict, nl::orchestrator::Echo::kNothing);
    evidence = read(plan, execute(plan, runner), {}, bundle, verdict);
    perturbation = analysis::measured_overhead(evidence, {evidence.trace, warmup_rule(config)}, overhead_rule(config));
  }

  Strings outcomes() const { return test::outcomes_of(evidence.passes); }
};

}  // namespace

TEST_CASE("bare and traced passes take turns around the capture") {
  Stage stage;
  stage.play();
  CHECK(stage.actor.order == Strings{"bare", "nsys", "export", "bare", "nsys", "export", "bare", "nsys", "export"});
  CHECK_FALSE(stage.verdict.failure());
  CHECK(stage.perturbation.order == "unprofiled nsys unprofiled nsys unprofiled nsys");
  CHECK(stage.perturbation.note.empty());
  const auto& rows = stage.perturbation.stages;
  const auto row = std::find_if(rows.begin(), rows.end(), [](const auto& each) { return each.stage == "prefill"; });
  REQUIRE(row != rows.end());
  CHECK(row->profiler == PassKind::kNsys);
  CHECK(row->bare_ns == std::vector<double>{2e6, 5e6, 8e6});
  CHECK(row->profiled_ns.size() == 3);
  CHECK(row->verdict);
  // The capture stays, its repetitions do not.
  CHECK(fs::exists(stage.bundle.path() / "nsys/run.nsys-rep"));
  CHECK_FALSE(fs::exists(stage.bundle.path() / "perturbation"));
  CHECK(fs::exists(stage.bundle.path() / "unprofiled/3/w.7.nltrace"));
  CHECK(stage.actor.started[0].forward_output == false);
  CHECK(stage.actor.started[0].stdout_log == stage.bundle.path() / "logs/unprofiled-1.stdout.log");
  CHECK(stage.actor.started[4].stdout_log == stage.bundle.path() / "logs/nsys-repeat-2.stdout.log");
}

TEST_CASE("the collector's trace has its price as well") {
  Stage stage;
  stage.without_nsys();
  stage.play();
  CHECK(stage.actor.order == Strings{"bare", "collector", "bare", "collector", "bare", "collector"});
  CHECK_FALSE(stage.verdict.failure());
  CHECK(stage.perturbation.order == "unprofiled collector unprofiled collector unprofiled collector");
  REQUIRE(stage.perturbation.stages.size() == 1);
  const auto& row = stage.perturbation.stages[0];
  CHECK(row.profiler == PassKind::kCollector);
  CHECK(row.stage == "prefill");
  CHECK(row.bare_ns == std::vector<double>{2e6, 4e6, 6e6});
  CHECK(row.profiled_ns == std::vector<double>{3e6, 5e6, 7e6});
  CHECK(fs::exists(stage.bundle.path() / "collector/w.7.nltrace"));
  CHECK_FALSE(fs::exists(stage.bundle.path() / "perturbation"));
  CHECK(stage.actor.started[3].stdout_log == stage.bundle.path() / "logs/collector-repeat-2.stdout.log");
  CHECK(stage.actor.started[3].env.at("NL_STAGE_TRACE_DIR") == (stage.bundle.path() / "perturbation/collector-2").string());
}

TEST_CASE("the collector's repetitions keep to the budget, and a workload that fails under it alone is a problem") {
  Stage stage;
  stage.without_nsys();
  SECTION("budget") {
    stage.config.perturbation.budget_s = 20;  // 5, then pairs of 5 and 6: one fits
    stage.play();
    CHECK(stage.actor.order == Strings{"bare", "collector", "bare", "collector"});
    CHECK(stage.perturbation.notes.at(0) ==
          "1 of 3 repetitions were left out: an unprofiled and a traced pass take 11 s, and of perturbation.budget_s (20 s) 4 s are left");
  }
  SECTION("status") {
    stage.actor.collector_status = 3;
    stage.play();
    CHECK(stage.actor.order == Strings{"bare", "collector"});
    const auto& problems = stage.verdict.problems();
    CHECK(std::any_of(problems.begin(), problems.end(), [](const auto& problem) {
      return problem.what == "The workload ended with status 0 unprofiled and with status 3 under the collector.";
    }));
  }
  CHECK_FALSE(fs::exists(stage.bundle.path() / "perturbation"));
}

TEST_CASE("unprofiled passes record launches where the first of them marks nothing") {
  Stage stage;
  stage.actor.marked = false;
  const auto after = [&] { return stage.evidence.repeats.after; };
  SECTION("from the second on") {
    stage.play();
    CHECK(stage.actor.order == Strings{"bare", "nsys", "export", "launches", "nsys", "export", "launches", "nsys", "export"});
    CHECK(stage.actor.started.at(3).env.at("CUDA_INJECTION64_PATH") == "/lib/libnl_collector.so");
    REQUIRE(after().size() == 4);
    for (const std::size_t i : {0, 2}) {
      REQUIRE(after()[i].launches.size() == 1);
      CHECK(after()[i].launches[0].launches.size() == 4);
      CHECK(after()[i].launches[0].launches[1].what == 4);
    }
    CHECK(after()[1].launches.empty());
  }
  SECTION("a workload that marks stages is left alone") {
    stage.actor.marked = true;
    stage.play();
    CHECK(std::count(stage.actor.order.begin(), stage.actor.order.end(), "launches") == 0);
  }
  SECTION("where none could be recorded, the reason is noted") {
    stage.actor.no_launches = "kernels, copies and CUDA calls are not recorded: libcupti was not found";
    stage.play();
    CHECK(stage.evidence.repeats.notes.at(0).starts_with("unprofiled pass 2 of 3 tells no time of a step: no launch was recorded ("));
    CHECK(stage.evidence.repeats.notes.at(0).find("libcupti was not found") != std::string::npos);
  }
  SECTION("without a GPU there is nothing to record") {
    stage.tools.nvml = "/lib/libnvidia-ml.so.1";
    stage.play();
    CHECK(std::count(stage.actor.order.begin(), stage.actor.order.end(), "launches") == 0);
  }
}

TEST_CASE("a collector that recorded no GPU work has no price") {
  Stage stage;
  stage.without_nsys();
  SECTION("not at all: nothing is repeated") {
    stage.actor.works_until = 0;
    stage.play();
    CHECK(stage.actor.order == Strings{"bare", "collector"});
    CHECK(stage.perturbation.stages.empty());
    CHECK(stage.perturbation.note == "overhead not measured: no GPU work was recorded");
    CHECK(stage.perturbation.notes.at(0) == "2 of 3 repetitions were left out: overhead not measured: no GPU work was recorded");
  }
  SECTION("in one of the repetitions: that one does not count") {
    stage.actor.works_until = 4;
    stage.play();
    CHECK(stage.perturbation.order == "unprofiled collector unprofiled collector unprofiled");
    CHECK(stage.perturbation.notes.at(0) == "traced pass 3 of 3: the collector recorded no GPU work, so it does not count");
  }
}

TEST_CASE("more pairs follow as long as the overhead may be above or below the limit") {
  Stage stage;
  stage.without_nsys();
  stage.config.run.stages = {"prefill"};
  stage.config.perturbation.most_repeats = 12;
  stage.config.perturbation.budget_s = 1000;
  const auto& decision = stage.perturbation.decision;
  const auto starts = [&](const char* what) { return std::count(stage.actor.order.begin(), stage.actor.order.end(), what); };
  SECTION("decided at once: none follows") {
    stage.actor.prefill_ms = [](int number, bool traced) { return Ns{1000} + number % 3 + (traced ? 200 : 0); };
    stage.play();
    REQUIRE(decision);
    CHECK(decision->end == RepeatsEnd::kDecided);
    CHECK(decision->passes == 3);
    CHECK(starts("bare") == 3);
    CHECK(decision->summary == "Decided after 3 passes of each kind: tracing slows prefill by more than 5 %");
  }
  SECTION("decided by the second look") {
    // 7.5 %, and 1 % from pass to pass: three of each leave 5 % within the range.
    stage.actor.prefill_ms = [](int number, bool traced) {
      return Ns{1000} + (traced ? 75 : 0) + std::array<Ns, 4>{0, 0, 16, 14}[static_cast<std::size_t>(number % 4)];
    };
    stage.play();
    REQUIRE(decision);
    CHECK(decision->end == RepeatsEnd::kDecided);
    CHECK(decision->passes == 5);
    CHECK(stage.perturbation.stages.at(0).verdict == SlowdownVerdict::kOverLimit);
    CHECK(stage.actor.started.back().stdout_log == stage.bundle.path() / "logs/collector-repeat-5.stdout.log");
    CHECK_FALSE(fs::exists(stage.bundle.path() / "perturbation"));
  }
  SECTION("never decided: the most that are allowed") {
    stage.actor.prefill_ms = [](int number, bool) { return Ns{1000} + 200 * (number / 2 % 2); };
    stage.play();
    REQUIRE(decision);
    CHECK(decision->end == RepeatsEnd::kMost);
    CHECK(decision->passes == 12);
    CHECK(decision->undecided == Strings{"prefill"});
    CHECK(decision->more_passes);
    CHECK(starts("bare") == 12);
    CHECK(starts("collector") == 12);
  }
  SECTION("until the budget ends") {
    stage.actor.prefill_ms = [](int number, bool) { return Ns{1000} + 200 * (number / 2 % 2); };
    stage.config.perturbation.budget_s = 50;  // 5, then pairs of 5 and 6: four fit
    stage.play();
    REQUIRE(decision);
    CHECK(decision->end == RepeatsEnd::kBudget);
    CHECK(decision->passes == 5);
    CHECK(decision->summary.starts_with(
        "Not decided after 5 passes of each kind: whether tracing slows prefill by more than 5 %; no time was left"));
    CHECK(stage.evidence.repeats.notes.empty());  // what was never certain is not missed
  }
  SECTION("a limit of its own") {
    stage.config.perturbation.limit = "30%";
    stage.actor.prefill_ms = [](int number, bool traced) { return Ns{1000} + number % 3 + (traced ? 200 : 0); };
    stage.play();
    REQUIRE(decision);
    CHECK(decision->summary == "Decided after 3 passes of each kind: tracing slows prefill by less than 30 %");
    CHECK(stage.perturbation.limit == 0.30);
  }
  SECTION("a pair that does not count is the last") {
    stage.actor.prefill_ms = [](int number, bool) { return Ns{1000} + 200 * (number / 2 % 2); };
    stage.actor.works_until = 7;  // the fourth traced pass records nothing
    stage.play();
    CHECK(starts("collector") == 4);
    REQUIRE(decision);
    CHECK(decision->end == RepeatsEnd::kStopped);
  }
  SECTION("one pass of each kind asks for no range") {
    stage.config.perturbation.repeats = 1;
    stage.play();
    CHECK(stage.actor.order == Strings{"bare", "collector"});
  }
  CHECK_FALSE(stage.verdict.failure());
}

TEST_CASE("what an interrupted repetition left is gone, from the bundle and from its list") {
  Stage stage;
  stage.without_nsys();
  stage.actor.interrupt_at = 3;
  stage.play();
  CHECK(stage.actor.order.size() == 4);
  CHECK(stage.outcomes().at(3) == "collector-repeat interrupted");
  CHECK(stage.evidence.passes.at(3).outputs.empty());
  CHECK_FALSE(fs::exists(stage.bundle.path() / "perturbation"));
}

TEST_CASE("no pass is begun that would not fit the budget, and what is left out is said") {
  Stage stage;
  // 5 for the first unprofiled pass; each pair takes 5 + 8 + 2: one fits into 30, a second would end at 35.
  stage.config.perturbation.budget_s = 30;
  stage.play();
  CHECK(stage.actor.order == Strings{"bare", "nsys", "export", "bare", "nsys", "export"});
  CHECK(stage.perturbation.order == "unprofiled nsys unprofiled nsys");
  REQUIRE(stage.perturbation.notes.size() == 1);
  CHECK(stage.perturbation.notes[0] ==
        "1 of 3 repetitions were left out: an unprofiled and a traced pass take 15 s, and of perturbation.budget_s "
        "(30 s) 10 s are left");
  const auto outcomes = stage.outcomes();
  CHECK(Strings(outcomes.end() - 3, outcomes.end()) == Strings{"unprofiled skipped", "nsys-repeat skipped", "nsys-repeat-export skipped"});
  CHECK_FALSE(stage.verdict.failure());
  // None may run past the budget either.
  CHECK(stage.actor.started[0].timeout_s == 30);
  CHECK(stage.actor.started[3].timeout_s == 25);
  CHECK(stage.actor.started[4].timeout_s == 20);
}

TEST_CASE("a pass that outruns its forecast leaves the traced one out") {
  Stage stage;
  struct Slowing : Actor {
    ProcessResult launch(const ProcessSpec& process) override {
      if (order.size() == 3) bare_s = 40;
      return Actor::launch(process);
    }
  } slowing;
  stage.config.perturbation.budget_s = 45;
  stage.play(slowing);
  CHECK(slowing.order == Strings{"bare", "nsys", "export", "bare"});
  REQUIRE(stage.evidence.repeats.notes.size() == 2);
  CHECK(stage.evidence.repeats.notes[0] == "traced pass 2 of 3 was left out: it would not fit into perturbation.budget_s");
}

TEST_CASE("a budget of nothing, no repeats, no collector: the capture alone, and why") {
  Stage stage;
  SECTION("budget") {
    stage.config.perturbation.budget_s = 0;
    stage.play();
    CHECK(stage.perturbation.note == "no unprofiled pass was run: perturbation.budget_s is 0");
  }
  SECTION("repeats") {
    stage.config.perturbation.repeats = 0;
    stage.play();
    CHECK(stage.perturbation.note.find("perturbation.repeats is 0") != std::string::npos);
  }
  SECTION("collector") {
    stage.tools.collector.reset();
    stage.play();
    CHECK(stage.perturbation.note.find("was not found") != std::string::npos);
  }
  CHECK(stage.actor.order == Strings{"nsys", "export"});
  CHECK(stage.perturbation.stages.empty());
  CHECK_FALSE(stage.verdict.failure());
}

TEST_CASE("a bare pass that fails is noted; that the workload fails unprofiled only is a problem") {
  Stage stage;
  stage.actor.bare_status = 3;
  stage.play();
  CHECK(stage.evidence.captured_any);
  CHECK(stage.verdict.failure() == ErrorKind::kCapture);
  CHECK(stage.verdict.problems().at(0).what == "The workload ended with status 3 unprofiled and with status 0 under nsys.");
  CHECK(stage.actor.order == Strings{"bare", "nsys", "export"});
  CHECK(stage.perturbation.stages.empty());
  CHECK(stage.evidence.repeats.notes.at(0) == "unprofiled pass 1 of 3 ended with status 3: it does not count");
}

TEST_CASE("a workload that fails either way is one problem, and is not repeated") {
  Stage stage;
  stage.actor.bare_status = stage.actor.nsys_status = 3;
  stage.play();
  CHECK(stage.verdict.failure() == ErrorKind::kWorkload);
  CHECK(stage.verdict.problems().size() == 1);
  CHECK(stage.actor.order == Strings{"bare", "nsys", "export"});
}

TEST_CASE("a bare pass that takes too long fails nothing") {
  Stage stage;
  stage.actor.time_out_at = 0;
  stage.play();
  CHECK(stage.evidence.captured_any);
  CHECK_FALSE(stage.verdict.failure());
  CHECK(stage.outcomes().at(0) == "unprofiled timeout");
  CHECK(stage.actor.order == Strings{"bare", "nsys", "export"});
  CHECK(stage.perturbation.note == "unprofiled pass 1 of 3 was ended after 180 s: it does not count");
}

TEST_CASE("Ctrl-C in any of the passes ends all that follow") {
  Stage stage;
  const int at = GENERATE(0, 3, 4, 5);
  stage.actor.interrupt_at = at;
  stage.play();
  CHECK(stage.actor.order.size() == static_cast<std::size_t>(at) + 1);
  CHECK(stage.verdict.interrupt_signal() == 2);
  CHECK(stage.verdict.problems().size() == 1);
  CHECK(stage.evidence.captured_any == (at > 0));
  CHECK_FALSE(fs::exists(stage.bundle.path() / "perturbation"));
}

TEST_CASE("readings of the meters become a table that stays small") {
  std::vector<PowerSample> samples(10);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].utc_ns = static_cast<Ns>(1000 + i / 2);
    samples[i].device = static_cast<std::int32_t>(i % 2);
  }
  samples[0].power_w = 300.5;
  samples[0].throttle_reasons = 0x44;
  const std::string all = exporters::samples_csv({{"bare-1", &samples}});
  CHECK(all.find("\nbare-1,1000,0,300.5,,,,,,0x44\nbare-1,1000,1,,,,,,,\nbare-1,1001,0,") != std::string::npos);
  CHECK(std::count(all.begin(), all.end(), '\n') == 11);
  const std::string fewer = exporters::samples_csv({{"bare-1", &samples}}, 4);  // every third of five readings
  CHECK(std::count(fewer.begin(), fewer.end(), '\n') == 5);
  CHECK(fewer.find("bare-1,1003,1,") != std::string::npos);
}

TEST_CASE("the dry run shows the very commands that a run starts") {
  Stage stage;
  if (GENERATE(false, true)) stage.without_nsys();
  stage.config.workload.working_directory = stage.tree.root().string();
  const auto shown = nlohmann::json::parse(plan_json(make_plan(stage.config, stage.tools, stage.bundle.path())))["passes"];
  stage.play();
  REQUIRE(shown.size() == stage.actor.started.size());
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const ProcessSpec& started = stage.actor.started[i];
    CHECK(shown[i]["argv"] == started.argv);
    CHECK(shown[i]["env"] == started.env);
    CHECK(shown[i]["unset_env"] == started.unset_env);
    CHECK(shown[i]["working_directory"] == started.working_directory.string());
    CHECK(shown[i]["stdout"] == started.stdout_log.string());
  }
}

TEST_CASE("a runner that starts nothing is given every pass of the plan, once and in order") {
  struct Listing : Runner {
    std::vector<PassKind> given;
    void run(std::span<const Pass> passes, const Part&) override {
      for (const Pass& pass : passes) given.push_back(pass.kind);
    }
  } listing;
  Stage stage;
  stage.config.ncu.enabled = true;
  stage.tools.ncu.emplace();
  stage.tools.gpus.push_back({});
  const Plan plan = make_plan(stage.config, stage.tools, stage.bundle.path());
  CHECK_FALSE(execute(plan, listing).any());
  std::vector<PassKind> planned;
  for (const Pass& pass : plan.passes) planned.push_back(pass.kind);
  CHECK(planned.size() == 12);
  CHECK(listing.given == planned);
  CHECK(fs::is_empty(stage.bundle.path() / "logs"));
}

TEST_CASE("whether the meters can be read, and what is said where they cannot") {
  Config config;
  Toolset tools;
  Verdict verdict;
  tools.nvml = std::string(NL_BUILD_ROOT) + "/tests/unit/orchestrator/libfake_nvml.so";
  CHECK(open_power_source(config, tools, verdict).sampler);
  CHECK(open_power_source(config, tools, verdict).note.empty());
  config.energy.enabled = "off";
  CHECK_FALSE(open_power_source(config, tools, verdict).sampler);
  CHECK(open_power_source(config, tools, verdict).note == "switched off (energy.enabled)");
  config.energy.enabled = "auto";
  tools.nvml.reset();
  CHECK(open_power_source(config, tools, verdict).note == "NVML does not answer");
  tools.gpu_trouble = "no driver";
  CHECK(open_power_source(config, tools, verdict).note == "NVML does not answer: no driver");
  CHECK(verdict.problems().empty());
  config.energy.enabled = "on";
  CHECK_FALSE(open_power_source(config, tools, verdict).sampler);
  CHECK(test::whole_problems(verdict.problems()) ==
        Strings{"meters-silent: energy.enabled is on, but no GPU's power can be read: NVML does not answer: no driver. | "});
}

TEST_CASE("each reading of the meters stands under its own name, and as many rows as may be stay") {
  std::vector<PowerSample> samples(4);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i].utc_ns = static_cast<Ns>(i);
  samples[0] = {5, 3, 1.5, 2.5, 3.5, 4.5, 5.5, 0.25, 0x1};
  const std::string header =
      "pass,utc_ns,device,power_w,energy_j,sm_clock_mhz,memory_clock_mhz,temperature_c,gpu_utilisation,throttle_reasons\n";
  CHECK(exporters::samples_csv({{"a", &samples}}, 4) ==
        header + "a,5,3,1.5,2.5,3.5,4.5,5.5,0.25,0x1\na,1,0,,,,,,,\na,2,0,,,,,,,\na,3,0,,,,,,,\n");
  CHECK(exporters::samples_csv({{"a", &samples}}, 3) == header + "a,5,3,1.5,2.5,3.5,4.5,5.5,0.25,0x1\na,2,0,,,,,,,\n");
  CHECK(exporters::samples_csv({}, 3) == header);
}

TEST_CASE("a repetition that cannot be read, or has no ranges, is noted by its own name") {
  Stage stage;
  struct Broken : Actor {
    int broken = 0;
    ProcessResult launch(const ProcessSpec& process) override {
      const int number = static_cast<int>(order.size());
      const ProcessResult result = Actor::launch(process);
      if (number != broken) return result;
      if (order.back() == "export") std::ofstream(output_of(process), std::ios::trunc) << "no database at all, but some bytes";
      else
        std::ofstream(fs::path(process.env.at("NL_STAGE_TRACE_DIR")) / "w.7.nltrace", std::ios::trunc)
            << "no trace of ours, but long enough";
      return result;
    }
  } broken;
  SECTION("an unprofiled one") {
    stage.play(broken);
    CHECK(stage.perturbation.note.starts_with("unprofiled pass 1 of 3 could not be read: "));
    CHECK(broken.order.size() == 3);
  }
  SECTION("a later unprofiled one") {
    broken.broken = 3;
    stage.play(broken);
    CHECK(stage.evidence.repeats.notes.at(0).starts_with("unprofiled pass 2 of 3 could not be read: "));
    CHECK(stage.perturbation.order == "unprofiled nsys nsys unprofiled nsys");
  }
  SECTION("a traced one") {
    broken.broken = 5;
    stage.play(broken);
    CHECK(stage.evidence.repeats.notes.at(0) == "export of the traced pass 2 of 3 could not be read: this is not an SQLite file");
    CHECK(stage.perturbation.order == "unprofiled nsys unprofiled unprofiled nsys");
    CHECK_FALSE(fs::exists(stage.bundle.path() / "perturbation"));
  }
  CHECK_FALSE(stage.verdict.failure());
}

TEST_CASE("repetitions: whole records, with what is not kept") {
  Stage stage;
  stage.config.perturbation.repeats = 2;
  stage.play();
  CHECK(test::whole_records(stage.evidence.passes) ==
        Strings{"unprofiled ok 0 [unprofiled/1]", "nsys ok 0 [nsys/run.nsys-rep]", "nsys-export ok 0 [nsys/run.sqlite]",
                "unprofiled ok 0 [unprofiled/2]", "nsys-repeat ok 0 [] for its timings: not kept", "nsys-repeat-export ok 0 []"});
  CHECK(stage.evidence.passes.at(4).duration_ns == 8'000'000'000);
}

TEST_CASE("a repetition that fails is dropped, noted, and its export left out") {
  Stage stage;
  struct Failing : Actor {
    ProcessResult launch(const ProcessSpec& process) override {
      nsys_status = order.size() == 4 ? 9 : 0;
      return Actor::launch(process);
    }
  } failing;
  stage.play(failing);
  CHECK(failing.order == Strings{"bare", "nsys", "export", "bare", "nsys", "bare", "nsys", "export"});
  CHECK(stage.evidence.repeats.notes == Strings{"traced pass 2 of 3 ended with status 9: it does not count"});
  CHECK(test::whole_records(stage.evidence.passes).at(4) == "nsys-repeat failed 9 []");
  CHECK_FALSE(stage.verdict.failure());
}
