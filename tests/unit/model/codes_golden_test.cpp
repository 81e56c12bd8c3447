#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "model/words.h"
#include "tests/catch.h"

using namespace nl;

namespace {

const char* const kSeverities[] = {"info", "low", "medium", "high"};
const char* const kKinds[] = {"internal", "usage", "config", "input", "tool", "workload", "capture", "timeout", "output", "interrupted"};

// counters-denied | high | tool | {0} may not read … | Run as root …
std::string table_of_codes() {
  std::string text;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Code::kCount_); ++i) {
    const Words& words = words_of(static_cast<Code>(i));
    text += std::string(words.key) + " | " + kSeverities[static_cast<int>(words.severity)] + " | " + kKinds[static_cast<int>(words.kind)] +
            " | " + std::string(words.text) + " | " + std::string(words.fix) + "\n";
  }
  return text;
}

template <class Enum>
std::string list_of(const char* name) {
  std::string text = std::string("\n") + name;
  for (const std::string_view key : keys_of<Enum>()) text += " | " + std::string(key);
  return text;
}

}  // namespace

// After a deliberate change run tools/golden and look at the difference.
TEST_CASE("the severity, the exit status and the words of every code are the golden ones", "[golden]") {
  const std::string file = NL_FIXTURES "/golden/codes.txt";
  const std::string text = table_of_codes() + list_of<PassKind>("pass") + list_of<PassOutcome>("outcome") + list_of<Tracer>("tracer") +
                           list_of<Meter>("meter") + list_of<SourceFormat>("format") + list_of<Bound>("bound") +
                           list_of<SlowdownVerdict>("slowdown") + list_of<LaneKind>("lane") + "\n";
  if (std::getenv("NL_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(file, std::ios::binary) << text;
    WARN("wrote " << file);
  }
  std::ifstream stream(file, std::ios::binary);
  const std::string golden(std::istreambuf_iterator<char>(stream), {});
  std::size_t at = 0;
  while (at < text.size() && at < golden.size() && text[at] == golden[at]) ++at;
  const std::size_t line = text.rfind('\n', at) + 1;
  INFO("differs at: " << text.substr(line, text.find('\n', at) - line));
  CHECK((text == golden));
}
