#include "parsers/ort/profile.h"

#include <fstream>
#include <set>

#include "model/error.h"
#include "parsers/registry.h"
#include "tests/catch.h"
#include "tests/unit/parsers/scratch_file.h"
#include "tests/unit/remark_texts.h"

using namespace nl;
using namespace nl::parsers;
using nl::test::ScratchFile;

namespace {

Trace read_profile(const std::string& text) {
  const ScratchFile file(text);
  return read_ort_profile(file.path);
}

std::string fixture() {
  std::ifstream stream(NL_FIXTURES "/onnxruntime/profile.json", std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<Range> ranges_of(const Trace& trace, const std::string& domain) {
  std::vector<Range> out;
  for (const Range& range : trace.ranges)
    if (trace.strings[range.domain] == domain) out.push_back(range);
  return out;
}

}  // namespace

// 255 nodes and 12 session events, 5 of them model_run:
//   python3 -c "import json, collections; print(collections.Counter(e['name'] if e['cat'] == 'Session' else 'Node' for e in json.load(open('profile.json'))))"
TEST_CASE("a profile of a real ONNX Runtime") {
  const Trace trace = read_ort_profile(NL_FIXTURES "/onnxruntime/profile.json");
  CHECK(trace.stats.source_format == nl::SourceFormat::kOnnxRuntime);
  CHECK(trace.stats.rows_damaged.empty());
  CHECK(trace.stats.rows_read.at("Node") == 255);
  CHECK(trace.stats.rows_read.at("Session") == 12);
  CHECK(nl::test::texts_of(trace.stats.notes) == std::vector<std::string>{"255 nodes ran in CPUExecutionProvider."});
  CHECK_FALSE(trace.has_kernel_data);
  CHECK(trace.has_range_data);
  const auto nodes = ranges_of(trace, "onnxruntime");
  REQUIRE(nodes.size() == 255);
  CHECK(trace.strings[nodes[0].name] == "Gather, sizes = [[320, 64], [1, 16]]");
  CHECK(nodes[0].start_ns == 8218000);
  CHECK(nodes[0].end_ns == 8292000);
  std::size_t runs = 0;
  for (const Range& range : ranges_of(trace, "onnxruntime.session")) runs += trace.strings[range.name] == "model_run";
  CHECK(runs == 5);
  CHECK(trace.duration_ns == (11377 + 597) * 1000);
}

TEST_CASE("a profile without its end is kept and says so") {
  const std::string whole = fixture();
  const Trace trace = read_profile(whole.substr(0, whole.size() / 2));
  CHECK(ranges_of(trace, "onnxruntime").size() > 100);
  CHECK(ranges_of(trace, "onnxruntime").size() < 200);
  REQUIRE(trace.stats.notes.size() == 2);
  CHECK(trace.stats.notes[1].code == nl::Code::kProfileCutShort);
  CHECK(nl::text_of(trace.stats.notes[1]).find("its process ended early") != std::string::npos);
  const std::size_t bracket = whole.rfind(']');
  CHECK(ranges_of(read_profile(whole.substr(0, bracket)), "onnxruntime").size() == 255);
}

// As ONNX Runtime's own pull request 8406 shows what its CUDA provider writes; there was none to run here.
TEST_CASE("kernels of the CUDA provider belong to the node that they follow") {
  const Trace trace = read_profile(R"([
{"cat" : "Session","pid" :5,"tid" :6,"dur" :200,"ts" :0,"ph" : "X","name" :"model_run","args" : {}},
{"cat" : "Node","pid" :5,"tid" :6,"dur" :24,"ts" :100,"ph" : "X","name" :"Add_0_fence_before","args" : {"op_name" : "Add"}},
{"cat" : "Node","pid" :5,"tid" :6,"dur" :20,"ts" :150,"ph" : "X","name" :"Mul_1_kernel_time","args" : {"op_name" : "Mul"}},
{"cat" : "Kernel","pid" :-1,"tid" :-1,"dur" :6,"ts" :190,"ph" : "X","name" :"MulKernel","args" : {"op_name" : "Mul","stream" : "13","block_x" : "64","grid_x" : "4"}},
{"cat" : "Node","pid" :5,"tid" :6,"dur" :20,"ts" :110,"ph" : "X","name" :"Add_0_kernel_time","args" : {"op_name" : "Add"}},
{"cat" : "Kernel","pid" :-1,"tid" :-1,"dur" :4,"ts" :180,"ph" : "X","name" :"BinaryElementWiseKernel","args" : {"op_name" : "Add","stream" : "13","block_x" : "256","grid_x" : "1","grid_y" : "2","grid_z" : "3","block_y" : "1","block_z" : "1"}},
{"cat" : "Kernel","pid" :-1,"tid" :-1,"dur" :1,"ts" :185,"ph" : "X","name" :"MemcpyDeviceToHost","args" : {"stream" : "13","grid_x" : "-1"}}])");
  REQUIRE(trace.kernels.size() == 2);
  REQUIRE(trace.mem_ops.size() == 1);
  CHECK(trace.has_kernel_data);
  const KernelShape& shape = trace.shapes[trace.kernels[1].shape];
  CHECK(shape.grid == Dim3{1, 2, 3});
  CHECK(shape.block == Dim3{256, 1, 1});
  CHECK(trace.queues[trace.kernels[1].queue].stream == 13);
  REQUIRE(trace.api_calls.size() == 2);
  CHECK(trace.api_calls[0].start_ns == 110000);  // in order, though the nodes were not
  CHECK(trace.kernels[1].api == 0);
  CHECK(trace.kernels[0].api == 1);
  CHECK(trace.mem_ops[0].api == 0);
  REQUIRE(trace.mem_ops[0].queue < trace.queues.size());
  CHECK(trace.queues[trace.mem_ops[0].queue].stream == 13);
  CHECK(trace.mem_ops[0].kind == MemOpKind::kDeviceToHost);
  CHECK(ranges_of(trace, "onnxruntime").size() == 2);
  CHECK(trace.api_stats.empty());  // calls were not captured
}

TEST_CASE("damaged events of a profile are counted") {
  const Trace trace = read_profile(R"([{"cat" : "Node","pid" :5,"tid" :6,"ts" :1,"name" :"a_kernel_time"},
    {"cat" : "Node","pid" :5,"tid" :6,"dur" :-3,"ts" :1,"name" :"a_kernel_time"}, {"cat" : "Node","dur" :3,"ts" :1,"name" :"a_kernel_time"},
    {"cat" : "Node","pid" :5,"tid" :6,"dur" :3,"ts" :1,"name" :"a_kernel_time","args" : {"input_type_shape" : [{"float":["x"]}]}}, {"cat" "x"}, 3])");
  CHECK(trace.ranges.size() == 1);
  CHECK(trace.strings[trace.ranges[0].name] == "a");
  CHECK(trace.stats.rows_damaged.size() == 5);
}

