#include "load/sse.h"

#include "tests/catch.h"

using nl::load::SseParser;
using Events = std::vector<std::string>;

namespace {

// As vLLM and llama.cpp stream completions, OpenRouter keeps a connection alive, and SGLang ends a chat.
const std::vector<std::string> kStreams = {
    "data: {\"id\":\"cmpl-1\",\"choices\":[{\"index\":0,\"text\":\" a\"}]}\n\ndata: "
    "{\"choices\":[{\"index\":0,\"text\":\"\xc3\xa9\"}]}\n\ndata: [DONE]\n\n",
    ": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\ndata: {\"choices\":[]}\n\nid: 7\nevent: message\nretry: 10\ndata: [DONE]\n\n",
    "\xEF\xBB\xBF"
    "data:one\ndata: two\ndata\ndata:  three\n\nignored: x\n\n\n\ndata: last\n\n",
};

std::string with_line_ends(const std::string& text, const std::string& end) {
  std::string out;
  for (const char c : text) out += c == '\n' ? end : std::string(1, c);
  return out;
}

Events events_of(const std::vector<std::string_view>& pieces) {
  SseParser parser;
  Events events;
  for (const std::string_view piece : pieces)
    for (std::string& event : parser.take(piece)) events.push_back(std::move(event));
  CHECK(parser.rest().empty());
  return events;
}

}  // namespace

TEST_CASE("sse: the data of whole events, without comments and other fields") {
  CHECK(events_of({kStreams[0]}) ==
        Events{R"({"id":"cmpl-1","choices":[{"index":0,"text":" a"}]})", "{\"choices\":[{\"index\":0,\"text\":\"\xc3\xa9\"}]}", "[DONE]"});
  CHECK(events_of({kStreams[1]}) == Events{R"({"choices":[]})", "[DONE]"});
  CHECK(events_of({kStreams[2]}) == Events{"one\ntwo\n\n three", "last"});
}

TEST_CASE("sse: every split into two, byte by byte, and every line end gives the same") {
  for (const std::string& stream : kStreams) {
    const Events expected = events_of({stream});
    for (const char* end : {"\n", "\r\n", "\r"}) {
      const std::string text = with_line_ends(stream, end);
      for (std::size_t at = 0; at <= text.size(); ++at) {
        INFO(at);
        CHECK(events_of({std::string_view(text).substr(0, at), std::string_view(text).substr(at)}) == expected);
      }
      std::vector<std::string_view> bytes;
      for (std::size_t at = 0; at < text.size(); ++at) bytes.push_back(std::string_view(text).substr(at, 1));
      CHECK(events_of(bytes) == expected);
    }
  }
}

TEST_CASE("sse: an event without its empty line is given at the end alone") {
  SseParser parser;
  CHECK(parser.take("data: [DONE]").empty());
  CHECK(parser.held() > 0);
  CHECK(parser.rest() == "[DONE]");
  CHECK(parser.rest().empty());
  CHECK(parser.take("data: a\n").empty());
  CHECK(parser.rest() == "a");
}

TEST_CASE("sse: an event of empty data is one, an event without data is none") {
  CHECK(events_of({"data:\n\n"}) == Events{""});
  CHECK(events_of({"event: ping\n\n\n\n"}).empty());
}
