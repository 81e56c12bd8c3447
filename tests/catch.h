#pragma once

// Catch2 version 2 or 3, whichever the machine has, and a SKIP that both understand:
//   TEST_CASE("…") { if (!have_gpu()) NL_SKIP("no GPU"); … }
// A case tagged [!shouldfail] shows a known fault: it counts as passed while it fails, and as failed once it does not.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#include <string>

namespace nl::test {
bool record_skip(const std::string& reason);  // main.cpp counts and prints them; true: the case is expected to fail
}

// What is expected to fail and does not run has to fail nevertheless, or Catch2 complains.
#define NL_SKIP(reason)                                \
  do {                                                 \
    if (::nl::test::record_skip(reason)) FAIL(reason); \
    SUCCEED(reason);                                   \
    return;                                            \
  } while (false)