TEST_CASE("sizes that are no list are left out") {
  const Trace trace =
      read_profile(R"([{"cat" : "Node","pid" :5,"tid" :6,"dur" :3,"ts" :1,"name" :"a_kernel_time","args" : {"input_type_shape" : 3}},
    {"cat" : "Node","pid" :5,"tid" :6,"dur" :3,"ts" :9,"name" :"b_kernel_time","args" : {"op_name" : "Add", "input_type_shape" : [{"float":[2,3]},{"int64":[]}]}}])");
  REQUIRE(trace.ranges.size() == 2);
  CHECK(trace.strings[trace.ranges[0].name] == "a");
  CHECK(trace.strings[trace.ranges[1].name] == "Add, sizes = [[2, 3], []]");
  CHECK(trace.stats.rows_damaged.empty());
}

TEST_CASE("what is no profile is refused") {
  for (const char* text : {"", "{}", "[{\"cat\": \"kernel\"}]", "{\"traceEvents\": []}"}) {
    INFO(text);
    CHECK_THROWS_AS(read_profile(text), Error);
  }
  CHECK(read_profile("[").ranges.empty());  // a session that had nothing to say yet
}

TEST_CASE("no flipped byte of a profile does harm") {
  const std::string text = fixture().substr(0, 4000);
  ScratchFile file("");
  for (std::size_t i = 0; i < text.size(); i += 31) {
    for (const char byte : {'"', '}', ']', '\\', '\xff'}) {
      std::string broken = text;
      broken[i] = byte;
      try {
        file.write(broken);
        read_ort_profile(file.path);
      } catch (const Error& error) {
        CHECK(error.kind == ErrorKind::kInput);
      }
    }
  }
}

namespace nl::parsers {
extern const Format kOrtFormat;
}

TEST_CASE("a profile without a single event is not imported: nothing was measured") {
  for (const char* text : {"[", "[]", "[\n"}) {
    INFO(text);
    const ScratchFile file(text);
    try {
      kOrtFormat.read({file.path});
      FAIL("it was read");
    } catch (const Error& error) {
      CHECK(error.kind == ErrorKind::kInput);
      CHECK(error.message == "the profile of ONNX Runtime has no events");
    }
  }
}
