#include "exporters/report/text/figure_text.h"

namespace nl::exporters {
namespace {

// Where the bracket at `open` closes, or the end.
std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '<' || text[i] == '(' || text[i] == '[') ++depth;
    if (text[i] == '>' || text[i] == ')' || text[i] == ']') --depth;
    if (depth == 0) return i;
  }
  return text.size();
}

}  // namespace

// void at::native::reduce_kernel<(int)512, …>(T3) → void at::native::reduce_kernel<...>(...)
std::string short_kernel_name(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool unnamed = name.substr(i, 9) == "<unnamed>";
    if ((name[i] != '<' && name[i] != '(') || unnamed || name.substr(i, 11) == "(anonymous ") {
      out += name[i];
      if (unnamed) {
        out += "unnamed>";
        i += 8;
      }
      continue;
    }
    const std::size_t end = closing(name, i);
    out += name[i] == '<' ? "<...>" : end == i + 1 ? "()" : "(...)";
    i = end;
  }
  return out;
}

}  // namespace nl::exporters
