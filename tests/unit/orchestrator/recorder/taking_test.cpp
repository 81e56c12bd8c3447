// Where processes are told to open, and what is said of it afterwards.
#include "orchestrator/recorder/taking.h"

#include "tests/catch.h"

using namespace nl;
using namespace nl::orchestrator;

namespace {

constexpr Ns kMs = 1'000'000;

struct Said {
  std::int64_t next_step = -1, next_collective = -1, step_collectives = 0;
};

std::vector<Taking> processes_that_said(const std::vector<Said>& all) {
  std::vector<Taking> processes;
  for (const Said& said : all) {
    Taking taking{.link = ProcessLink("no such folder", 1)};
    taking.state = Taking::State::kMet;
    taking.process.has_steps = true;
    taking.next_step = said.next_step;
    taking.next_collective = said.next_collective;
    taking.step_collectives = said.step_collectives;
    taking.median_ns = 50 * kMs;
    processes.push_back(std::move(taking));
  }
  return processes;
}

WindowProcess opened_at(std::optional<std::int64_t> step, std::optional<std::int64_t> collective) {
  WindowProcess process;
  process.has_steps = true;
  process.opened_ns = 1;
  process.first_step = step;
  process.first_collective = collective;
  return process;
}

}  // namespace

TEST_CASE("taking: processes open a little ahead of the one that is the furthest") {
  const OpenAt marked = step_ahead(processes_that_said({{40}, {42}}));
  CHECK(marked.step == 42 + 5);  // five steps of 50 ms are more than the time in which all have heard of it
  CHECK(marked.collective == -1);
  const OpenAt called = step_ahead(processes_that_said({{-1, 300, 3}, {-1, 306, 3}}));
  CHECK(called.step == -1);
  CHECK(called.collective == 306 + 5 * 3);
}

TEST_CASE("taking: one process alone, or one that counts nothing, is told no number") {
  const OpenAt alone = step_ahead(processes_that_said({{40, 300, 3}}));
  CHECK(alone.step == -1);
  CHECK(alone.collective == -1);
  CHECK(step_ahead(processes_that_said({{-1, 300, 3}, {}})).collective == -1);
}

TEST_CASE("taking: processes whose steps call other collectives are told no number of them") {
  CHECK(step_ahead(processes_that_said({{-1, 300, 3}, {-1, 304, 4}})).collective == -1);   // stages, soon after they began
  CHECK(step_ahead(processes_that_said({{-1, 300, 3}, {-1, 3000, 3}})).collective == -1);  // too far apart to be the same ones
}

TEST_CASE("taking: a number that two processes share by chance is not what opened them") {
  const std::vector<WindowProcess> alike = {opened_at({}, 12), opened_at({}, 12)};
  CHECK(opening_of(alike, {-1, 12}) == WindowOpening::kCollective);
  CHECK(opening_of(alike, {}) == WindowOpening::kTime);
  CHECK(opening_of({opened_at({}, 12), opened_at({}, 15)}, {-1, 12}) == WindowOpening::kTime);
  CHECK(opening_of({opened_at(7, {}), opened_at(7, {})}, {7, -1}) == WindowOpening::kMark);
  CHECK(opening_of({opened_at(7, {}), opened_at(8, {})}, {7, -1}) == WindowOpening::kTime);
}
