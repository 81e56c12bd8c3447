#pragma once

// Catch2 version 2 or 3, whichever the machine has, and a SKIP that both understand:
//   TEST_CASE("…") { if (!have_gpu()) NL_SKIP("no GPU"); … }
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#include <string>

namespace nl::test {
void record_skip(const std::string& reason);  // main.cpp counts and prints them
}

#define NL_SKIP(reason)                 \
  do {                                  \
    ::nl::test::record_skip(reason);    \
    SUCCEED(reason);                    \
    return;                             \
  } while (false)
