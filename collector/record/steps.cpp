#include "collector/record/steps.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>

namespace nl::collector {
namespace {

constexpr char kIndex[] = "step index=", kRequests[] = " requests=";
constexpr std::string_view kNccl = "NCCL";
constexpr std::string_view kCollectives[] = {"ncclAllReduce", "ncclAllGather", "ncclReduceScatter", "ncclBroadcast",
                                             "ncclReduce",    "ncclAlltoAll",  "ncclGather",        "ncclScatter"};

class Reader {
 public:
  Reader(const char* text, std::uint32_t length) : at_(text), end_(text + length) {}

  bool find(const char* word) {
    const std::size_t length = std::strlen(word);
    for (; at_ + length <= end_; ++at_)
      if (std::memcmp(at_, word, length) == 0) {
        at_ += length;
        return true;
      }
    return false;
  }
  std::int64_t number() {
    std::int64_t value = 0;
    bool any = false;
    for (; at_ < end_ && *at_ >= '0' && *at_ <= '9' && value < 1'000'000'000'000'000; ++at_, any = true) value = value * 10 + (*at_ - '0');
    return any ? value : -1;
  }
  const char* at() const { return at_; }
  const char* end() const { return end_; }

 private:
  const char* at_;
  const char* end_;
};

bool begins_with(const Text& text, const char* word) {
  const std::size_t length = std::strlen(word);
  return text.length >= length && std::memcmp(text.data, word, length) == 0;
}

std::uint32_t small(std::int64_t number) { return number > 0 && number < 1'000'000 ? static_cast<std::uint32_t>(number) : 0; }

}  // namespace

bool is_step_mark(EventText text) {
  if (text.name == nullptr) return false;
  if (text.domain == nullptr || text.domain->length == 0) return begins_with(*text.name, "LLM@step index=");
  return text.domain->length == 3 && std::memcmp(text.domain->data, "LLM", 3) == 0 && begins_with(*text.name, kIndex);
}

bool is_collective(EventText text) {
  if (text.name == nullptr || text.domain == nullptr || text.domain->length != kNccl.size()) return false;
  if (std::memcmp(text.domain->data, kNccl.data(), kNccl.size()) != 0) return false;
  const std::string_view name(text.name->data, text.name->length);
  return std::find(std::begin(kCollectives), std::end(kCollectives), name) != std::end(kCollectives);
}

Step step_of_mark(const char* text, std::uint32_t length) {
  Step step;
  Reader index(text, length), requests(text, length);
  if (index.find(kIndex)) step.index = index.number();
  if (!requests.find(kRequests)) return step;
  const char* end = std::find(requests.at(), requests.end(), ' ');
  if (requests.at() < end) step.requests = 1 + static_cast<std::uint32_t>(std::count(requests.at(), end, ','));
  return step;
}

std::uint32_t requests_of_name(const char* text, std::uint32_t length) {
  Reader batch(text, length);
  if (batch.find(" bs=")) return small(batch.number());
  Reader prompts(text, length), outputs(text, length);
  const std::int64_t context = prompts.find("context_") ? prompts.number() : -1;
  const std::int64_t generation = outputs.find("generation_") ? outputs.number() : -1;
  return small(std::max<std::int64_t>(context, 0) + std::max<std::int64_t>(generation, 0));
}

void StepTimes::add(std::int64_t duration_ns) { durations_[count_++ % kMost] = duration_ns; }

std::int64_t StepTimes::median_ns() const {
  const auto known = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(count_, kMost));
  if (known == 0) return 0;
  std::int64_t sorted[kMost];
  std::copy(durations_, durations_ + known, sorted);
  std::nth_element(sorted, sorted + known / 2, sorted + known);
  return sorted[known / 2];
}

}  // namespace nl::collector
