#include "collector/stage_watch.h"

#include <atomic>
#include <cstring>
#include <iterator>

#include <unistd.h>

#include "collector/lock.h"

namespace nl::collector {
namespace {

constexpr std::size_t kMaxSpellings = 64;
constexpr std::uint64_t kPushed = std::uint64_t{1} << 63;

struct Spelling {
  const char* text;
  std::size_t length;
};

struct Watch {
  Spelling spellings[kMaxSpellings] = {};
  std::size_t count = 0;
  const StageListener* listener = nullptr;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  std::uint64_t started[64] = {};  // ranges that are stages; 0: free
  std::atomic<int> started_count{0};
};

constinit Watch watch;

// Which of the ranges that are open on this thread are stages, a bit for each, by domain.
struct ThreadStages {
  struct Domain {
    const Text* domain;
    std::uint64_t bits;
    unsigned depth;
  } domains[8];
  unsigned domain_count;
  unsigned open;
};
constinit thread_local ThreadStages stages{};

bool spelled(const Spelling& wanted, const Text* domain, const Text& name) {
  if (domain == nullptr || domain->length == 0)
    return wanted.length == name.length && std::memcmp(wanted.text, name.data, name.length) == 0;
  return wanted.length == domain->length + 1 + name.length && std::memcmp(wanted.text, domain->data, domain->length) == 0 &&
         wanted.text[domain->length] == '@' &&
         std::memcmp(wanted.text + domain->length + 1, name.data, name.length) == 0;
}

bool is_stage(EventText text) {
  if (text.name == nullptr) return false;
  for (std::size_t i = 0; i < watch.count; ++i)
    if (spelled(watch.spellings[i], text.domain, *text.name)) return true;
  return false;
}

ThreadStages::Domain* of_domain(const Text* domain) {
  for (unsigned i = 0; i < stages.domain_count; ++i)
    if (stages.domains[i].domain == domain) return &stages.domains[i];
  if (stages.domain_count == std::size(stages.domains)) return nullptr;
  stages.domains[stages.domain_count] = {domain, 0, 0};
  return &stages.domains[stages.domain_count++];
}

std::uint64_t token_of_thread() { return kPushed | static_cast<std::uint64_t>(gettid()); }

void pushed(EventText text) {
  ThreadStages::Domain* here = of_domain(text.domain);
  if (here == nullptr) return;
  unsigned depth = here->depth++;
  if (depth >= 64 || !is_stage(text)) return;
  here->bits |= std::uint64_t{1} << depth;
  if (stages.open++ == 0 && watch.listener != nullptr) watch.listener->opened(text, token_of_thread());
}

void popped(const Text* domain) {
  ThreadStages::Domain* here = of_domain(domain);
  if (here == nullptr || here->depth == 0) return;
  unsigned depth = --here->depth;
  if (depth >= 64 || (here->bits >> depth & 1) == 0) return;
  here->bits &= ~(std::uint64_t{1} << depth);
  if (--stages.open == 0 && watch.listener != nullptr) watch.listener->closed(token_of_thread());
}

bool remember(std::uint64_t range, std::uint64_t instead_of) {
  Lock lock(watch.mutex);
  for (std::uint64_t& slot : watch.started)
    if (slot == instead_of) {
      slot = range;
      return true;
    }
  return false;
}

void begins(EventText text, std::uint64_t range) {
  if (range == 0) return pushed(text);
  if (!is_stage(text) || !remember(range, 0)) return;
  watch.started_count.fetch_add(1, std::memory_order_relaxed);
  if (watch.listener != nullptr) watch.listener->opened(text, range);
}

void ended(const Text* domain, std::uint64_t range) {
  if (range == 0) return popped(domain);
  if (watch.started_count.load(std::memory_order_relaxed) == 0 || !remember(0, range)) return;
  watch.started_count.fetch_sub(1, std::memory_order_relaxed);
  if (watch.listener != nullptr) watch.listener->closed(range);
}

constexpr RangeListener kRangeListener{begins, ended};

}  // namespace

void watch_stages(const char* list, const StageListener* listener) {
  while (list != nullptr && *list != '\0' && watch.count < kMaxSpellings) {
    std::size_t length = std::strcspn(list, "\n");
    if (length > 0) watch.spellings[watch.count++] = {list, length};
    list += length + (list[length] != '\0' ? 1 : 0);
  }
  watch.listener = listener;
  if (watch.count > 0) listen_to_ranges(&kRangeListener);
}

bool in_stage() {
  return watch.count == 0 || stages.open > 0 || watch.started_count.load(std::memory_order_relaxed) > 0;
}

}  // namespace nl::collector
