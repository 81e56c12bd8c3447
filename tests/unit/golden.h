#pragma once

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/catch.h"
#include "tests/unit/files.h"

// Texts that are kept beside the tests, each whole. After a deliberate change run tools/golden and look at the difference.
namespace nl::test {

inline const std::string kGolden = NL_FIXTURES "/golden/";

// Writes the file anew where tools/golden asks for it.
inline void update_if_asked(const std::string& file, std::string_view text) {
  if (std::getenv("NL_UPDATE_GOLDEN") == nullptr) return;
  std::ofstream(file, std::ios::binary) << text;
  WARN("wrote " << file);
}

inline void check_golden(const std::string& file, const std::string& text) {
  update_if_asked(file, text);
  const std::string golden = read_text(file);
  std::size_t line = 1, at = 0;
  for (; at < std::min(text.size(), golden.size()) && text[at] == golden[at]; ++at) line += text[at] == '\n';
  INFO(file << " differs in line " << line << ": " << text.substr(at, 80));
  CHECK((text == golden));
}

}  // namespace nl::test
