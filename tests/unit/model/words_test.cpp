#include "model/words.h"
#include "model/comparison.h"
#include "model/headline.h"

#include <set>
#include <tuple>

#include "tests/catch.h"

using namespace nl;

TEST_CASE("every code has a key of its own, a sentence, and finds its way back") {
  std::set<std::string_view> keys;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Code::kCount_); ++i) {
    const Words& words = words_of(static_cast<Code>(i));
    INFO(words.key);
    CHECK(keys.insert(words.key).second);
    CHECK(words.key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos);
    CHECK(from_key<Code>(words.key) == words.code);
    CHECK_FALSE(words.text.empty());
    if (words.code == Code::kNote) continue;                // brings its own sentence
    const bool damage = words.code >= Code::kNoStartOrEnd;  // names a row
    CHECK((words.text.substr(words.text.size() - 1) == ".") != damage);
  }
  CHECK_FALSE(from_key<Code>("no-such-code"));
}

TEST_CASE("details fill the gaps of a sentence and of its fix") {
  CHECK(text_of({Code::kCountersDenied, {"ncu"}}) == "ncu may not read the GPU's performance counters.");
  CHECK(text_of({Code::kToolNotFound, {"nsys"}}) == "nsys was not found.");
  CHECK(text_of({Code::kToolNotFound}) == " was not found.");  // no exception
  CHECK(fix_of({Code::kToolNotFound, {"nsys"}}) == "`nl-stage doctor` lists where it looked.");
}

TEST_CASE("keys of passes, tracers and verdicts are read back") {
  CHECK(key_of(PassKind::kNcuExportRaw) == "ncu-export-raw");
  CHECK(from_key<PassKind>("counters-kernels") == PassKind::kKernelCounters);
  CHECK(from_key<PassKind>("unprofiled") == PassKind::kUnprofiled);
  CHECK(from_key<PassOutcome>("skipped") == PassOutcome::kSkipped);
  CHECK(from_key<Tracer>("collector (CUPTI)") == Tracer::kCupti);
  CHECK(from_key<Meter>("CUPTI") == Meter::kCupti);
  CHECK(from_key<SourceFormat>("kineto") == SourceFormat::kKineto);
  CHECK(from_key<Bound>("latency") == Bound::kLatency);
  CHECK(from_key<SlowdownVerdict>("over the limit") == SlowdownVerdict::kOverLimit);
  CHECK(from_key<LaneKind>("api") == LaneKind::kApi);
  CHECK(from_key<RunStatus>("failed") == RunStatus::kFailed);
  CHECK(from_key<Severity>("high") == Severity::kHigh);
  CHECK(from_key<RuleScope>("operator") == RuleScope::kOperator);
  CHECK(from_key<StageSource>("engine") == StageSource::kEngine);
  CHECK(key_of(StageSource::kInferred) == "inferred");
  CHECK(from_key<KernelMatch>("short_name") == KernelMatch::kShortName);
  CHECK(from_key<RangeStyle>("start_end") == RangeStyle::kStartEnd);
  CHECK(from_key<EnergySource>("power readings") == EnergySource::kPower);
  CHECK(key_of(MetricUnit::kCelsius) == "°C");
  CHECK(key_of(LineReason::kNoCommonKernel) == "no_common_kernel");  // the last of each: none was forgotten between
  CHECK(key_of(CompareFigure::kHostWait) == "host_wait");
  CHECK(key_of(DifferenceCode::kMixedSide) == "mixed_side");
  CHECK(key_of(KernelPairing::kRank) == "rank");
  CHECK_FALSE(from_key<PassKind>("nothing"));
  CHECK(keys_of<Bound>().size() == 3);
  CHECK(keys_of<Code>().front() == "no-stages");
}

TEST_CASE("stages and phases are told by their names") {
  CHECK(stage_kind("prefill") == StageKind::kPrefill);
  CHECK(stage_kind("decode_step") == StageKind::kDecodeStep);
  CHECK(stage_kind("idle") == StageKind::kIdle);
  CHECK(stage_kind("retrieval") == StageKind::kOther);
  CHECK(is_decode("decode"));
  CHECK(is_decode("decode_draft"));
  CHECK_FALSE(is_decode("prefill"));
}

TEST_CASE("the windows of a stage have a word, for one and for several") {
  CHECK(stage_noun("train_step") == "training step");
  CHECK(stages_noun("train_step") == "training steps");
  CHECK(stages_noun("batch") == "batches");
  CHECK(stage_noun("denoise_step") == "denoising step");
  CHECK(stage_noun("decode_step") == "step");
  CHECK(stages_noun("assemble") == "assembles");
}

