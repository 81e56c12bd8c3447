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

// The same for what stands between two texts of a page, the rest of which is written by hand.
inline void check_golden_part(const std::string& file, std::string_view after, std::string_view before, std::string_view part) {
  const std::string page = read_text(file);
  const std::size_t begin = page.find(after) + after.size(), end = page.find(before, begin);
  INFO(file << " between '" << after << "' and '" << before << "'");
  REQUIRE(page.find(after) != std::string::npos);
  REQUIRE(end != std::string::npos);
  check_golden(file, page.substr(0, begin).append(part).append(page.substr(end)));
}

}  // namespace nl::test
