#include "adapters/tensorrt/libraries.h"
#include "tests/catch.h"

using nl::adapters::tensorrt::Log;
using Severity = nvinfer1::ILogger::Severity;

TEST_CASE("the log of TensorRT keeps errors, each once, the first two and the last three", "[tensorrt]") {
  Log log;
  log.log(Severity::kWARNING, "no error");
  for (const char* line : {"a", "b", "b", "c", "d", "e", "f"}) log.log(Severity::kERROR, line);
  log.log(Severity::kINTERNAL_ERROR, "g");
  CHECK(log.take_errors() == "a; b; e; f; g");
  CHECK(log.take_errors().empty());
  CHECK(quoted(log).empty());
}
