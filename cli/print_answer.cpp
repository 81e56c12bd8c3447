#include "cli/print_answer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "cli/output.h"

namespace nl::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kFirstFiles = {"run.json", "report.html", "report.md", "stakeholder_summary.md"};
constexpr std::string_view kReportPage = "report.html", kLogs = "logs";

// What one opens first goes first: run.json, the reports, other files of the bundle itself, the captures, logs.
std::ptrdiff_t rank_of(const fs::path& file) {
  const auto first = std::find(kFirstFiles.begin(), kFirstFiles.end(), file.string());
  const std::ptrdiff_t rank = first - kFirstFiles.begin();
  if (first != kFirstFiles.end() || !file.has_parent_path()) return rank;
  return rank + (file.begin()->string() == kLogs ? 2 : 1);
}

std::vector<std::string> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (auto at = fs::recursive_directory_iterator(folder, failure); !failure && at != fs::end(at); at.increment(failure))
    if (std::error_code ignored; at->is_regular_file(ignored)) files.push_back(at->path().lexically_relative(folder));
  std::sort(files.begin(), files.end(),
            [](const fs::path& a, const fs::path& b) { return std::pair(rank_of(a), a) < std::pair(rank_of(b), b); });
  std::vector<std::string> names;
  for (const fs::path& file : files) names.push_back(file.generic_string());
  return names;
}

Colour colour_of(exporters::Tone tone) {
  switch (tone) {
    case exporters::Tone::kWorking: return Colour::kGreen;
    case exporters::Tone::kWaiting: return Colour::kYellow;
    case exporters::Tone::kStarved: return Colour::kRed;
    case exporters::Tone::kPlain: break;
  }
  return Colour::kNone;
}

// The shorter one of the path as it is and as it is seen from here: a long one would break its line.
fs::path short_path(const fs::path& path) {
  std::error_code failure;
  const fs::path here = fs::current_path(failure), seen = failure ? path : path.lexically_relative(here);
  return !seen.empty() && seen.string().size() < path.string().size() ? seen : path;
}

}  // namespace

void add_bundle(const fs::path& bundle, exporters::Answer& answer) {
  answer.bundle = bundle.string();
  std::error_code ignored;
  if (!bundle.empty() && fs::is_directory(bundle, ignored)) answer.files = files_below(bundle);
}

exporters::Answer answer_of_result(const orchestrator::RunResult& result, int exit_status) {
  exporters::Answer answer = exporters::answer_of(result.run);
  answer.exit_status = exit_status;
  answer.ledger = result.ledger.location;
  add_bundle(result.bundle, answer);
  return answer;
}

void print_answer_lines(const exporters::Answer& answer) {
  for (const exporters::AnswerLine& line : exporters::answer_lines(answer, line_width())) {
    for (const exporters::AnswerPiece& piece : line) write_text(piece.text, stdout, colour_of(piece.tone));
    write_out("\n");
  }
  if (answer.bundle.empty()) return;
  const fs::path bundle = short_path(answer.bundle);
  const bool page = std::find(answer.files.begin(), answer.files.end(), kReportPage) != answer.files.end();
  write_path(page ? bundle / kReportPage : bundle);
  write_out("{}\n", answer.bundle_state.empty() ? "" : " (" + answer.bundle_state + ")");
}

}  // namespace nl::cli
