#include "orchestrator/config/units.h"

#include "tests/catch.h"

using nl::orchestrator::bytes_in;
using nl::orchestrator::seconds_in;
using nl::orchestrator::share_in;

TEST_CASE("units: times") {
  CHECK(seconds_in("90") == 90);
  CHECK(seconds_in("90s") == 90);
  CHECK(seconds_in("100ms") == 0.1);
  CHECK(seconds_in("3m") == 180);
  CHECK(seconds_in("3 min") == 180);
  CHECK(seconds_in("1.5h") == 5400);
  for (const char* wrong : {"", "m", "-3m", "3 days", "3mm", "inf", "3m "}) {
    INFO(wrong);
    CHECK_FALSE(seconds_in(wrong));
  }
}

TEST_CASE("units: sizes, by 1000 and by 1024") {
  CHECK(bytes_in("4096") == 4096u);
  CHECK(bytes_in("2GB") == 2'000'000'000u);
  CHECK(bytes_in("1.5 GB") == 1'500'000'000u);
  CHECK(bytes_in("512MiB") == 512u << 20);
  CHECK(bytes_in("3kB") == 3000u);
  for (const char* wrong : {"", "GB", "2gigs", "-1", "2G", "1e30", "nan"}) {
    INFO(wrong);
    CHECK_FALSE(bytes_in(wrong));
  }
}

TEST_CASE("units: shares") {
  CHECK(share_in("5%") == 0.05);
  CHECK(share_in("2.5 %") == 0.025);
  CHECK(share_in("0.05") == 0.05);
  for (const char* wrong : {"", "%", "-5%", "5 percent"}) {
    INFO(wrong);
    CHECK_FALSE(share_in(wrong));
  }
}

TEST_CASE("units: one in so many") {
  CHECK(one_in("1/10") == 10);
  CHECK(one_in("1/1") == 1);
  CHECK(one_in("1/10000") == 10'000);
  for (const char* wrong : {"", "10", "0.1", "2/10", "1/0", "1/-3", "1/10001", "1/10x", "1/ 10", "10%"}) {
    INFO(wrong);
    CHECK_FALSE(one_in(wrong));
  }
}
