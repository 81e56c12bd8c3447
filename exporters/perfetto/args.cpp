#include "exporters/perfetto/packets.h"
#include "exporters/perfetto/proto.h"

namespace nl::exporters::perfetto {
namespace {

void add(std::string& args, const Message& annotation) { args += Message().message(event::kAnnotation, annotation).bytes(); }

Message named(Arg arg) { return Message().number(annotation::kNameId, static_cast<std::uint64_t>(arg)); }

// The length of the well-formed character at the front; 0: there is none.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first <= 0xDF ? 2 : (first & 0xF0) == 0xE0 ? 3 : first >= 0xF0 && first <= 0xF4 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const unsigned second = byte(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second >= 0xA0;
  const bool beyond = first == 0xF4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

}  // namespace

void add_arg(std::string& args, Arg arg, std::uint64_t value) { add(args, named(arg).number(annotation::kUint, value)); }

void add_signed_arg(std::string& args, Arg arg, std::int64_t value) {
  add(args, named(arg).number(annotation::kInt, static_cast<std::uint64_t>(value)));
}

void add_text_arg(std::string& args, Arg arg, std::uint64_t text_id) { add(args, named(arg).number(annotation::kTextId, text_id)); }

std::string utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character(text);
    if (length == 0) out += "\xEF\xBF\xBD";
    else out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace nl::exporters::perfetto
