#include "servers/http/rate.h"

#include "tests/catch.h"

using nl::servers::http::RateLimit;
using namespace std::chrono_literals;

TEST_CASE("serve rate: so many a second and twice as many at once, each client for itself") {
  RateLimit limit(10);
  const auto begin = RateLimit::Clock::now();
  for (int i = 0; i < 20; ++i) CHECK(limit.allows("10.0.0.1", begin));
  CHECK_FALSE(limit.allows("10.0.0.1", begin));
  CHECK(limit.allows("10.0.0.2", begin));
  CHECK_FALSE(limit.allows("10.0.0.1", begin + 50ms));
  CHECK(limit.allows("10.0.0.1", begin + 200ms));
  for (int i = 0; i < 20; ++i) CHECK(limit.allows("10.0.0.1", begin + 1h));  // never more than twice
  CHECK_FALSE(limit.allows("10.0.0.1", begin + 1h));
}

TEST_CASE("serve rate: the addresses of one IPv6 network are one client, and 0 is no limit") {
  RateLimit limit(1);
  const auto begin = RateLimit::Clock::now();
  CHECK(limit.allows("2001:db8:1:2:3:4:5:6", begin));
  CHECK(limit.allows("2001:db8:1:2:aaaa:4:5:6", begin));
  CHECK_FALSE(limit.allows("2001:db8:1:2:bbbb:4:5:6", begin));
  CHECK(limit.allows("2001:db8:1:3:3:4:5:6", begin));
  RateLimit none(0);
  for (int i = 0; i < 1000; ++i) CHECK(none.allows("10.0.0.1", begin));
}

TEST_CASE("serve rate: many clients do not fill the memory") {
  RateLimit limit(1);
  const auto begin = RateLimit::Clock::now();
  for (int i = 0; i < 50'000; ++i) limit.allows("client " + std::to_string(i), begin);
  CHECK(limit.allows("another", begin));
}
