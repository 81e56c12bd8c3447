#include "orchestrator/session/session.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/figures/nodes/operator_figures.h"
#include "analysis/figures/nodes/session_figures.h"
#include "model/error.h"
#include "orchestrator/bundle/sha256.h"
#include "orchestrator/session/model_digest.h"
#include "parsers/ort/profile.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

using namespace nl;
using namespace nl::orchestrator;

namespace {

ModelSession every_session_value() {
  ModelSession session;
  session.backend = "onnxruntime";
  session.version = "1.21.0";
  session.provider = "cuda";
  session.precision = "fp16";
  session.model = "/models/m.onnx";
  session.digest = "sha256:12";
  session.weight_files = {"/models/m.bin"};
  session.weight_dtypes = {"float16", "int64"};
  session.inputs_from = "zeros";
  session.threads = 4;
  session.warmup = 2;
  session.load_ns = 5;
  session.inputs = {{"x", "float32", "[batch, 16]", {2, 16}}};
  session.outputs = {{"y", "int64", "[batch]", {2}}};
  session.unprofiled_ns = {10, 11};
  session.profiled_ns = {12, 13};
  session.host_times_known = false;
  session.idle_threads = 1;
  session.nodes = {
      {"/MatMul", "MatMul", "CUDAExecutionProvider", "[[2, 16]]", "[float32]", 0, {"/a", "/b"}, 7, "[[2]]", "[int64]", "/Loop#1/"},
      {"/If", "If", "", "", "", 1, {}}};
  session.runs = {{0, 0, 100, 7, {}}, {1, 1, 0, 8, 6}};
  session.notes = {"y: 1 of 2 values are NaN"};
  return session;
}

Config session_config(const std::vector<std::string>& sets) { return load_config({.runner_file = "profile", .sets = sets}); }

ErrorKind session_error(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.kind;
  }
  return ErrorKind::kInternal;
}

constexpr const char* kProfile = NL_FIXTURES "/onnxruntime/profile.json";
constexpr Ns kZero = 1'000'000'000;

// As a session leaves it: the record, and ONNX Runtime's profile of five iterations beside it.
std::filesystem::path recorded(const test::Folder& folder, std::uint32_t warmup, std::vector<OptimisedNode> graph) {
  ModelSession session;
  session.warmup = warmup;
  session.profile = SessionProfile{"session.profile.json", {kZero, 2 * kZero, 3 * kZero, 4 * kZero, 5 * kZero}, std::move(graph)};
  std::filesystem::copy_file(kProfile, folder / "session.profile.json");
  return folder.file("session.json", session_json(session));
}

}  // namespace

TEST_CASE("session record: what was written is read back") {
  const test::Folder folder;
  const ModelSession before = every_session_value();
  std::ofstream(folder.path / "session.json") << session_json(before);
  const ModelSession after = read_session(folder.path / "session.json");
  CHECK(session_json(after) == session_json(before));
  CHECK(after.inputs == before.inputs);
  CHECK(after.nodes == before.nodes);
  CHECK(after.runs == before.runs);
  CHECK(after.unprofiled_ns == before.unprofiled_ns);
  CHECK(after.idle_threads == 1u);
  CHECK_FALSE(after.host_times_known);
}

TEST_CASE("session record: one of an older bundle is read") {
  const test::Folder folder;
  auto record = nlohmann::json::parse(session_json(every_session_value()));
  record.erase("profile");
  for (auto& node : record["nodes"]) node.erase("inside");
  CHECK(read_session(folder.file("session.json", record.dump())).nodes.at(0).inside.empty());
}

