#pragma once

#include "model/serving.h"

namespace nl::test {

// A bill in which no two members have the same value. A part of every_value_run().
Serving every_serving();

}  // namespace nl::test
