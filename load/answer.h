#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/load.h"

namespace nl::load {

// What one event of an answer says, or the whole of an answer that is not streamed.
struct AnswerPart {
  enum class Kind : std::uint8_t {
    kChoice,   // a chunk
    kNothing,  // usage alone, or an object that has no choices
    kDone,     // [DONE]
    kError,    // {"error": {"message": …}}
    kGarbled,  // no JSON
  };
  Kind kind = Kind::kNothing;
  ChunkKind chunk = ChunkKind::kEmpty;
  bool finished = false;                                                // the choice has its finish_reason
  std::optional<std::uint64_t> prompt_tokens = {}, output_tokens = {};  // of usage
  std::string error = {};
};

AnswerPart read_part(std::string_view data);

// Its sentence, or the beginning of the text, in one line: servers answer errors as {"error": {"message": …}}, {"message": …} or plain text.
std::string error_text(std::string_view body);

}  // namespace nl::load
