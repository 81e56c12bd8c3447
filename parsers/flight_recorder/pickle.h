#pragma once

#include <string>
#include <string_view>

#include "parsers/flight_recorder/values.h"

namespace nl::parsers {

inline constexpr std::string_view kPickleMagic = "\x80";  // and the protocol: 2 to 5

struct Pickle {
  Values values;
  ValueId root = Values::kNone;
};

// A pickle of plain data: dicts, lists, tuples, texts, bytes, numbers, booleans and None, of protocol 2 to 5. Nothing is ever called or
// imported: an opcode that would is refused by its name, which is all that a pickle can do harm by. Texts point into `bytes`.
// Throws Error(kInput) that names the byte.
Pickle read_pickle(std::string_view bytes, const std::string& where);

}  // namespace nl::parsers
