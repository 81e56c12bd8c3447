#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace nl::load {

// Server-sent events, as they come: bytes in any pieces go in, the data of whole events come out. Lines end with LF, CR or CRLF; lines of data of one
// event are joined by a line end; comments and other fields are passed over.
// Specification: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
class SseParser {
 public:
  // The data of the events that these bytes complete.
  std::vector<std::string> take(std::string_view bytes);

  // An event that the stream ended in, where its lines are whole: a server may leave out the last empty line. Empty: there is none.
  std::string rest();

  std::size_t held() const { return line_.size() + data_.size(); }  // bytes that wait for the rest of their event

 private:
  void end_line(std::vector<std::string>& events);

  std::string line_, data_;
  bool has_data_ = false, after_cr_ = false, at_start_ = true;
};

}  // namespace nl::load
