#include "orchestrator/bisect/bisect.h"

#include "tests/catch.h"

using nl::orchestrator::BisectStep, nl::orchestrator::next_candidate;

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

TEST_CASE("bisect: what it names is in bisect.json, with what was skipped") {
  using namespace nl::orchestrator;
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