// `import` reads the profile with the same reader; the session adds what the profile does not have.
TEST_CASE("session record: a profile gives the session the nodes, counts and times that import reads from it") {
  const test::Folder folder;
  const ModelSession imported = parsers::read_ort_profile(kProfile).session.value();
  const ModelSession session = read_session(recorded(folder, 0, {{"embed", "Gather", {"/embed/Cast", "/embed/Gather"}}}));
  REQUIRE(session.nodes.size() == imported.nodes.size());
  CHECK(session.nodes[0].holds == std::vector<std::string>{"/embed/Cast", "/embed/Gather"});
  for (std::size_t n = 0; n < session.nodes.size(); ++n) {
    SessionNode node = session.nodes[n];
    node.holds.clear();
    CHECK(node == imported.nodes[n]);
  }
  REQUIRE(session.runs.size() == imported.runs.size());
  for (std::size_t n = 0; n < session.runs.size(); ++n) {
    NodeRun run = imported.runs[n];
    run.start_ns += kZero * (run.iteration + 1);
    CHECK(session.runs[n] == run);
  }
  CHECK(session.threads == imported.threads);
  CHECK(session.idle_threads == imported.idle_threads);
  CHECK_FALSE(session.profile);
  const OperatorTable mine = analysis::table_of(session), theirs = analysis::table_of(imported);
  REQUIRE(mine.entries.size() == theirs.entries.size());
  for (std::size_t n = 0; n < mine.entries.size(); ++n) {
    CHECK(mine.entries[n].name == theirs.entries[n].name);
    CHECK(mine.entries[n].calls == theirs.entries[n].calls);
    CHECK(mine.entries[n].total_ns == theirs.entries[n].total_ns);
    CHECK(mine.entries[n].self_ns == theirs.entries[n].self_ns);
  }
}

TEST_CASE("session record: the warm-up of a profile is left out, with the nodes that nothing else ran") {
  const test::Folder folder;
  const ModelSession session = read_session(recorded(folder, 1, {}));
  CHECK(session.runs.size() == 4 * 51);
  CHECK(session.runs.back().iteration == 3);
  for (const SessionNode& node : session.nodes) CHECK(node.shapes.find("16, 64") == std::string::npos);  // of the 16 tokens of the first
}

TEST_CASE("session record: fusions of one name are told apart by their order, if all of them ran") {
  const std::string events =
      R"([{"cat" : "Node","pid" :1,"tid" :2,"dur" :1,"ts" :10,"name" :"F_kernel_time","args" : {"op_name" : "F","node_index" : "3"}},
{"cat" : "Node","pid" :1,"tid" :2,"dur" :1,"ts" :12,"name" :"F_kernel_time","args" : {"op_name" : "F","node_index" : "9"}},
{"cat" : "Session","pid" :1,"tid" :2,"dur" :9,"ts" :9,"name" :"model_run","args" : {}},
{"cat" : "Node","pid" :1,"tid" :2,"dur" :1,"ts" :22,"name" :"F_kernel_time","args" : {"op_name" : "F","node_index" : "9","input_type_shape" : [{"float":[2]}]}},
{"cat" : "Session","pid" :1,"tid" :2,"dur" :9,"ts" :20,"name" :"model_run","args" : {}}])";
  const test::Folder folder;
  const auto holds = [&](std::vector<OptimisedNode> graph) {
    ModelSession session;
    session.profile = SessionProfile{folder.file("p.json", events).string(), {0, 0}, std::move(graph)};
    read_profile(session);
    std::vector<std::vector<std::string>> all;
    for (const SessionNode& node : session.nodes) all.push_back(node.holds);
    return all;
  };
  using Holds = std::vector<std::vector<std::string>>;
  CHECK(holds({{"F", "F", {"/a"}}, {"F", "F", {"/b"}}}) == Holds{{"/a"}, {"/b"}, {"/b"}});  // the third differs in its shape alone
  CHECK(holds({{"F", "F", {"/a"}}, {"F", "F", {"/b"}}, {"F", "F", {"/c"}}}) == Holds{{}, {}, {}});
  CHECK(holds({}) == Holds{{}, {}, {}});
}

TEST_CASE("session record: kernels of fusions of one name belong to the node that launched them") {
  const test::Folder folder;
  const auto file = folder.file("p.json", R"([
{"cat" : "Node","pid" :1,"tid" :2,"dur" :1,"ts" :10,"name" :"F_kernel_time","args" : {"op_name" : "F","node_index" : "3"}},
{"cat" : "Kernel","pid" :-1,"tid" :-1,"dur" :4,"ts" :11,"name" :"first","args" : {"stream" : "7"}},
{"cat" : "Node","pid" :1,"tid" :2,"dur" :1,"ts" :12,"name" :"F_kernel_time","args" : {"op_name" : "F","node_index" : "9"}},
{"cat" : "Kernel","pid" :-1,"tid" :-1,"dur" :2,"ts" :16,"name" :"second","args" : {"stream" : "7"}},
{"cat" : "Session","pid" :1,"tid" :2,"dur" :9,"ts" :9,"name" :"model_run","args" : {}}])");
  const auto steps = analysis::node_steps(parsers::read_ort_profile(file));
  REQUIRE(steps.at(0).calls.size() == 2);
  CHECK(steps[0].calls[0].kernels.at(0).name == "first");
  CHECK(steps[0].calls[1].kernels.at(0).name == "second");
}

