#pragma once

#include "model/error.h"
#include "tests/catch.h"

namespace nl::test {

// The Error that an action throws; the test fails where it throws none.
template <class Action>
Error thrown_by(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  FAIL("nothing was thrown");
  return {ErrorKind::kInternal, ""};
}

}  // namespace nl::test
