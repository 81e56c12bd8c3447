// What servers and other load generators send and leave behind.
#include "analysis/load/report.h"
#include "load/answer_reader.h"
#include "load/prompts.h"
#include "load/results.h"
#include "tests/fuzz/input_files.h"
#include "tests/fuzz/readers.h"

namespace nl::fuzz::read {
namespace {

// The first byte says where the stream is split.
void answer(std::string_view bytes) {
  LoadRequest record;
  record.sent_ns = 0;
  std::size_t kept = 0;
  nl::load::AnswerReader reader(record, kept);
  reader.head(200, bytes.starts_with('{') ? "application/json" : "text/event-stream");
  const std::size_t at = bytes.empty() ? 0 : static_cast<unsigned char>(bytes.front()) % bytes.size();
  reader.take(bytes.substr(0, at), 1);
  reader.take(bytes.substr(at), 2);
  reader.end(false, 3);
}

}  // namespace

void load(std::string_view bytes) {
  answer(bytes);
  const auto file = as_file(bytes, "results");
  takes([&] { nl::load::read_prompts(file); });
  if (takes([&] { nl::load::read_replay(file); })) return;
  for (const LoadRun& run : nl::load::read_results(file))
    analysis::load_report(run, {.ttft_ns = 1'000'000, .tpot_ns = 1, .itl_ns = {}, .e2e_ns = {}});
}

}  // namespace nl::fuzz::read