TEST_CASE("session record: a profile without all iterations is refused, a missing one too") {
  const test::Folder folder;
  ModelSession session;
  session.profile = SessionProfile{kProfile, std::vector<Ns>(6), {}};
  CHECK(session_error([&] { read_profile(session); }) == ErrorKind::kWorkload);
  const auto record = recorded(folder, 0, {});
  std::filesystem::remove(folder / "session.profile.json");
  CHECK(session_error([&] { read_session(record); }) == ErrorKind::kInput);
}

TEST_CASE("session record: a damaged one is refused with its place") {
  const test::Folder folder;
  const auto file = folder.path / "session.json";
  const std::string whole = session_json(every_session_value());
  for (const std::string& text :
       {std::string("{"), whole.substr(0, whole.size() / 2), std::string("{\"backend\": 1}"), std::string("[]")}) {
    std::ofstream(file, std::ios::trunc) << text;
    CHECK(session_error([&] { read_session(file); }) == ErrorKind::kInput);
  }
  ModelSession session = every_session_value();
  session.runs[0].node = 2;
  std::ofstream(file, std::ios::trunc) << session_json(session);
  CHECK(session_error([&] { read_session(file); }) == ErrorKind::kInput);
}

TEST_CASE("session: a configuration with a backend runs our own program") {
  const Config config = session_config({"session.backend=fake", "session.model=/m.txt", "session.dims=[batch=4, \"a,b=2\"]"});
  const auto& command = config.workload.command;
  REQUIRE(command.size() > 6);
  CHECK(std::vector<std::string>(command.begin() + 1, command.begin() + 6) ==
        std::vector<std::string>{"session", "--backend", "fake", "--model", "/m.txt"});
  CHECK(std::vector<std::string>(command.end() - 4, command.end()) == std::vector<std::string>{"--dim", "batch=4", "--dim", "a,b=2"});
  CHECK(config.run.stages == std::vector<std::string>{"inference"});
  CHECK_FALSE(config.mark.automatic);
  CHECK(config.composed_yaml.find("session --backend") == std::string::npos);  // it is made again from its keys
}

TEST_CASE("session: the stages of other runners get the iterations beside them") {
  const Config config = load_config({.runner_file = "deep", .sets = {"session.backend=fake", "session.model=/m"}});
  CHECK(config.run.stages == std::vector<std::string>{"prefill", "decode", "inference"});
}

TEST_CASE("session: a backend without a model, or beside a command") {
  CHECK(session_error([] { session_config({"session.backend=fake"}); }) == ErrorKind::kUsage);
  CHECK(session_error([] { load_config({.sets = {"session.backend=fake", "session.model=/m"}, .command = {"./workload"}}); }) ==
        ErrorKind::kUsage);
}

TEST_CASE("session: what is missing is said before anything runs") {
  const test::Folder folder;
  const std::string file = (folder.path / "m.txt").string();
  std::ofstream(file) << "sleep 0\n";
  ModelFileOptions options;
  CHECK_NOTHROW(check_session(options));  // there is a command
  options.backend = "tensorflow";
  CHECK(session_error([&] { check_session(options); }) == ErrorKind::kUsage);
  options.backend = "fake";
  options.model = "/no/such/file";
  CHECK(session_error([&] { check_session(options); }) == ErrorKind::kInput);
  options.model = folder.path.string();
  CHECK(session_error([&] { check_session(options); }) == ErrorKind::kInput);
  options.model = file;
  CHECK_NOTHROW(check_session(options));
  for (const char* wrong : {"batch", "=3", "batch=", "batch=x", "batch=-1", "batch=3x"}) {
    options.dims = {wrong};
    CHECK(session_error([&] { check_session(options); }) == ErrorKind::kUsage);
  }
  options.dims.clear();
  for (const char* wrong : {"x", "=2x16", "x=2xy"}) {
    options.shapes = {wrong};
    CHECK(session_error([&] { check_session(options); }) == ErrorKind::kUsage);
  }
  options.shapes = {"x=2x16:float32"};
  CHECK(session_error([&] { check_session(options); }) == ErrorKind::kUsage);  // the model has no inputs
  std::ofstream(file) << "input x float32 batch 16\n";
  CHECK_NOTHROW(check_session(options));
}

