#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "model/comparison.h"
#include "model/words.h"
#include "tests/catch.h"
#include "tests/unit/golden.h"

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

TEST_CASE("the severity, the exit status and the words of every code are the golden ones", "[golden]") {
  const std::string text =
      table_of_codes() + list_of<PassKind>("pass") + list_of<PassOutcome>("outcome") + list_of<Tracer>("tracer") + list_of<Meter>("meter") +
      list_of<SourceFormat>("format") + list_of<Bound>("bound") + list_of<SlowdownVerdict>("slowdown") + list_of<LaneKind>("lane") +
      list_of<MemoryLevel>("memory") + list_of<RunStatus>("status") + list_of<Severity>("severity") + list_of<RuleScope>("scope") +
      list_of<RuleAbout>("about") + list_of<StageKind>("stage") + list_of<StageSource>("source") + list_of<KernelMatch>("match") +
      list_of<RangeStyle>("style") + list_of<Collective>("collective") + list_of<SlowestBy>("slowest") + list_of<EnergySource>("energy") +
      list_of<MetricUnit>("unit") + list_of<CompareVerdict>("verdict") + list_of<LineReason>("reason") + list_of<CompareBasis>("basis") +
      list_of<RunOrder>("order") + list_of<Better>("better") + list_of<CompareFigure>("figure") + list_of<KernelPairing>("pairing") +
      list_of<KernelRelation>("relation") + list_of<DifferenceCode>("difference") + list_of<WaterfallPart>("waterfall") + "\n";
  test::check_golden(test::kGolden + "codes.txt", text);
}
