#include "parsers/collector/gpu.h"

#include "model/words.h"
#include "parsers/collector/trace.h"
#include "tests/catch.h"
#include "tests/unit/parsers/collector/counter_file.h"
#include "tests/unit/parsers/scratch_file.h"

using namespace nl;
using namespace nl::parsers;
using nl::trace_format::NoteCode;

namespace {

constexpr const char* kDenied =
    ": the driver lets only administrators read the counters. Run as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0";

Remark remark(NoteCode code, const std::string& text) { return collector_trace::remark_of_note(static_cast<std::uint32_t>(code), text); }
Code code(NoteCode note, const std::string& text) { return remark(note, text).code; }
Code earlier(const std::string& text) { return code(NoteCode::kEarlier, text); }

}  // namespace

TEST_CASE("a note of the collector is what its code says, whatever its sentence says") {
  const std::string text = GENERATE(as<std::string>(), "", "les compteurs sont refus\xC3\xA9s",
                                    "counters are not measured: NVreg_RestrictProfilingToAdminUsers=0", "activity is not sampled",
                                    "stalls are not sampled", "nothing is not recorded");
  CHECK(code(NoteCode::kOther, text) == Code::kNote);
  CHECK(code(NoteCode::kNotRecorded, text) == Code::kNotRecorded);
  CHECK(code(NoteCode::kCountersFailed, text) == Code::kCountersFailed);
  CHECK(code(NoteCode::kCountersDenied, text) == Code::kCountersDenied);
  CHECK(code(NoteCode::kCountersBusy, text) == Code::kCountersBusy);
  CHECK(code(NoteCode::kActivityFailed, text) == Code::kActivityFailed);
  CHECK(code(NoteCode::kActivityDenied, text) == Code::kActivityDenied);
  CHECK(code(NoteCode::kStallsFailed, text) == Code::kStallsFailed);
  CHECK(code(NoteCode::kStallsDenied, text) == Code::kStallsDenied);
  CHECK(remark(NoteCode{4711}, text) == Remark{Code::kNote, {text}, {}});  // of a later collector
}

TEST_CASE("a note of an earlier collector has no code and is understood by its words") {
  CHECK(earlier(std::string(trace_format::kCountersNotMeasured) + kDenied) == Code::kCountersDenied);
  CHECK(earlier("another CUPTI client holds this process (CUPTI-Kineto): counters are not measured. Run without it") ==
        Code::kCountersBusy);
  CHECK(earlier("CUPTI (libcupti.so) does not start: broken (2); counters are not measured") == Code::kCountersFailed);
  CHECK(earlier(std::string(trace_format::kActivityNotSampled) + kDenied) == Code::kActivityDenied);
  CHECK(earlier("activity is not sampled: there is no thread for it") == Code::kActivityFailed);
  CHECK(earlier(std::string(trace_format::kStallsNotSampled) + kDenied) == Code::kStallsDenied);
  CHECK(earlier("stalls are not sampled: this CUPTI does not offer it (libcupti.so)") == Code::kStallsFailed);
  CHECK(earlier("another CUPTI client holds this process (nsys): kernels, copies and CUDA calls are not recorded") == Code::kNotRecorded);
  CHECK(remark(NoteCode::kEarlier, "2 windows of stages overlapped") == Remark{Code::kNote, {"2 windows of stages overlapped"}, {}});
}

TEST_CASE("the sentence of a note gives the reason and who is in the way") {
  CHECK(remark(NoteCode::kCountersFailed, "counters are not measured: that needs CUDA 12.6.").details ==
        std::vector<std::string>{"that needs CUDA 12.6"});
  CHECK(remark(NoteCode::kCountersFailed, "CUPTI does not start; counters are not measured").details ==
        std::vector<std::string>{"CUPTI does not start; counters are not measured"});
  CHECK(text_of(remark(NoteCode::kCountersBusy, "held (CUPTI-Kineto): counters are not measured")) ==
        "Another profiler holds the GPU's performance counters (CUPTI-Kineto).");
  CHECK(text_of(remark(NoteCode::kCountersBusy, "held) by (nobody")) == "Another profiler holds the GPU's performance counters.");
  const Remark stalls = remark(NoteCode::kStallsFailed, "stalls are not sampled: CUPTI 11.8 has no such function");
  CHECK(text_of(stalls) == "CUPTI could not sample where warps stall: CUPTI 11.8 has no such function.");
  CHECK(fix_of(stalls) == "--set capture.pc_sampling=0 runs without.");
  const Remark activity = remark(NoteCode::kActivityDenied, "activity is not sampled: no permission");
  CHECK(text_of(activity) == "CUPTI may not sample the GPU's activity: no permission.");
  CHECK(fix_of(activity).ends_with("--set capture.sampling_us=0 runs without."));
  CHECK(text_of(remark(NoteCode::kNotRecorded, "kernels, copies and CUDA calls are not recorded: no libcupti")) ==
        "kernels, copies and CUDA calls are not recorded: no libcupti.");
}

TEST_CASE("notes with and without a code are read from one file, each once") {
  test::CounterFile file;
  file.thread(0)
      .note("stalls are not sampled: why")
      .note("what now", NoteCode::kCountersDenied)
      .note("what then", NoteCode::kCountersDenied);
  const test::ScratchFile scratch(file.whole());
  const Trace trace = read_collector_traces({scratch.path});
  CHECK(trace.stats.rows_damaged.empty());
  CHECK(trace.stats.notes == std::vector<Remark>{{Code::kStallsFailed, {"where warps stall", "why", "capture.pc_sampling"}},
                                                 {Code::kCountersDenied, {"CUPTI"}}});
}
