#include "adapters/inputs.h"
#include "tests/unit/adapters/onnxruntime/models.h"

using namespace nl;
using namespace nl::adapters;
using namespace nl::test;

TEST_CASE("ONNX Runtime: a profiled session hands its profile over") {
  NL_NEEDS_ONNXRUNTIME();
  Folder scratch;
  const ModelSession session = measure(onnxruntime(), measure_options(made_model("linear.onnx"), scratch));
  REQUIRE(session.profile);
  CHECK(std::filesystem::path(session.profile->file).parent_path() == scratch.path);
  CHECK(has(read_text(session.profile->file), "_kernel_time"));
  CHECK(session.profile->zero_ns.size() == 3 + 1);  // with the warm-up
  CHECK_FALSE(session.profile->graph.empty());
  CHECK(session.nodes.empty());
}

TEST_CASE("ONNX Runtime: external data and int64 inputs are run") {
  NL_NEEDS_ONNXRUNTIME();
  Folder scratch;
  const auto linear = opened_session(made_model("external.onnx"), scratch), inside = opened_session(made_model("linear.onnx"), scratch);
  for (const auto& session : {linear.get(), inside.get()}) {
    session->bind(make_inputs(session->inputs(), "random", 1, {{"batch", 2}}));
    session->run();
  }
  CHECK(linear->results().at(0).data == inside->results().at(0).data);
  const auto tokens = opened_session(made_model("tokens.onnx"), scratch);
  CHECK(tokens->inputs().at(0).dtype == "int64");
  tokens->bind(make_inputs(tokens->inputs(), "random", 1, {{"batch", 1}, {"seq", 2}}));
  tokens->run();
  CHECK(tokens->results().at(0).shape == std::vector<std::int64_t>{1, 2, 16});
}
