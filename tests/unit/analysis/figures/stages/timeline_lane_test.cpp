#include "analysis/figures/stages/timeline.h"

#include "tests/catch.h"

namespace {

using nl::LaneKind;
using nl::Ns;
using nl::StringId;
using nl::analysis::LaneDrawing;
using nl::analysis::TimelineView;

// Start, end, name and how many it stands for.
struct Drawn {
  Ns start_ns, end_ns;
  std::uint32_t name, merged;
  bool operator==(const Drawn& other) const = default;
};

std::vector<Drawn> drawn(const LaneDrawing& lane) {
  std::vector<Drawn> all;
  for (const auto& slice : lane.slices) all.push_back({slice.start_ns, slice.end_ns, slice.name.value, slice.merged});
  return all;
}

}  // namespace

TEST_CASE("a view shows what lies in it, not what only touches it") {
  const TimelineView view{100, 200};
  CHECK(view.shows(50, 101));
  CHECK_FALSE(view.shows(50, 100));
  CHECK(view.shows(199, 300));
  CHECK_FALSE(view.shows(200, 300));
  CHECK(view.shows(50, 300));
}

TEST_CASE("slices are cut to the view and to the end of the one before") {
  const TimelineView view{100, 200};
  LaneDrawing lane(LaneKind::kGpu, "GPU 0 stream 7");
  lane.add(view, 50, 120, StringId{1});
  lane.add(view, 110, 150, StringId{2});
  lane.add(view, 130, 140, StringId{3});  // wholly behind the second
  lane.add(view, 130, 150, StringId{4});
  lane.add(view, 160, 160, StringId{5});  // an instant is kept, a second one at the same time is not
  lane.add(view, 160, 160, StringId{6});
  lane.add(view, 190, 250, StringId{7});
  CHECK(drawn(lane) == std::vector<Drawn>{{100, 120, 1, 1}, {120, 150, 2, 1}, {160, 160, 5, 1}, {190, 200, 7, 1}});
  CHECK(lane.left_out == 3);
  LaneDrawing instant(LaneKind::kGpu, "");
  instant.add(view, 100, 100, StringId{1});
  CHECK(instant.slices.size() == 1);
}

TEST_CASE("a hidden lane only counts") {
  LaneDrawing lane(LaneKind::kApi, "thread 5");
  lane.hidden = true;
  lane.add({0, 100}, 10, 20, StringId{1});
  lane.add({0, 100}, 30, 40, StringId{1});
  CHECK(lane.slices.empty());
  CHECK(lane.left_out == 2);
}

// Eight slices: three cells of 101 ns, each with room for a merged slice and the start of a long one.
TEST_CASE("with a limit, short slices of one cell become one with the name of the longest") {
  const TimelineView view{1000, 1300};
  LaneDrawing lane(LaneKind::kGpu, "");
  lane.count = 9;
  lane.set_limit(view, 8);
  lane.add(view, 1000, 1010, StringId{1});
  lane.add(view, 1020, 1050, StringId{2});
  lane.add(view, 1060, 1090, StringId{3});  // as long, but later
  lane.add(view, 1101, 1105, StringId{4});  // the first of the second cell
  lane.add(view, 1110, 1211, StringId{5});  // as long as a cell
  lane.add(view, 1211, 1215, StringId{6});
  lane.add(view, 1220, 1230, StringId{7});
  CHECK(drawn(lane) == std::vector<Drawn>{{1000, 1090, 2, 3}, {1101, 1105, 4, 1}, {1110, 1211, 5, 1}, {1211, 1230, 7, 2}});
  CHECK(lane.slices[0].longest_ns == 30);

  LaneDrawing roomy(LaneKind::kGpu, "");
  roomy.count = 8;
  roomy.set_limit(view, 8);
  roomy.add(view, 1000, 1010, StringId{1});
  roomy.add(view, 1020, 1050, StringId{2});
  CHECK(roomy.slices.size() == 2);

  LaneDrawing narrow(LaneKind::kGpu, "");
  narrow.count = 2;
  narrow.set_limit(view, 1);
  narrow.add(view, 1000, 1010, StringId{1});
  narrow.add(view, 1290, 1300, StringId{2});
  CHECK(drawn(narrow) == std::vector<Drawn>{{1000, 1300, 1, 2}});
}

// Of 30 slices the quiet lanes need 2 and 3, which leaves 25 for the crowded one: 11 cells of 101 ns.
TEST_CASE("quiet lanes leave their share to the crowded one") {
  const TimelineView view{0, 1100};
  LaneDrawing crowded(LaneKind::kGpu, ""), two(LaneKind::kGpu, ""), three(LaneKind::kGpu, "");
  crowded.count = 100;
  two.count = 2;
  three.count = 3;
  nl::analysis::share_slices(view, 30, {&crowded, &two, &three});
  for (Ns at = 0; at < 1100; at += 11) crowded.add(view, at, at + 11, StringId{1});
  for (const Ns at : {0, 1}) two.add(view, at, at + 1, StringId{1});
  for (const Ns at : {0, 1, 2}) three.add(view, at, at + 1, StringId{1});
  CHECK(crowded.slices.size() == 11);
  CHECK(two.slices.size() == 2);
  CHECK(three.slices.size() == 3);
}
