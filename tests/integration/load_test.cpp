// nl-stage load against a server that stands in for an engine: known delays, and every fault that a server may have.
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "tests/catch.h"
#include "tests/integration/harness.h"

extern char** environ;

using namespace nl::test;
using nlohmann::json;
using Words = std::vector<std::string>;

namespace {

constexpr double kMs = 1e6;

// tests/integration/standin/llm_server, as long as it lives.
class Standin {
 public:
  Standin(const Scene& scene, Words more = {}) : log_(scene.path / "requests") {
    const fs::path ready = scene.path / "ready";
    Words words = {"python3", NL_SOURCE_ROOT "/tests/integration/standin/llm_server", ready.string(), log_.string()};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    REQUIRE(::posix_spawnp(&pid_, "python3", nullptr, nullptr, argv.data(), environ) == 0);
    for (int i = 0; i < 1000 && !fs::exists(ready); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    REQUIRE(fs::exists(ready));
    int port = 0;
    std::ifstream(ready) >> port;
    url = fmt::format("http://127.0.0.1:{}", port);
  }
  ~Standin() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Standin(const Standin&) = delete;
  Standin& operator=(const Standin&) = delete;

  // What it saw of each request, by id.
  std::map<std::string, json> seen() const {
    std::map<std::string, json> out;
    std::ifstream stream(log_);
    for (std::string line; std::getline(stream, line);) {
      const json row = json::parse(line);
      if (row["id"].is_string()) out[row["id"]] = row;
    }
    return out;
  }

  std::string url;

 private:
  fs::path log_;
  pid_t pid_ = 0;
};

struct Loaded {
  Outcome outcome;
  json report, records;
};

// Both files fit their schemas, whatever happened.
Loaded load(Scene& scene, const std::string& url, const Words& more) {
  const fs::path out = scene.path / "load.json", printed = scene.path / "printed.json";
  fs::remove(out);
  Words words = {"load", url, "--json", "--out", out.string()};
  words.insert(words.end(), more.begin(), more.end());
  Loaded loaded;
  loaded.outcome = scene.nl_stage(words);
  INFO(loaded.outcome.err << loaded.outcome.out);
  std::ofstream(printed) << loaded.outcome.out;
  REQUIRE(fs::exists(out));
  for (const auto& [schema, file] : {std::pair("load", printed), std::pair("load-records", out)}) {
    const Outcome valid = scene.nl_stage({"validate", "--schema", schema, file.string()});
    INFO(valid.out << valid.err);
    CHECK(valid.status == 0);
  }
  loaded.report = json::parse(loaded.outcome.out)["loads"][0];
  loaded.records = json::parse(scene.text(out));
  return loaded;
}

double median(std::vector<double> values) {
  REQUIRE_FALSE(values.empty());
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

const json& figure(const json& report, const char* name) {
  for (const json& each : report["figures"])
    if (each["figure"] == name) return each;
  FAIL("no figure " << name);
  return report;
}

bool has_note(const json& report, const char* remark) {
  return std::any_of(report["notes"].begin(), report["notes"].end(), [&](const json& note) { return note["remark"] == remark; });
}

}  // namespace

TEST_CASE("load: what it measures is what the server did, on the same clock") {
  Scene scene;
  const Standin server(scene, {"--ttft", "40", "--itl", "10", "--tokens", "8"});
  const Loaded loaded =
      load(scene, server.url, {"--rate", "20", "--arrivals", "constant", "--requests", "40", "--warmup", "2", "--prompt-tokens", "5..9"});
  CHECK(loaded.outcome.status == 0);
  CHECK(loaded.report["answered"] == 40);
  CHECK(loaded.report["warmups"] == 2);
  CHECK(loaded.report["model"] == "ok");
  CHECK(loaded.report["output_tokens"] == 40 * 8);
  CHECK(loaded.report["prompt_tokens"] == 40 * 7);
  const auto seen = server.seen();
  REQUIRE(seen.size() == 42);
  std::vector<double> lags_ms, first_gaps_ms;
  for (const json& request : loaded.records["requests"]) {
    const json& there = seen.at(request["id"]);
    const auto sent_ns = request["sent_ns"].get<std::int64_t>();
    CHECK(sent_ns <= there["at_ns"].get<std::int64_t>());
    CHECK(request["chunk_kinds"] == "tttttttte");
    // The server writes usage as one more event, which is no chunk.
    REQUIRE(there["writes_ns"].size() == request["chunk_ns"].size() + 1);
    for (std::size_t i = 0; i < request["chunk_ns"].size(); ++i) {
      const auto lag_ns = sent_ns + request["chunk_ns"][i].get<std::int64_t>() - there["writes_ns"][i].get<std::int64_t>();
      CHECK(lag_ns >= 0);
      lags_ms.push_back(static_cast<double>(lag_ns) / kMs);
    }
  }
  // A chunk crosses the loopback in less than 0.1 ms; the rest is what a loaded machine lets both wait.
  CHECK(median(lags_ms) < 3);
  // The server sleeps at least as long as it was told. asyncio wakes it up to 1 ms late, and a loaded machine later.
  const double ttft_ms = figure(loaded.report, "ttft")["median_ns"].get<double>() / kMs,
               itl_ms = figure(loaded.report, "itl")["median_ns"].get<double>() / kMs;
  CHECK(ttft_ms > 39.9);
  CHECK(ttft_ms < 60);
  CHECK(itl_ms == Approx(10).margin(2));
  CHECK(figure(loaded.report, "tpot")["median_ns"].get<double>() / kMs == Approx(10).margin(2));
  CHECK(figure(loaded.report, "itl")["n"] == 40 * 7);
  CHECK(loaded.report["rates"]["sent_per_s"].get<double>() == Approx(20).epsilon(0.02));
}

TEST_CASE("load: an open loop does not wait for a server that does not keep up") {
  Scene scene;
  const Standin server(scene, {"--ttft", "60", "--itl", "5", "--tokens", "4"});
  const Loaded loaded = load(scene, server.url, {"--model", "queue", "--rate", "60", "--requests", "60", "--seed", "3"});
  CHECK(loaded.outcome.status == 0);
  CHECK(loaded.report["answered"] == 60);
  // 60 answers one after another take 4.5 s, and all requests are there after a second.
  CHECK(figure(loaded.report, "ttft")["max_ns"].get<double>() / kMs > 2500);
  // On an idle machine it is below 1 ms; on a loaded one the processor is late, but never by what an answer takes.
  CHECK(loaded.report["schedule_delay"]["p99_ns"].get<double>() / kMs < 200);
  CHECK(loaded.report["rates"]["sent_per_s"].get<double>() ==
        Approx(loaded.report["rates"]["scheduled_per_s"].get<double>()).epsilon(0.05));
  CHECK(loaded.report["rates"]["answered_per_s"].get<double>() < 20);
  const Loaded limited = load(scene, server.url, {"--model", "queue", "--rate", "60", "--requests", "40", "--max-open", "5"});
  CHECK(limited.report["failed"]["not_sent"].get<int>() > 10);
  CHECK(has_note(limited.report, "in_flight_limit"));
  // All at once: the limit holds within a burst, too.
  const fs::path burst = scene.path / "burst.jsonl";
  std::ofstream stream(burst);
  for (int i = 0; i < 50; ++i) stream << R"({"at_s": 0, "prompt": "Now"})" << "\n";
  stream.close();
  const Loaded at_once = load(scene, server.url, {"--replay", burst.string(), "--max-open", "7"});
  CHECK(at_once.report["failed"]["not_sent"] == 43);
  CHECK(at_once.report["answered"] == 7);
}

TEST_CASE("load: a closed loop has so many users, and says what it hides") {
  Scene scene;
  const Standin server(scene, {"--ttft", "30", "--itl", "5", "--tokens", "4"});
  const Loaded loaded = load(scene, server.url, {"--concurrency", "3", "--requests", "15"});
  CHECK(loaded.outcome.status == 0);
  CHECK(loaded.report["answered"] == 15);
  CHECK(has_note(loaded.report, "closed_loop"));
  std::vector<std::pair<std::int64_t, int>> events;
  for (const json& request : loaded.records["requests"])
    events.emplace_back(request["sent_ns"], 1), events.emplace_back(request["end_ns"], -1);
  std::sort(events.begin(), events.end());
  int open = 0, most = 0;
  for (const auto& [at_ns, change] : events) most = std::max(most, open += change);
  CHECK(most == 3);
  const Loaded brief = load(scene, server.url, {"--concurrency", "2", "--seconds", "0.5"});
  CHECK(brief.report["requests"].get<int>() > 4);
  CHECK(brief.report["requests"].get<int>() < 60);
}

TEST_CASE("load: every way in which a server may answer, or fail") {
  Scene scene;
  const Standin server(scene, {"--ttft", "20", "--itl", "2", "--tokens", "8"});
  struct Case {
    const char *model, *outcome, *error;
  };
  for (const Case& each : std::vector<Case>{{"crlf", "answered", ""},
                                            {"identity", "answered", ""},
                                            {"no-usage", "answered", ""},
                                            {"several", "answered", ""},
                                            {"byte-by-byte", "answered", ""},
                                            {"not-streamed", "answered", ""},
                                            {"open-after-done", "answered", ""},
                                            {"stall", "timed_out", "the answer did not end within the timeout"},
                                            {"silent", "timed_out", "the answer did not end within the timeout"},
                                            {"drop", "cut_off", ""},
                                            {"cut", "cut_off", "the connection was closed within the answer"},
                                            {"refuse", "cut_off", ""},
                                            {"error-500", "status", "CUDA out of memory"},
                                            {"redirect", "status", "the status is 302"},
                                            {"unknown", "status", "The model `unknown` does not exist."},
                                            {"error-in-stream", "stream_error", "the engine died"},
                                            {"garbage", "garbled", "this is no HTTP response"},
                                            {"bad-json", "garbled", "an event is no JSON"},
                                            {"endless-head", "garbled", "this is no HTTP response"}}) {
    INFO(each.model);
    const Loaded loaded = load(scene, server.url, {"--model", each.model, "--rate", "100", "--requests", "3", "--timeout", "1.5"});
    const bool answered = std::string(each.outcome) == "answered";
    CHECK(loaded.outcome.status == (answered ? 0 : 5));
    for (const json& request : loaded.records["requests"]) {
      CHECK(request["outcome"] == each.outcome);
      CHECK(request["error"].is_string() == !answered);
      if (request["error"].is_string()) CHECK(request["error"].get<std::string>().find(each.error) != std::string::npos);
    }
    CHECK(loaded.report["figures"].empty() == !answered);
  }
}

TEST_CASE("load: an answer without an end is ended by its size or its time") {
  Scene scene;
  const Standin server(scene);
  const Loaded loaded = load(scene, server.url, {"--model", "endless", "--rate", "10", "--requests", "1", "--timeout", "4"});
  CHECK(loaded.outcome.status == 5);
  const std::string outcome = loaded.records["requests"][0]["outcome"];
  CHECK((outcome == "too_large" || outcome == "timed_out"));
}

TEST_CASE("load: tokens are those that the server counts, and chunks where it counts none") {
  Scene scene;
  const Standin server(scene, {"--ttft", "20", "--itl", "4", "--tokens", "8"});
  const json several = load(scene, server.url, {"--model", "several", "--rate", "50", "--requests", "4"}).report;
  CHECK(several["output_tokens"] == 32);
  CHECK(has_note(several, "several_tokens_a_chunk"));
  const json uncounted = load(scene, server.url, {"--model", "no-usage", "--rate", "50", "--requests", "4"}).report;
  CHECK(uncounted["output_tokens"] == 32);
  CHECK(has_note(uncounted, "chunks_as_tokens"));
}

TEST_CASE("load: failures are counted apart, and do not end it") {
  Scene scene;
  const Standin server(scene, {"--ttft", "10", "--itl", "2"});
  const Loaded loaded = load(scene, server.url, {"--model", "every-third-fails", "--rate", "60", "--requests", "30", "--slo", "ttft=5s"});
  CHECK(loaded.outcome.status == 0);
  CHECK(loaded.report["answered"] == 20);
  CHECK(loaded.report["failed"] == json{{"status", 10}});
  CHECK(figure(loaded.report, "ttft")["n"] == 20);
  CHECK(loaded.report["goodput"]["good"] == 20);
  CHECK(loaded.report["goodput"]["of"] == 30);
}

TEST_CASE("load: chats over a socket of this machine, with headers and a key that no file repeats") {
  Scene scene;
  const std::string socket = (scene.path / "llm.sock").string();
  const Standin server(scene, {"--socket", socket, "--ttft", "10", "--itl", "2"});
  scene.env["TEST_KEY"] = "secret-of-the-test";
  const Loaded loaded =
      load(scene, "unix:" + socket,
           {"--endpoint", "chat", "--rate", "50", "--requests", "5", "--header", "X-Team: a: b", "--api-key-env", "TEST_KEY"});
  CHECK(loaded.outcome.status == 0);
  for (const json& request : loaded.records["requests"]) CHECK(request["chunk_kinds"] == "etttttttte");
  for (const auto& [id, there] : server.seen()) {
    CHECK(there["headers"]["authorization"] == "bearer secret-of-the-test");
    CHECK(there["headers"]["x-team"] == "a: b");
    CHECK(there["body"]["messages"][0]["role"] == "user");
    CHECK(there["path"] == "/v1/chat/completions");
  }
  CHECK(loaded.records.dump().find("secret") == std::string::npos);
  CHECK_FALSE(loaded.outcome.says("secret"));
}

TEST_CASE("load: Ctrl-C keeps the requests until then") {
  Scene scene;
  const Standin server(scene, {"--ttft", "10", "--itl", "200", "--tokens", "50"});
  const fs::path out = scene.path / "load.json";
  const pid_t pid = scene.start({"load", server.url, "--rate", "30", "--seconds", "60", "--json", "--out", out.string(), "--model", "ok"});
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  CHECK_FALSE(fs::exists(out));
  ::kill(pid, SIGINT);
  Outcome outcome;
  scene.finish(pid, 20, outcome);
  CHECK(outcome.status == 130);
  const json records = json::parse(scene.text(out));
  CHECK(records["interrupted"] == true);
  CHECK(records["requests"].size() > 10);
  CHECK(records["requests"].size() < 100);
  for (const json& request : records["requests"]) CHECK(request["outcome"] == "interrupted");
  CHECK(records["requests"][0]["chunk_ns"].size() > 2);
  CHECK(scene.nl_stage({"validate", "--schema", "load-records", out.string()}).status == 0);
  CHECK(has_note(json::parse(outcome.out)["loads"][0], "interrupted"));
  for (const auto& entry : fs::directory_iterator(scene.path)) CHECK(entry.path().string().find(".part") == std::string::npos);
}

TEST_CASE("load: results are read back, and print the same figures") {
  Scene scene;
  const Standin server(scene, {"--ttft", "10", "--itl", "2"});
  const fs::path trace = scene.path / "trace.jsonl";
  std::ofstream(trace) << R"({"timestamp": 0, "input_length": 4, "output_length": 3})" << "\n"
                       << R"({"at_s": 0.2, "prompt": "Why?"})" << "\n";
  Loaded loaded = load(scene, server.url, {"--replay", trace.string(), "--output-tokens", "5"});
  CHECK(loaded.report["arrivals"]["kind"] == "replay");
  CHECK(loaded.report["output_tokens"] == 8);
  const std::string out = (scene.path / "load.json").string();
  json again = json::parse(scene.nl_stage({"load", "--from", out, "--json"}).out)["loads"][0];
  again["name"] = loaded.report["name"];
  CHECK(again == loaded.report);
  const Outcome both = scene.nl_stage({"load", "--from", out, "--from", (kFixtures / "load" / "vllm.json").string()});
  CHECK(both.status == 0);
  CHECK(both.says("Poisson arrivals at 4.00/s"));
  CHECK(both.says("| TTFT mean, ms |"));
  CHECK(scene.nl_stage_on_terminal({"load", "--from", out}, 80).says("GuideLLM"));
}

TEST_CASE("load: what is refused is refused before anything is sent") {
  Scene scene;
  const Standin server(scene);
  const auto refused = [&](const Words& words, int status, const char* says) {
    const Outcome outcome = scene.nl_stage(words);
    INFO(outcome.out << outcome.err);
    CHECK(outcome.status == status);
    CHECK(outcome.says(says));
  };
  refused({"load", "http://192.0.2.1:8000", "--rate", "1"}, 2, "192.0.2.1 is not an address of this machine");
  refused({"load", "http://example.com", "--rate", "1"}, 2, "is a name, and load looks up no names");
  refused({"load", server.url}, 2, "it is not said when requests are sent");
  refused({"load"}, 2, "load takes a server, or results with --from");
  refused({"load", server.url, "--rate", "1", "--concurrency", "2"}, 2, "exclude each other");
  refused({"load", server.url, "--rate", "1", "--burstiness", "2"}, 2, "--arrivals gamma");
  refused({"load", server.url, "--rate", "0"}, 2, "--rate");
  refused({"load", server.url, "--rate", "1", "--slo", "latency=3s"}, 2, "is no limit of a request");
  refused({"load", server.url, "--rate", "1", "--header", "Host: elsewhere"}, 2, "set by load");
  refused({"load", server.url, "--rate", "1", "--api-key-env", "NO_SUCH_VARIABLE"}, 2, "the environment has no NO_SUCH_VARIABLE");
  refused({"load", server.url, "--rate", "1", "--replay", "/no/such/file"}, 2, "exclude each other");
  refused({"load", server.url, "--replay", "/no/such/file"}, 3, "cannot be read");
  refused({"load", "--from", "/etc/passwd"}, 3, "not what a load generator writes");
  refused({"load", server.url, "--rate", "50", "--requests", "2", "--out", "/no/such/folder/load.json"}, 8, "/no/such/folder");
  CHECK(server.seen().empty());
  refused({"load", "http://127.0.0.1:1", "--rate", "1"}, 5, "the server does not answer");
  refused({"load", "http://127.0.0.1:1", "--rate", "50", "--requests", "2", "--model", "m"}, 5, "2 without a connection");
}
