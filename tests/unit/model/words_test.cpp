#include "model/words.h"

#include <set>

#include "tests/catch.h"

using namespace nl;

TEST_CASE("every code has a key of its own, a sentence, and finds its way back") {
  std::set<std::string_view> keys;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Code::kCount_); ++i) {
    const Words& words = words_of(static_cast<Code>(i));
    INFO(words.key);
    CHECK(keys.insert(words.key).second);
    CHECK(words.key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos);
    CHECK(code_of(words.key) == words.code);
    CHECK_FALSE(words.text.empty());
    if (words.code == Code::kNote) continue;  // brings its own sentence
    CHECK(words.text.substr(words.text.size() - 1) == ".");
  }
  CHECK_FALSE(code_of("no-such-code"));
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
  CHECK(from_key<SlowdownVerdict>("over 10 %") == SlowdownVerdict::kOverTenPercent);
  CHECK(from_key<LaneKind>("api") == LaneKind::kApi);
  CHECK_FALSE(from_key<PassKind>("nothing"));
  CHECK(keys_of<Bound>().size() == 3);
  CHECK(keys_of<Code>().front() == "no-stages");
}
