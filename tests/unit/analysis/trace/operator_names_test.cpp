#include "analysis/trace/operator_names.h"

#include "tests/catch.h"

using namespace nl;
using namespace nl::analysis;

TEST_CASE("running numbers and shapes of PyTorch's ranges come off, in every spelling") {
  struct Case {
    const char *range, *name, *shape;
  };
  // The first three from nsys_pytorch_ops.sqlite, the rest as older PyTorch wrote them.
  const Case cases[] = {
      {"aten::mm, op_id = 276, sizes = [[1, 1024], [1024, 1024]], input_op_ids = [(1095,0), (0,-1)]", "aten::mm",
       "[[1, 1024], [1024, 1024]]"},
      {"aten::detach_, seq = 3, op_id = 12, sizes = [[32]], input_op_ids = [(1,0)]", "aten::detach_", "[[32]]"},
      {"torchvision::_cuda_version, op_id = 1", "torchvision::_cuda_version", ""},
      {"aten::add, seq = 7", "aten::add", ""},
      {"AddBackward0, stashed seq = 7", "AddBackward0", ""},
      {"mul, stashed seq=7, sizes=[[2], []]", "mul", "[[2], []]"},
      {"aten::cat,op_id=5,sizes=[[[1, 2], [3]]]", "aten::cat", "[[[1, 2], [3]]]"},
      {"aten::empty, op_id = 9, sizes = []", "aten::empty", ""},
  };
  for (const Case& c : cases) {
    const OperatorName split = split_operator_name(c.range);
    CHECK(split.name == c.name);
    CHECK(split.shape == c.shape);
    CHECK(split.numbered);
  }
}

TEST_CASE("other names stay as they are") {
  for (const char* name : {"attention", "f(a, b)", "x, sequence = 3", "seq = 3", ", ", "", "a, op_id", "rows = 3, sizes: [1]"}) {
    const OperatorName split = split_operator_name(name);
    CHECK_FALSE(split.numbered);
    CHECK(split.shape.empty());
  }
  CHECK(split_operator_name("f(a, b)").name == "f(a, b)");
  CHECK(split_operator_name("f<a, b>, op_id = 1").name == "f<a, b>");
}

TEST_CASE("a shape that is cut off is no shape") {
  CHECK(split_operator_name("aten::mm, op_id = 1, sizes = [[1, 10").shape.empty());
  CHECK(split_operator_name("aten::mm, op_id = 1, sizes = [[1, 10").name == "aten::mm");
  CHECK(split_operator_name("aten::mm, sizes = ]]").shape.empty());
  CHECK(split_operator_name("aten::mm, sizes =").shape.empty());
}

TEST_CASE("a layer's name and class") {
  CHECK(split_layer_name("model.layers.0.mlp|LlamaMLP").name == "model.layers.0.mlp");
  CHECK(split_layer_name("model.layers.0.mlp|LlamaMLP").type == "LlamaMLP");
  CHECK(split_layer_name("model.norm").name == "model.norm");
  CHECK(split_layer_name("model.norm").type.empty());
  CHECK(split_layer_name("|").name.empty());
}

TEST_CASE("blanks around names, keys and values come off") {
  const OperatorName split = split_operator_name("aten::mm   ,   op_id   =   5  ,  sizes  =  [[1, 2]]  ");
  CHECK(split.name == "aten::mm");
  CHECK(split.shape == "[[1, 2]]");
  CHECK(split.numbered);
}
