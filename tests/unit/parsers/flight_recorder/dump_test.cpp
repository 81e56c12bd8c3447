#include "parsers/flight_recorder/dump.h"

#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/parsers/flight_recorder/made_dumps.h"

using namespace nl;
using namespace nl::parsers;
using nl::test::MadeDumps;
using nl::test::ScratchFile;

namespace {

const CallForm& form_of(const FlightDump& dump, std::size_t call) { return dump.forms[dump.calls[call].form]; }

void check_same(const FlightDump& a, const FlightDump& b) {
  CHECK(a.groups == b.groups);
  REQUIRE(a.calls.size() == b.calls.size());
  for (std::size_t i = 0; i < a.calls.size(); ++i) {
    CHECK(a.calls[i].record == b.calls[i].record);
    CHECK(a.calls[i].sequence == b.calls[i].sequence);
    CHECK(a.calls[i].peer_sequence == b.calls[i].peer_sequence);
    CHECK(a.calls[i].state == b.calls[i].state);
    CHECK(a.calls[i].created_ns == b.calls[i].created_ns);
    CHECK(a.calls[i].point_to_point == b.calls[i].point_to_point);
    CHECK(form_of(a, i) == form_of(b, i));
  }
}

Error refusal(const std::string& content) {
  const ScratchFile file(content);
  try {
    read_flight_dump(file.path);
  } catch (const Error& error) {
    return error;
  }
  FAIL("it was read");
  throw;
}

}  // namespace

TEST_CASE("flight dump: calls, forms, groups and frames of PyTorch's own pickle") {
  const MadeDumps made("hang");
  const FlightDump dump = read_flight_dump(made.dump(0));
  CHECK(dump.version == "2.10");
  REQUIRE(dump.groups.size() == 1);
  CHECK(dump.groups[0] == DumpGroup{"0", "default_pg", {0, 1, 2, 3}});
  REQUIRE(dump.calls.size() == 5);
  CHECK(dump.forms.size() == 1);  // one form of five calls
  CHECK(form_of(dump, 4).kind == "all_reduce");
  CHECK(form_of(dump, 4).inputs == std::vector<std::vector<std::int64_t>>{{1024}});
  CHECK(form_of(dump, 4).input_dtypes == std::vector<std::string>{"Float"});
  CHECK(dump.calls[3].state == CallState::kCompleted);
  CHECK(dump.calls[4].state == CallState::kStarted);
  CHECK(dump.calls[4].sequence == 5);
  CHECK(dump.calls[4].record == 4);
  CHECK(dump.calls[4].created_ns == 1'763'000'000'004'000'000);
  const auto& stack = dump.stacks[dump.calls[4].stack];
  REQUIRE(stack.size() == 2);
  CHECK(stack[1] == CallFrame{"step", "/code/train.py", 20});
  CHECK_FALSE(dump.begins_late());
  CHECK(dump.has_every_call());
  CHECK(dump.damaged_calls == 0);
}

TEST_CASE("flight dump: pickles of every protocol and JSON say the same") {
  for (const char* scene : {"hang", "chain", "batch", "free_sizes"}) {
    const MadeDumps torch(scene), json(scene, "--format json");
    for (const char* protocol : {"2", "3", "4", "5"}) {
      INFO(scene << " " << protocol);
      const MadeDumps python(scene, std::string("--format ") + protocol);
      check_same(read_flight_dump(torch.dump(1)), read_flight_dump(python.dump(1)));
    }
    const FlightDump plain = read_flight_dump(json.folder / "rank_1.json");
    check_same(read_flight_dump(torch.dump(1)), plain);
    CHECK(plain.stacks.size() == 1);  // JSON has no frames
  }
}

TEST_CASE("flight dump: a batch is as far as the call that stands for it") {
  const MadeDumps made("batch");
  const FlightDump dump = read_flight_dump(made.dump(0));
  for (const RecordedCall& call : dump.calls) CHECK(call.state == CallState::kCompleted);
  CHECK(dump.calls.back().point_to_point);  // its parts are
  CHECK(dump.forms[dump.calls[7].form].rule == CallRule::kSend);
  CHECK(dump.forms[dump.calls[7].form].peer == 1u);
}

TEST_CASE("flight dump: a ring that turned round, and a dump of open calls only") {
  const MadeDumps late("hang", "--keep 2"), active("hang", "--active"), none("healthy", "--active --format json");
  const FlightDump ring = read_flight_dump(late.dump(0)), open = read_flight_dump(active.dump(0)), empty = read_flight_dump(active.dump(2));
  CHECK(ring.begins_late());
  CHECK(ring.has_every_call());
  CHECK(open.calls.size() == 1);
  CHECK(empty.calls.empty());
  CHECK(empty.calls_dumped);
  CHECK_FALSE(read_flight_dump(none.folder / "rank_0.json").calls_dumped);
}

TEST_CASE("flight dump: files are known by their content") {
  const MadeDumps made("hang"), json("hang", "--format json");
  CHECK(is_flight_dump(FileHead(made.dump(0))));
  CHECK(is_flight_dump(FileHead(json.folder / "rank_0.json")));
  for (const char* other : {"", "\x80\x02}.", "{\"traceEvents\": []}", "pg_config", "[1, 2]"}) {
    const ScratchFile file{std::string_view(other)};
    CHECK_FALSE(is_flight_dump(FileHead(file.path)));
  }
}

TEST_CASE("flight dump: what is none, empty, cut or of another version is refused with a next step") {
  CHECK(refusal("").message == "the file is empty");
  CHECK(refusal("\x80\x02}.").message == "the file is no dump of PyTorch's flight recorder: it has no version and no pg_config");
  CHECK(refusal("[]").message == "the file is no dump of PyTorch's flight recorder: it has no version and no pg_config");
  CHECK(refusal(R"({"version": "3.0", "pg_config": {}})").message == "the dump is of version 3.0, and 2.x is read");
  const Error cut = refusal(R"({"version": "2.4", "pg_con)");
  CHECK(cut.message.starts_with("the JSON is damaged"));
  CHECK(cut.where.find(", byte ") != std::string::npos);
  CHECK(refusal(R"({"version": "2.4", "pg_config": )" + std::string(1000, '[') + std::string(1000, ']') + "}").message ==
        "the JSON is nested more than 128 deep");
  for (const Error& error : {refusal(""), refusal("[]"), cut}) CHECK_FALSE(error.fix.empty());
}

TEST_CASE("flight dump: an entry that lacks its number, state or group is counted, values of other kinds are not taken") {
  const auto entry = [](const std::string& members) {
    return R"({"record_id": 0, "collective_seq_id": 1, "state": "completed", "process_group": ["0", "x"], "profiling_name": "nccl:barrier")" +
           members + "}";
  };
  const ScratchFile file(R"({"version": "2.4", "pg_config": {"0": {"name": "0", "desc": "x", "ranks": "[0, 1]"}, "1": 7}, "entries": [)" +
                         entry("") + ", " + entry(R"(, "state": "lost")") + ", " + entry(R"(, "record_id": -1)") + ", " +
                         entry(R"(, "record_id": 18446744073709551615)") + ", " + entry(R"(, "process_group": [])") + ", " +
                         entry(R"(, "frames": 3, "input_sizes": "x", "input_dtypes": [7], "is_p2p": 1)") + R"(, 5, null, {}]})");
  const FlightDump dump = read_flight_dump(file.path);
  CHECK(dump.calls.size() == 2);
  CHECK(dump.damaged_calls == 7);
  CHECK(form_of(dump, 0).kind == "barrier");
  CHECK(dump.stacks[dump.calls[1].stack].empty());
}
