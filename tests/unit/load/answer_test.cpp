#include "load/answer_reader.h"

#include "tests/catch.h"

using namespace nl;
using load::AnswerReader;

namespace {

const std::string kCompletion =
    "data: {\"choices\":[{\"index\":0,\"text\":\"Hello\",\"finish_reason\":null}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"text\":\" you\",\"finish_reason\":null}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"text\":\"\",\"finish_reason\":\"length\"}]}\n\n"
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":3,\"total_tokens\":8}}\n\n"
    "data: [DONE]\n\n";

const std::string kChat =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"Hm\"}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning\":\"m\"}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Yes\"}}]}\n\n"
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0}]},\"finish_reason\":\"stop\"}]}\n\n"
    "data: [DONE]\n\n";

struct Reading {
  LoadRequest record;
  std::size_t kept = 0;
  AnswerReader reader{record, kept};

  explicit Reading(int status = 200, const char* type = "text/event-stream; charset=utf-8") {
    record.sent_ns = 100;
    reader.head(status, type);
  }
};

std::string kinds_of(const LoadRequest& record) {
  std::string kinds;
  for (const LoadChunk& chunk : record.chunks) kinds += "etrc"[static_cast<std::size_t>(chunk.kind)];
  return kinds;
}

}  // namespace

TEST_CASE("load answer: chunks, their kinds and the counts of the server, over every split of a stream") {
  for (const auto& [stream, kinds] : {std::pair(kCompletion, "tte"), std::pair(kChat, "errtc")}) {
    for (std::size_t at = 0; at <= stream.size(); ++at) {
      Reading reading;
      reading.reader.take(stream.substr(0, at), 200);
      reading.reader.take(stream.substr(at), 300);
      reading.reader.end(true, 400);
      INFO(at);
      CHECK(reading.record.outcome == RequestOutcome::kAnswered);
      CHECK(kinds_of(reading.record) == kinds);
      CHECK(reading.record.end_ns == (at == stream.size() ? 200 : 300));
      CHECK(reading.kept == reading.record.chunks.size());
    }
  }
  Reading reading;
  reading.reader.take(kCompletion, 200);
  CHECK(reading.record.prompt_tokens == 5u);
  CHECK(reading.record.output_tokens == 3u);
  CHECK(reading.record.chunk_count == 2);
  CHECK(reading.reader.is_over());
}

TEST_CASE("load answer: the end of the connection is the end of an answer only where the answer says so") {
  const auto ended = [](const std::string& stream, bool announced) {
    Reading reading;
    reading.reader.take(stream, 200);
    reading.reader.end(announced, 300);
    return reading.record.outcome;
  };
  const std::string open = "data: {\"choices\":[{\"text\":\"Hello\",\"finish_reason\":null}]}\n\n";
  const std::string finished = open + "data: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"stop\"}]}\n\n";
  CHECK(ended(open, true) == RequestOutcome::kAnswered);
  CHECK(ended(open, false) == RequestOutcome::kCutOff);
  CHECK(ended(finished, false) == RequestOutcome::kAnswered);
  CHECK(ended(open + "data: [DONE]", true) == RequestOutcome::kAnswered);
  CHECK(ended("", true) == RequestOutcome::kEmpty);
  CHECK(ended("data: [DONE]\n\n", true) == RequestOutcome::kEmpty);
  CHECK(ended("", false) == RequestOutcome::kCutOff);
}

TEST_CASE("load answer: errors within the stream, other statuses, and what is no JSON") {
  const auto failed = [](int status, const char* type, const std::string& body) {
    Reading reading(status, type);
    reading.reader.take(body, 200);
    reading.reader.end(true, 300);
    return reading.record;
  };
  const char* const kSse = "text/event-stream";
  LoadRequest record =
      failed(200, kSse, "data: {\"choices\":[{\"text\":\"a\"}]}\n\ndata: {\"error\":{\"message\":\"out of\\nmemory\",\"code\":500}}\n\n");
  CHECK(record.outcome == RequestOutcome::kStreamError);
  CHECK(record.error == "out of memory");
  CHECK(record.chunks.size() == 1);
  record = failed(503, "application/json", R"({"object":"error","message":"too many requests"})");
  CHECK(record.outcome == RequestOutcome::kStatus);
  CHECK(record.http_status == 503);
  CHECK(record.error == "too many requests");
  CHECK(failed(404, "text/html", "<html>\x1b[31mnot here").error == "<html>\\u001b[31mnot here");
  CHECK(failed(200, kSse, "data: {\"choices\": [}\n\n").outcome == RequestOutcome::kGarbled);
  CHECK(failed(200, kSse, "data: [1]\n\n").outcome == RequestOutcome::kGarbled);
  CHECK(failed(200, kSse, "data: " + std::string(1000, '[') + "\n\n").outcome == RequestOutcome::kGarbled);
  CHECK(failed(200, "application/json", "no JSON").outcome == RequestOutcome::kGarbled);
  CHECK(failed(200, kSse, std::string(load::kMostAnswerBytes + 1, ' ')).outcome == RequestOutcome::kTooLarge);
}

TEST_CASE("load answer: one that is not streamed is one chunk at its end") {
  for (const char* body : {R"({"choices":[{"text":"Hello you"}],"usage":{"prompt_tokens":5,"completion_tokens":2}})",
                           R"({"choices":[{"message":{"role":"assistant","content":"Hello you"}}],"usage":{"completion_tokens":2}})"}) {
    Reading reading(200, "application/json");
    reading.reader.take(std::string_view(body).substr(0, 10), 200);
    reading.reader.take(std::string_view(body).substr(10), 250);
    CHECK_FALSE(reading.reader.is_over());
    reading.reader.end(true, 300);
    CHECK(reading.record.outcome == RequestOutcome::kAnswered);
    REQUIRE(reading.record.chunks.size() == 1);
    CHECK(reading.record.chunks.front().at_ns == 300);
    CHECK(reading.record.output_tokens == 2u);
  }
}

TEST_CASE("load answer: when all requests have kept too many chunks, the first and the last stay") {
  Reading reading;
  reading.kept = load::kMostChunksKept;
  for (int i = 0; i < 5; ++i) reading.reader.take("data: {\"choices\":[{\"text\":\"a\"}]}\n\n", 200 + i);
  reading.reader.take("data: [DONE]\n\n", 300);
  CHECK_FALSE(reading.record.every_chunk);
  CHECK(reading.record.chunk_count == 5);
  REQUIRE(reading.record.chunks.size() == 2);
  CHECK(reading.record.chunks[0].at_ns == 200);
  CHECK(reading.record.chunks[1].at_ns == 204);
}
