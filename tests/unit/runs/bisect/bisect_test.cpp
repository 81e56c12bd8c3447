#include "runs/bisect/bisect.h"

#include "tests/catch.h"

using nl::runs::BisectStep, nl::runs::next_candidate;

TEST_CASE("bisect: the middle is next, and beside it where it was skipped") {
  CHECK(next_candidate(0, 8, {{8}}) == 4);
  CHECK(next_candidate(0, 8, {{8}, {4}}) == 3);
  CHECK(next_candidate(0, 8, {{8}, {4}, {3}}) == 5);
  CHECK(next_candidate(4, 8, {{8}, {4}}) == 6);
}

TEST_CASE("bisect: neighbours have nothing between them") {
  CHECK_FALSE(next_candidate(3, 4, {}));
  CHECK_FALSE(next_candidate(0, 2, {{2}, {1}}));
}

TEST_CASE("bisect: of an even number of candidates every one is reached") {
  for (std::size_t bad = 1; bad < 12; ++bad)
    for (std::size_t first_slow = 1; first_slow <= bad; ++first_slow) {
      std::vector<BisectStep> steps = {{bad, nl::CompareVerdict::kRegressed, ""}};
      std::size_t low = 0, high = bad;
      while (const auto next = next_candidate(low, high, steps)) {
        steps.push_back({*next, *next >= first_slow ? nl::CompareVerdict::kRegressed : nl::CompareVerdict::kUnchanged, ""});
        (*next >= first_slow ? high : low) = *next;
      }
      CHECK(high == first_slow);
      CHECK(low + 1 == high);
    }
}

TEST_CASE("bisect: commands that repeat are named by their line of the file") {
  using namespace nl::runs;
  std::vector<Candidate> candidates = {{"true", {}}, {"./bench", {}}, {"true", {}}};
  number_repeated(candidates, {2, 3, 5});
  CHECK(candidates[0].name == "line 2: true");
  CHECK(candidates[1].name == "./bench");
  CHECK(candidates[2].name == "line 5: true");
}

TEST_CASE("bisect: where the last one is undecided, no first bad one is named") {
  using namespace nl::runs;
  BisectRequest request;
  for (const char* name : {"c0", "c1"}) request.candidates.push_back({name, {}});
  BisectResult result;
  result.first_bad = 1;
  result.steps = {{1, nl::CompareVerdict::kUndecidable, ""}};
  CHECK_FALSE(is_told_bad(result));
  CHECK(bisect_json(request, result).find("\"first_bad\": null") != std::string::npos);
  result.steps[0].verdict = nl::CompareVerdict::kRegressed;
  CHECK(is_told_bad(result));
}

TEST_CASE("bisect: what it names is in bisect.json, with what was skipped") {
  using namespace nl::runs;
  BisectRequest request;
  for (const char* name : {"c0", "c1", "c2"}) request.candidates.push_back({name, {}});
  BisectResult result;
  result.end = BisectEnd::kUndecided;
  result.last_good = 0;
  result.first_bad = 2;
  result.steps = {{2, nl::CompareVerdict::kRegressed, ""}, {1, nl::CompareVerdict::kUndecidable, "it cannot be built (status 2)"}};
  const std::string text = bisect_json(request, result);
  CHECK(text.find("\"ended_by\": \"undecided\"") != std::string::npos);
  CHECK(text.find("\"last_good\": \"c0\"") != std::string::npos);
  CHECK(text.find("\"first_bad\": \"c2\"") != std::string::npos);
  CHECK(text.find("\"trouble\": \"it cannot be built (status 2)\"") != std::string::npos);
}
