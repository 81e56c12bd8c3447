#include "collector/environment.h"

#include <cstdlib>

namespace nl::collector {

const char* text_from(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr && *text != '\0' ? text : nullptr;
}

long number_from(const char* variable, long otherwise, long least, long most) {
  const char* text = text_from(variable);
  if (text == nullptr) return otherwise;
  char* end = nullptr;
  long value = std::strtol(text, &end, 10);
  return *end != '\0' || value < least || value > most ? otherwise : value;
}

}  // namespace nl::collector
