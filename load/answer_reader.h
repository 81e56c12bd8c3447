#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "load/answer.h"
#include "load/sse.h"

namespace nl::load {

inline constexpr int kHttpOk = 200;
inline constexpr std::size_t kMostAnswerBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMostChunksKept = 50'000'000;  // of all requests; beyond, a request keeps its first and last

// Writes what comes of an answer into the record of its request: when each chunk came, what the server counted, and how it ended.
class AnswerReader {
 public:
  // `kept`: chunks that all requests have kept.
  AnswerReader(LoadRequest& record, std::size_t& kept) : record_(record), kept_(kept) {}

  void head(int status, std::string_view content_type);
  void take(std::string_view bytes, Ns at_ns);

  // `announced`: the server had said where the answer ends, and it came that far; else the connection was closed.
  void end(bool announced, Ns at_ns);
  void fail(RequestOutcome outcome, std::string error, Ns at_ns);  // the first failure counts

  bool is_over() const { return over_; }  // nothing more is wanted of it

 private:
  void take_event(std::string_view data, Ns at_ns);
  void keep_chunk(LoadChunk chunk);
  void finish(RequestOutcome outcome, Ns at_ns);

  LoadRequest& record_;
  std::size_t& kept_;
  SseParser parser_;
  std::string whole_;  // of an answer that is no stream
  std::size_t bytes_ = 0;
  bool streamed_ = true, finished_ = false, over_ = false, has_content_ = false;
};

}  // namespace nl::load
