#include "exporters/report/reports.h"
#include "tests/catch.h"
#include "tests/unit/exporters/every_serving.h"

using namespace nl;

namespace {

std::string report_of(const std::optional<Serving>& serving) {
  Run run;
  run.serving = serving;
  return exporters::report_markdown(run);
}

bool says(const std::string& text, const std::string& part) {
  INFO(text.substr(0, 6000) << "\n lacks \n" << part);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("serving section: it says what the window held, and why the slowest request is slow") {
  Serving serving = test::every_serving();
  serving.tail.requests.front().id = serving.requests.front().id;
  const std::string text = report_of(serving);
  CHECK(says(text, "## Serving: a bill for every request"));
  CHECK(says(text, "7,206 began before it and 7,207 ended after it: only their parts inside are billed."));
  CHECK(says(
      text,
      "Request 7001 (name 7002) took 7.13 µs; 7,132 requests of like sizes take 7.13 µs. The difference is 7.15 µs of interference: the "
      "prompts of request 7152 were computed in steps that it had to wait for."));
  CHECK(says(text, "| process 7282 |"));
  CHECK(says(text, "add up to the time of all requests inside the window to the nanosecond"));
  CHECK(says(text, "joined by X-Request-Id"));
  CHECK(says(text, "7,332 steps of which a part of their marks is missing"));
}

TEST_CASE("serving section: without the client's records it says how to get the network") {
  Serving serving = test::every_serving();
  serving.network = NetworkState::kNoRecords;
  CHECK(says(report_of(serving), "The network is not captured: the bill ends where the text is made."));
  serving.energy_uj.reset();
  CHECK(says(report_of(serving), "Energy: not captured ("));
}

TEST_CASE("serving section: a window without requests says so, and a run without marks has no section") {
  Serving none;
  none.end_ns = 1000;
  CHECK(says(report_of(none), "No request is marked in the window"));
  CHECK_FALSE(says(report_of(std::nullopt), "Serving"));
}
