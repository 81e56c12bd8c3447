#include "exporters/load/records.h"

#include <nlohmann/json.hpp>

#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/load/random_load.h"

using namespace nl;
using nlohmann::json;

namespace {

std::string text_of(const LoadRun& run) {
  std::string text;
  exporters::write_load_records(run, [&](std::string_view piece) { text += piece; });
  return text;
}

std::string complaint_of(const std::string& text) {
  try {
    exporters::read_load_records(text, "load.json");
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kInput);
    return error.where + ": " + error.message;
  }
  return "";
}

}  // namespace

TEST_CASE("load records: what is written is read back, to the nanosecond") {
  LoadRun run = test::random_load(11, 80);
  run.endpoint = LoadEndpoint::kChat;
  run.epoch_offset_ns = 1'700'000'000'000'000'000;
  run.created_at = "2026-11-19T00:00:00Z";
  run.interrupted = true;
  run.requests[3].token_ns = {*run.requests[3].sent_ns + 5, *run.requests[3].sent_ns + 9};
  run.requests[4].outcome = RequestOutcome::kNotSent;
  run.requests[4].sent_ns.reset();
  run.requests[4].end_ns.reset();
  run.requests[4].chunks.clear();
  run.requests[5].http_status = 503;
  run.requests[5].error = "too\nmany \"requests\" \xff";
  const std::string text = text_of(run);
  CHECK(exporters::is_load_records(text));
  const LoadRun back = exporters::read_load_records(text, "load.json");
  CHECK(back.requests.size() == 80);
  for (std::size_t i = 0; i < 80; ++i) {
    const LoadRequest &a = run.requests[i], &b = back.requests[i];
    CHECK((a.sent_ns == b.sent_ns && a.end_ns == b.end_ns && a.scheduled_ns == b.scheduled_ns && a.first_byte_ns == b.first_byte_ns));
    CHECK((a.outcome == b.outcome && a.warmup == b.warmup && a.output_tokens == b.output_tokens && a.chunk_count == b.chunk_count));
    REQUIRE(a.chunks.size() == b.chunks.size());
    for (std::size_t c = 0; c < a.chunks.size(); ++c)
      CHECK((a.chunks[c].at_ns == b.chunks[c].at_ns && a.chunks[c].kind == b.chunks[c].kind));
  }
  CHECK(back.requests[3].token_ns == run.requests[3].token_ns);
  // A second time nothing changes: a byte that is no UTF-8 was replaced the first time.
  CHECK(text_of(exporters::read_load_records(text_of(back), "load.json")) == text_of(back));
}

TEST_CASE("load records: an empty load is whole, too") {
  CHECK(json::parse(text_of(LoadRun{}))["requests"].empty());
  CHECK(exporters::read_load_records(text_of(LoadRun{}), "x").requests.empty());
}

TEST_CASE("load records: damage is named by its place") {
  const json whole = json::parse(text_of(test::random_load(3, 3)));
  const auto with = [&](const char* pointer, const json& value) {
    json changed = whole;
    changed[json::json_pointer(pointer)] = value;
    return complaint_of(changed.dump());
  };
  CHECK(with("/requests/1/outcome", "odd") == "load.json, requests[1]: 'outcome' has no such value");
  CHECK(with("/requests/2/sent_ns", -5) == "load.json, requests[2]: 'sent_ns' is no number");
  CHECK(with("/requests/0/warmup", 1) == "load.json, requests[0]: 'warmup' is neither true nor false");
  CHECK(with("/requests/0/chunk_ns", json::array({1})) == "load.json, requests[0]: 'chunk_kinds' and 'chunk_ns' have not the same length");
  CHECK(with("/requests/0/chunk_kinds", std::string(whole["requests"][0]["chunk_ns"].size(), 'x')) ==
        "load.json, requests[0]: 'chunk_kinds' has a letter that is none of its own");
  CHECK(with("/requests/0", 7) == "load.json, requests[0]: this is no object");
  CHECK(with("/requests", nullptr) == "load.json: 'requests' is no list");
  CHECK(with("/format", "other") == "load.json: the file is no record of a load");
  CHECK(with("/format_version", 2) == "load.json: a newer nl-stage wrote these records");
  CHECK(with("/clock", 3) == "load.json: 'clock' is no text");
  CHECK(with("/arrivals", nullptr) == "load.json: this is no object");
  CHECK(with("/duration_ns", 1e300) == "load.json: 'duration_ns' is no number");
  const std::string text = whole.dump();
  CHECK(complaint_of(text.substr(0, text.size() / 2)) == "load.json: the file is no JSON");
  CHECK(complaint_of("") == "load.json: the file is no JSON");
}
