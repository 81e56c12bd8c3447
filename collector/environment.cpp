#include "collector/environment.h"

#include <cstdlib>
#include <cstring>

namespace nl::collector {

const char* text_from(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr && *text != '\0' ? text : nullptr;
}

const char* kept_text_from(const char* variable) {
  static char kept[64 * 1024];
  static std::size_t used = 0;  // only while the collector starts, which one thread does
  const char* text = text_from(variable);
  if (text == nullptr || std::strlen(text) >= sizeof kept - used) return nullptr;
  char* copy = kept + used;
  used += std::strlen(text) + 1;
  return std::strcpy(copy, text);
}

long number_from(const char* variable, long otherwise, long least, long most) {
  const char* text = text_from(variable);
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  long value = std::strtol(text, &end, 10);
  return *end != '\0' || value < least || value > most ? otherwise : value;
}

}  // namespace nl::collector
