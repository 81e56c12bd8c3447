#pragma once

#include "model/run.h"

namespace nl::test {

// A run in which every field has a value that no other field has.
Run every_value_run();

}  // namespace nl::test
