#include "collector/duty/step_choice.h"

#include <map>
#include <random>
#include <set>
#include <vector>

#include "tests/catch.h"

using namespace nl::collector;
using Act = DutyState::Act;

namespace {

std::vector<bool> choices(std::uint32_t every, std::uint32_t row, std::uint64_t seed, std::size_t steps) {
  StepChooser chooser;
  chooser.start(every, seed);
  chooser.set_row(0, row);
  std::vector<bool> chosen;
  for (std::size_t i = 0; i < steps; ++i) chosen.push_back(chooser.next(0).now);
  return chosen;
}

// Steps one after another on one thread; what each opening and closing does, and whether tracing is on inside.
class Program {
 public:
  Program(std::uint32_t every, std::vector<std::uint32_t> rows) {
    state_.chooser().start(every, 5);
    for (unsigned kind = 0; kind < rows.size(); ++kind) state_.chooser().set_row(kind, rows[kind]);
  }
  void open(unsigned kind, std::uint64_t token) { apply(state_.opened(kind, token)); }
  void close(std::uint64_t token) { apply(state_.closed(token)); }
  bool step(unsigned kind) {
    open(kind, 1);
    const bool traced = on;
    close(1);
    return traced;
  }

  bool on = true;
  bool ending = false;
  int resumed = 0, paused = 0;

 private:
  void apply(Act act) {
    if (act == Act::kResume) on = true, ending = false, ++resumed;
    if (act == Act::kEnd) ending = true;
    if (act == Act::kPause) on = ending = false, ++paused;
  }
  DutyState state_;
};

}  // namespace

TEST_CASE("step choice: the first row, and then one row of each so many") {
  const std::vector<bool> chosen = choices(10, 16, 3, 16 + 160 * 50);
  for (std::size_t i = 0; i < 16; ++i) CHECK(chosen[i]);
  for (std::size_t block = 0; block < 50; ++block) {
    std::set<std::size_t> rows;
    for (std::size_t i = 0; i < 160; ++i)
      if (chosen[16 + block * 160 + i]) rows.insert(i / 16);
    CHECK(rows.size() == 1);
  }
  std::size_t all = 0;
  for (const bool each : chosen) all += each;
  CHECK(all == 16 + 50 * 16);
}

TEST_CASE("step choice: a kind with few steps is traced from its first one on") {
  const std::vector<bool> chosen = choices(10'000, 1, 3, 100);
  for (std::size_t i = 0; i < 100; ++i) CHECK(chosen[i] == (i < StepChooser::kLeastFirst));
}

TEST_CASE("step choice: each row is drawn as often as any other, and another seed draws others") {
  std::map<std::size_t, int> places;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const std::vector<bool> chosen = choices(5, 4, seed, 4 + 20);
    for (std::size_t row = 0; row < 5; ++row) places[row] += chosen[4 + row * 4];
  }
  for (std::size_t row = 0; row < 5; ++row) {
    CHECK(places[row] > 700);  // 800 expected, with a standard deviation of 25
    CHECK(places[row] < 900);
  }
  CHECK(choices(10, 4, 1, 4000) == choices(10, 4, 1, 4000));
  CHECK(choices(10, 4, 1, 4000) != choices(10, 4, 2, 4000));
}

TEST_CASE("step choice: kinds are drawn each on their own") {
  StepChooser chooser;
  chooser.start(10, 9);
  for (unsigned kind : {0u, 1u}) chooser.set_row(kind, 1);
  std::vector<bool> first, second;
  for (int i = 0; i < 1000; ++i) {
    first.push_back(chooser.next(0).now);
    second.push_back(chooser.next(1).now);
  }
  CHECK(first != second);
  CHECK_FALSE(chooser.next(StepChooser::kMostKinds).now);
}

TEST_CASE("duty: tracing is on in all steps of a row and off after it, switched once each") {
  Program program(10, {8});
  int traced = 0;
  for (int i = 0; i < 8 + 800; ++i) traced += program.step(0);
  CHECK(traced == 8 + 80);
  CHECK(program.paused >= 10);
  CHECK(program.paused <= 11);
  CHECK(program.resumed <= 10);
}

TEST_CASE("duty: other steps inside a row are traced with it, and a row that does not go on ends") {
  Program program(1000, {16, 1});
  for (int i = 0; i < 4; ++i) CHECK(program.step(1));
  CHECK_FALSE(program.on);  // each of them is a row
  for (int i = 0; i < 8; ++i) CHECK(program.step(0));
  CHECK(program.step(1));  // not chosen any more
  CHECK(program.on);
  for (int i = 0; i < 200; ++i) program.step(1);
  CHECK_FALSE(program.on);
}

TEST_CASE("duty: what began while tracing was on is traced to its end, on any thread") {
  Program program(1000, {1});
  for (std::uint64_t token : {10, 11, 12}) program.open(0, token);
  program.open(0, 13);
  program.open(0, 14);  // the fifth is not chosen: it began while others were traced
  for (std::uint64_t token : {10, 11, 12}) program.close(token);
  CHECK(program.on);
  program.close(13);
  CHECK(program.ending);
  program.open(0, 15);  // begins too late
  program.close(14);
  CHECK_FALSE(program.on);
  program.close(15);
  program.close(99);
  CHECK(program.paused == 1);
}

TEST_CASE("duty: whatever threads do, tracing ends only where nothing that counts is open") {
  std::mt19937 random(11);
  for (int run = 0; run < 50; ++run) {
    Program program(3, {2, 1, 4});
    std::map<std::uint64_t, bool> open;  // whether it counts: it began while tracing was on and not about to end
    std::size_t counted = 0;
    for (int i = 0; i < 2000; ++i) {
      const std::uint64_t token = 1 + random() % 6;
      if (const auto found = open.find(token); found != open.end()) {
        if (found->second) REQUIRE(program.on);
        open.erase(found);
        program.close(token);
      } else {
        program.open(static_cast<unsigned>(random() % 3), token);
        open[token] = program.on && !program.ending;
        counted += open[token];
      }
    }
    CHECK(counted > 200);
    CHECK(program.paused > 5);
  }
}
