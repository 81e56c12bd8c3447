#include "runs/queue/failures.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <iterator>

#include "exporters/run_json/reader.h"
#include "exporters/run_json/writer.h"
#include "model/error.h"
#include "model/visible_text.h"
#include "orchestrator/bundle/bundle.h"

namespace nl::runs {
namespace fs = std::filesystem;

void fields(auto& io, exporters::Ref<decltype(io), QueueFailure> f) {
  io("command", f.entry.command);
  io("directory", f.entry.directory);
  io("queued_at", f.entry.queued_at);
  io("attempts", f.entry.attempts);
  io("failures", f.failures);
  io("outcome", f.outcome);
  io("failed_at", f.failed_at);
  io("exit_status", f.exit_status);
  io("error", f.error);
  io("log", f.log);
}

namespace {

constexpr std::uintmax_t kEndOfLog = 4096;  // bytes: the last line is among them
constexpr std::size_t kShownOfError = 200;

int failure_number(const fs::path& file) {
  const std::string stem = file.stem().string();
  int number = 0;
  const auto [stopped, failed] = std::from_chars(stem.data(), stem.data() + stem.size(), number);
  return file.extension() == ".json" && failed == std::errc{} && stopped == stem.data() + stem.size() ? number : 0;
}

// What a command printed last is mostly why it failed.
std::string printed_last(const fs::path& log) {
  std::error_code failed;
  const std::uintmax_t size = fs::file_size(log, failed);
  std::ifstream in(log, std::ios::binary);
  if (failed || !in) return {};
  in.seekg(static_cast<std::streamoff>(size > kEndOfLog ? size - kEndOfLog : 0));
  std::string text(std::istreambuf_iterator<char>(in), {});
  text.resize(text.find_last_not_of(" \t\r\n") + 1);
  const std::size_t begin = text.find_last_of('\n');
  return visible_line(text.substr(begin == std::string::npos ? 0 : begin + 1)).substr(0, kShownOfError);
}

}  // namespace

fs::path QueueFailures::file_of(int number) const { return folder_ / fmt::format("{:06}.json", number); }

std::optional<QueueFailure> QueueFailures::of(int number) const {
  const fs::path file = file_of(number);
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  try {
    auto failure = exporters::read_json<QueueFailure>(
        std::string(std::istreambuf_iterator<char>(in), {}),
        {.what = "what is known of a failure is damaged", .where = file.string(), .fix = "remove the file", .nulls = false});
    failure.entry.number = number;
    return failure;
  } catch (const Error&) {
    return std::nullopt;  // a memory that is lost stops no queue
  }
}

std::vector<QueueFailure> QueueFailures::list() const {
  std::vector<int> numbers;
  std::error_code failed;
  for (fs::directory_iterator each(folder_, failed), end; !failed && each != end; each.increment(failed))
    if (const int number = failure_number(each->path()); number > 0) numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  std::vector<QueueFailure> failures;
  for (const int number : numbers)
    if (auto failure = of(number)) failures.push_back(std::move(*failure));
  return failures;
}

void QueueFailures::remember(const EntryRecord& record) const {
  std::error_code ignored;
  fs::create_directories(folder_, ignored);
  const auto before = of(record.entry.number);
  const std::string printed = record.detail.empty() ? printed_last(record.log) : record.detail;
  const QueueFailure failure{record.entry,
                             before ? before->failures + 1 : 1,
                             std::string(outcome_name(record.outcome)),
                             utc_text(std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now())),
                             record.exit_status,
                             printed,
                             record.log.string()};
  write_file_whole(file_of(record.entry.number), exporters::json_text(failure));
}

void QueueFailures::forget(int number) const {
  std::error_code ignored;
  fs::remove(file_of(number), ignored);
}

std::size_t QueueFailures::forget_all() const {
  const auto all = list();
  for (const QueueFailure& failure : all) forget(failure.entry.number);
  return all.size();
}

}  // namespace nl::runs
