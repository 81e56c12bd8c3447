#include "load/answer_reader.h"

#include <utility>

namespace nl::load {
namespace {

constexpr std::size_t kMostErrorBytes = 64 << 10;

}  // namespace

// "text/event-stream; charset=utf-8"
void AnswerReader::head(int status, std::string_view content_type) {
  record_.http_status = status;
  streamed_ = status == kHttpOk && content_type.substr(0, content_type.find(';')) != "application/json";
}

void AnswerReader::take(std::string_view bytes, Ns at_ns) {
  if (over_) return;
  bytes_ += bytes.size();
  if (bytes_ > kMostAnswerBytes) return fail(RequestOutcome::kTooLarge, "the answer is larger than 64 MiB", at_ns);
  if (!streamed_) {
    if (record_.http_status == kHttpOk || whole_.size() < kMostErrorBytes) whole_ += bytes;
    return;
  }
  for (const std::string& data : parser_.take(bytes))
    if (!over_) take_event(data, at_ns);
}

void AnswerReader::end(bool announced, Ns at_ns) {
  if (over_) return;
  if (record_.http_status != kHttpOk) {
    const std::string said = error_text(whole_);
    return fail(RequestOutcome::kStatus, said.empty() ? "the status is " + std::to_string(record_.http_status) : said, at_ns);
  }
  if (!streamed_) {
    if (!announced && whole_.empty()) return fail(RequestOutcome::kCutOff, "the connection was closed before the answer", at_ns);
    take_event(whole_, at_ns);
  } else if (const std::string last = parser_.rest(); !last.empty() && announced) {
    take_event(last, at_ns);
  }
  if (over_) return;
  // Where the closed connection is the only sign, the reason that a choice ended with says that it is whole.
  if (!announced && !finished_) return fail(RequestOutcome::kCutOff, "the connection was closed within the answer", at_ns);
  finish(RequestOutcome::kAnswered, at_ns);
}

void AnswerReader::fail(RequestOutcome outcome, std::string error, Ns at_ns) {
  if (over_) return;
  record_.error = std::move(error);
  finish(outcome, at_ns);
}

void AnswerReader::take_event(std::string_view data, Ns at_ns) {
  using enum AnswerPart::Kind;
  const AnswerPart part = read_part(data);
  if (part.prompt_tokens) record_.prompt_tokens = part.prompt_tokens;
  if (part.output_tokens) record_.output_tokens = part.output_tokens;
  finished_ = finished_ || part.finished;
  switch (part.kind) {
    case kChoice: keep_chunk({at_ns, part.chunk}); break;
    case kNothing: break;
    case kDone: finish(RequestOutcome::kAnswered, at_ns); break;
    case kError: fail(RequestOutcome::kStreamError, part.error, at_ns); break;
    case kGarbled: fail(RequestOutcome::kGarbled, "an event is no JSON: " + part.error, at_ns); break;
  }
}

void AnswerReader::keep_chunk(LoadChunk chunk) {
  const bool content = chunk.kind != ChunkKind::kEmpty;
  has_content_ = has_content_ || content;
  record_.chunk_count += content ? 1 : 0;
  if (kept_ >= kMostChunksKept && record_.chunks.size() >= 2) {
    record_.every_chunk = false;
    if (content) record_.chunks.back() = chunk;
    return;
  }
  ++kept_;
  record_.chunks.push_back(chunk);
}

void AnswerReader::finish(RequestOutcome outcome, Ns at_ns) {
  over_ = true;
  record_.end_ns = at_ns;
  record_.outcome = outcome;
  if (outcome == RequestOutcome::kAnswered && !has_content_) {
    record_.outcome = RequestOutcome::kEmpty;
    record_.error = "the answer has no content";
  }
}

}  // namespace nl::load
