#include "analysis/figures/operators/types.h"

#include <vector>

#include "tests/catch.h"

using nl::OperatorDtypes;
using nl::analysis::count_arguments;
using nl::analysis::DtypeTable;

TEST_CASE("data types: by name and shapes, else by the number of arguments where it is clear") {
  const std::vector<OperatorDtypes> recorded = {{"aten::mm", "[[1, 2], [2, 2]]", "[bfloat16, bfloat16]"},
                                                {"aten::mm", "[[4, 2], [2, 2]]", "[float16, float16]"},
                                                {"aten::mul", "[[1, 2], []]", "[float32, int64]"},
                                                {"aten::mul", "[[3], [3]]", "[float32, int64]"},
                                                {"aten::sum", "[[3]]", "[int8]"},
                                                {"aten::sum", "[[3]]", "[int16]"}};
  const DtypeTable table(recorded);
  CHECK(table.of("aten::mm", "[[1, 2], [2, 2]]") == "[bfloat16, bfloat16]");
  CHECK(table.of("aten::mm", "[[9, 2], [2, 2]]").empty());  // two answers
  CHECK(table.of("aten::mul", "[[9, 9], [1]]") == "[float32, int64]");
  CHECK(table.of("aten::mul", "[[9, 9]]").empty());
  CHECK(table.of("aten::sum", "[[3]]").empty());  // the same call, with two answers
  CHECK(table.of("aten::add", "[[3]]").empty());
}

TEST_CASE("arguments are counted by their brackets") {
  CHECK(count_arguments("") == 0);
  CHECK(count_arguments("[]") == 0);
  CHECK(count_arguments("[[]]") == 1);
  CHECK(count_arguments("[[1, 2], [], [[3], [4]]]") == 3);
}
