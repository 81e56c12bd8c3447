#include "model/durations.h"

#include <algorithm>

#include "model/strings.h"
#include "tests/catch.h"

using namespace nl;

namespace {

std::vector<Ns> in_order(const Durations& durations) {
  std::vector<Ns> all = durations.values();
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

TEST_CASE("durations are kept whole, short and long, and counted") {
  Durations durations;
  for (const Ns each : {Ns{3}, Ns{0xFFFFFFFF}, Ns{0}}) durations.add(each);
  CHECK(durations.count() == 3);
  CHECK(durations.total_ns() == 3 + Ns{0xFFFFFFFF});
  CHECK(durations.all_short());
  durations.add(Ns{0x100000000});
  durations.add(-5);
  CHECK(durations.count() == 5);
  CHECK_FALSE(durations.all_short());
  std::vector<Ns> brief;
  durations.each_short([&](std::span<const std::uint32_t> some) { brief.insert(brief.end(), some.begin(), some.end()); });
  CHECK(brief == std::vector<Ns>{3, Ns{0xFFFFFFFF}, 0});
  CHECK(in_order(durations) == std::vector<Ns>{-5, 0, 3, Ns{0xFFFFFFFF}, Ns{0x100000000}});
}

TEST_CASE("more durations than a block holds, and those of another, are all there") {
  Durations durations, other, none;
  for (Ns each = 0; each < 40000; ++each) durations.add(each);
  for (Ns each = 40000; each < 40010; ++each) other.add(each);
  other.add(Ns{1} << 40);
  durations.append(std::move(other));
  durations.append(std::move(none));
  for (Ns each = 40010; each < 60000; ++each) durations.add(each);
  CHECK(durations.count() == 60001);
  CHECK(durations.total_ns() == 60000LL * 59999 / 2 + (Ns{1} << 40));
  const Durations copy = durations;
  CHECK(in_order(copy) == in_order(durations));
  const auto all = in_order(durations);
  REQUIRE(all.size() == 60001);
  bool each_once = true;
  for (std::size_t i = 0; i < 60000; ++i) each_once = each_once && all[i] == static_cast<Ns>(i);
  CHECK(each_once);
  CHECK(all.back() == Ns{1} << 40);
  CHECK(other.count() == 0);
  CHECK(other.values().empty());
  CHECK(other.total_ns() == 0);
}

TEST_CASE("a text of a trace is kept once, and the empty one is the first") {
  StringPool pool;
  CHECK(pool.size() == 1);
  CHECK(pool[StringId{}].empty());
  const StringId a = pool.intern("a"), b = pool.intern("b");
  CHECK(a != b);
  CHECK(a < b);
  for (int i = 0; i < 1000; ++i) pool.intern("text " + std::to_string(i));
  CHECK(pool.intern(std::string("a")) == a);
  CHECK(pool[b] == "b");
  CHECK(pool.intern("") == StringId{});
  CHECK(pool.size() == 1003);
}
