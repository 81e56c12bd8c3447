#include "parsers/facts/facts.h"

#include "tests/catch.h"
#include "tests/unit/files.h"

using nl::OperatorDtypes;
using nl::parsers::read_dtypes;

TEST_CASE("dtypes: each combination once, over all processes") {
  const nl::test::Folder folder;
  folder.file("dtypes-1.json", R"({"operators": [{"name": "aten::mm", "shapes": "[[1, 2], [2, 2]]", "dtypes": "[float16, float16]"},
                                                 {"name": "aten::add", "shapes": "[[2], []]", "dtypes": "[float32, int64]"}]})");
  folder.file("dtypes-2.json", R"({"operators": [{"name": "aten::mm", "shapes": "[[1, 2], [2, 2]]", "dtypes": "[float16, float16]"},
                                                 {"name": "aten::mm", "shapes": "[[1, 2], [2, 2]]", "dtypes": "[bfloat16, bfloat16]"}]})");
  folder.file("facts-1.json", R"({"operators": [{"name": "aten::no", "shapes": "", "dtypes": "[int8]"}]})");
  const auto recorded = read_dtypes(folder.path);
  CHECK(recorded.operators == std::vector<OperatorDtypes>{{"aten::add", "[[2], []]", "[float32, int64]"},
                                                          {"aten::mm", "[[1, 2], [2, 2]]", "[bfloat16, bfloat16]"},
                                                          {"aten::mm", "[[1, 2], [2, 2]]", "[float16, float16]"}});
  CHECK(recorded.notes.empty());
}

TEST_CASE("dtypes: rows without a name or types are left out, and a file that is cut is named") {
  const nl::test::Folder folder;
  CHECK(read_dtypes(folder.path / "not there").operators.empty());
  folder.file("dtypes-1.json",
              R"({"operators": [7, {"name": "aten::mm"}, {"shapes": "[]", "dtypes": "[int8]"}, {"name": "aten::x", "dtypes": "[int8]"}]})");
  folder.file("dtypes-2.json", R"({"operators": [)");
  folder.file("dtypes-3.json", R"({"operators": 3})");
  const auto recorded = read_dtypes(folder.path);
  CHECK(recorded.operators == std::vector<OperatorDtypes>{{"aten::x", "", "[int8]"}});
  CHECK(recorded.notes == std::vector<std::string>{"dtypes-2.json is no whole JSON", "dtypes-3.json is no whole JSON"});
}