TEST_CASE("session: a model is measured and recorded") {
  const test::Folder folder;
  const auto model = folder.path / "m.txt", record = folder.path / "new" / "session.json";
  std::ofstream(model)
      << "input x float32 batch 2\noutput y float32 1\nnode a MatMul 2000\nnode b Add 500\nnan\nweights float16 4096\nweights int64 16\n";
  ModelFileOptions options;
  options.backend = "fake";
  options.model = model.string();
  options.dims = {"batch=3"};
  options.iterations = 4;
  options.warmup = 1;
  const ModelSession session = run_session(options, record);
  CHECK(session.inputs == std::vector<TensorInfo>{{"x", "float32", "[batch, 2]", {3, 2}}});
  CHECK(session.unprofiled_ns.size() == 4);
  REQUIRE(session.runs.size() == 8);  // without those of the warm-up
  CHECK(session.runs[0] == NodeRun{0, 0, 0, 2000, {}});
  CHECK(session.runs[7] == NodeRun{3, 1, 0, 500, {}});
  CHECK(session.notes == std::vector<std::string>{"y: 1 of 1 values are NaN"});
  CHECK(session.weight_dtypes == std::vector<std::string>{"float16", "int64"});
  if (libcrypto() != nullptr) CHECK(session.digest == "sha256:" + sha256_file(model));
  CHECK(session_json(read_session(record)) == session_json(session));
  CHECK(session_text(session).find("fake 1.0, cpu: 4 iterations, median ") == 0);
  CHECK(session_figures_json(session).find("\"iterations\": 4,") != std::string::npos);
}

TEST_CASE("session: one that fails leaves no record") {
  const test::Folder folder;
  const auto model = folder.path / "m.txt", record = folder.path / "session.json";
  std::ofstream(model) << "fail out of memory\n";
  ModelFileOptions options;
  options.backend = "fake";
  options.model = model.string();
  CHECK(session_error([&] { run_session(options, record); }) == ErrorKind::kWorkload);
  CHECK_FALSE(std::filesystem::exists(record));
}

TEST_CASE("model digest: of the file, of the files of its weights, and of parts of a large one") {
  if (libcrypto() == nullptr) NL_SKIP("no libcrypto");
  const test::Folder folder;
  std::string weights(70'000'000, 'w');
  const auto model = folder.file("m.onnx", "graph"), beside = folder.file("m.bin", weights);
  const std::string alone = model_digest(model, {}), with = model_digest(model, {beside.string()});
  CHECK(alone == "sha256:" + sha256_text("graph"));
  CHECK(with == "sha256:" + sha256_text(sha256_text("graph") + sha256_file(beside)));
  const std::string sampled = model_digest(beside, {}, 1000);
  CHECK(sampled.starts_with("sha256-sampled:"));
  CHECK(model_digest(model, {}, 1000) == alone);
  // Its first byte, its last, and one in between that a block holds; the size.
  for (const std::size_t place : {std::size_t{0}, weights.size() - 1, (weights.size() - (1 << 20)) / 63 * 31}) {
    CAPTURE(place);
    std::string other = weights;
    other[place] = 'x';
    CHECK(model_digest(folder.file("other.bin", other), {}, 1000) != sampled);
  }
  CHECK(model_digest(folder.file("other.bin", weights + "w"), {}, 1000) != sampled);
  CHECK(model_digest(folder.file("other.bin", weights), {}, 1000) == sampled);
  CHECK(model_digest(folder / "none", {}).empty());
  CHECK(model_digest(model, {(folder / "none").string()}).empty());
}