TEST_CASE("a program generates where that was found, or where an older file has such stages") {
  Run run;
  CHECK_FALSE(generates(run));
  run.stages.emplace_back().name = "forward";
  CHECK_FALSE(generates(run));
  run.stages.emplace_back().name = "decode_step";
  CHECK(generates(run));
  run.workload.verdict.unit_stage = "step";  // looked at, and not found
  CHECK_FALSE(generates(run));
  for (const WorkloadKind kind : {WorkloadKind::kTraining, WorkloadKind::kEncoding, WorkloadKind::kDiffusion, WorkloadKind::kCollective}) {
    run.workload.verdict.kind = kind;
    CHECK_FALSE(generates(run));
  }
  for (const WorkloadKind kind : {WorkloadKind::kGeneration, WorkloadKind::kServing}) {
    run.workload.verdict.kind = kind;
    CHECK(generates(run));
  }
}

TEST_CASE("remarks are added once, found by code, and named with their place") {
  std::vector<Remark> remarks = {{Code::kNotChosen}};
  add_once(remarks, {Code::kToolNotFound, {"ncu"}});
  add_once(remarks, {Code::kToolNotFound, {"ncu"}});
  add_once(remarks, {Code::kToolNotFound, {"nsys"}, "a.json"});
  REQUIRE(remarks.size() == 3);
  CHECK(find_first(remarks, {Code::kNoStages, Code::kToolNotFound}) == &remarks[1]);
  CHECK(find_first(remarks, {Code::kNoStages}) == nullptr);
  CHECK(line_of(remarks[1]) == "ncu was not found.");
  CHECK(line_of(remarks[2]) == "a.json: nsys was not found.");
}

TEST_CASE("damaged rows add up by what is wrong with them, apart by where they come from") {
  const DamagedRows more = {{{Code::kNoThread, {"range"}}, 2}, {{Code::kNoThread, {"event"}}, 3}};
  DamagedRows all = {{{Code::kNoThread, {"range"}}, 1}};
  add_damage(all, more);
  add_damage(all, more, "counters");
  CHECK(all == DamagedRows{{{Code::kNoThread, {"range"}}, 3},
                           {{Code::kNoThread, {"event"}}, 3},
                           {{Code::kNoThread, {"range"}, "counters"}, 2},
                           {{Code::kNoThread, {"event"}, "counters"}, 3}});
  CHECK(line_of(all.begin()->first) == "event without a thread");
}

TEST_CASE("a remark and an error become problems with all they say") {
  const Problem remark = problem_of(Remark{Code::kToolNotFound, {"nsys"}, "pass nsys"});
  CHECK(remark.code == Code::kToolNotFound);
  CHECK(remark.what == "nsys was not found.");
  CHECK(remark.where == "pass nsys");
  CHECK(remark.fix == "`nl-stage doctor` lists where it looked.");
  CHECK(remark.kind == words_of(Code::kToolNotFound).kind);
  const Problem error = problem_of(Error(ErrorKind::kOutput, "full", "disk", "free some"));
  CHECK(error.code == Code::kError);
  CHECK(error.what == "full");
  CHECK(error.where == "disk");
  CHECK(error.fix == "free some");
  CHECK(error.kind == ErrorKind::kOutput);
}

TEST_CASE("what traced and what measured, in one text and back") {
  const std::vector<std::tuple<Tracer, Meter, std::string>> table = {{Tracer::kNone, Meter::kNone, ""},
                                                                     {Tracer::kNsys, Meter::kNone, "nsys"},
                                                                     {Tracer::kNsys, Meter::kNcu, "nsys+ncu"},
                                                                     {Tracer::kNsys, Meter::kCupti, "nsys+CUPTI counters"},
                                                                     {Tracer::kCupti, Meter::kNone, "collector (CUPTI)"},
                                                                     {Tracer::kCupti, Meter::kNcu, "collector (CUPTI)+ncu"},
                                                                     {Tracer::kCupti, Meter::kCupti, "collector (CUPTI+counters)"}};
  for (const auto& [tracer, meter, text] : table) {
    CHECK(captured_by(tracer, meter) == text);
    CHECK(capture_of(text) == std::pair(tracer, meter));
  }
  CHECK(captured_by(Tracer::kNone, Meter::kNcu) == "");
  CHECK(capture_of(captured_by(Tracer::kImport, Meter::kNcu)) == std::pair(Tracer::kImport, Meter::kNcu));
  CHECK(capture_of(captured_by(Tracer::kRanges, Meter::kNone)) == std::pair(Tracer::kRanges, Meter::kNone));
  CHECK_FALSE(capture_of("nsys+magic"));
}
