#include "collector/counters/stage_watch.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>

#include <unistd.h>

#include "collector/lock.h"

namespace nl::collector {
namespace {

constexpr std::size_t kMaxSpellings = kMaxStageLines;

struct Spelling {
  const char* text;
  std::size_t length;
  bool pattern;  // has a *
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
  bool busy;  // a signal handler that interrupts us here is not heard
};
constinit thread_local ThreadStages stages{};

// "LLM@decode_step", of a range of the domain LLM or of one of the default domain.
struct FullName {
  const Text* domain;  // nullptr: the default domain
  const Text& name;
  std::size_t prefix() const { return domain != nullptr ? domain->length + 1 : 0; }
  std::size_t length() const { return prefix() + name.length; }
  char operator[](std::size_t i) const {
    if (i >= prefix()) return name.data[i - prefix()];
    return i < domain->length ? domain->data[i] : '@';
  }
};

// * stands for any text.
bool matches(const Spelling& pattern, const FullName& name) {
  std::size_t at = 0, i = 0, after_star = SIZE_MAX, retry = 0;
  while (i < name.length()) {
    if (at < pattern.length && pattern.text[at] == '*') {
      after_star = ++at;
      retry = i;
    } else if (at < pattern.length && pattern.text[at] == name[i]) {
      ++at, ++i;
    } else if (after_star != SIZE_MAX) {
      at = after_star;
      i = ++retry;
    } else {
      return false;
    }
  }
  while (at < pattern.length && pattern.text[at] == '*') ++at;
  return at == pattern.length;
}

bool spelled(const Spelling& wanted, const Text* domain, const Text& name) {
  if (wanted.pattern) return matches(wanted, {domain != nullptr && domain->length > 0 ? domain : nullptr, name});
  if (domain == nullptr || domain->length == 0)
    return wanted.length == name.length && std::memcmp(wanted.text, name.data, name.length) == 0;
  return wanted.length == domain->length + 1 + name.length && std::memcmp(wanted.text, domain->data, domain->length) == 0 &&
         wanted.text[domain->length] == '@' && std::memcmp(wanted.text + domain->length + 1, name.data, name.length) == 0;
}

// Of the ranges seen last. Comparing a name with patterns takes as long as recording the range does.
struct Verdict {
  const Text* domain;
  std::uint32_t length;  // 0: none
  bool stage;
  char name[51];
};
constinit thread_local Verdict verdicts[16]{};

bool is_stage(EventText text) {
  if (text.name == nullptr) return false;
  const Text& name = *text.name;
  if (name.length == 0 || name.length > sizeof Verdict::name) return stage_line(text) >= 0;
  Verdict& known = verdicts[name.hash % std::size(verdicts)];
  if (known.length == name.length && known.domain == text.domain && std::memcmp(known.name, name.data, name.length) == 0)
    return known.stage;
  known.domain = text.domain;
  known.length = name.length;
  known.stage = stage_line(text) >= 0;
  std::memcpy(known.name, name.data, name.length);
  return known.stage;
}

// Stages are in few domains, whatever else the libraries of the program have.
bool has_stages(const Text* domain) {
  if (domain == nullptr || domain->length == 0) return true;
  for (std::size_t i = 0; i < watch.count; ++i) {
    const Spelling& wanted = watch.spellings[i];
    if (wanted.text[0] == '*') return true;
    if (wanted.length > domain->length && wanted.text[domain->length] == '@' && std::memcmp(wanted.text, domain->data, domain->length) == 0)
      return true;
  }
  return false;
}

ThreadStages::Domain* of_domain(const Text* domain) {
  for (unsigned i = 0; i < stages.domain_count; ++i)
    if (stages.domains[i].domain == domain) return &stages.domains[i];
  if (stages.domain_count == std::size(stages.domains) || !has_stages(domain)) return nullptr;
  stages.domains[stages.domain_count] = {domain, 0, 0};
  return &stages.domains[stages.domain_count++];
}

std::uint64_t token_of_thread() { return kPushedStage | static_cast<std::uint64_t>(gettid()); }

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

void started(EventText text, std::uint64_t range) {
  if (!is_stage(text) || !remember(range, 0)) return;
  watch.started_count.fetch_add(1, std::memory_order_relaxed);
  if (watch.listener != nullptr) watch.listener->opened(text, range);
}

void stopped(std::uint64_t range) {
  if (watch.started_count.load(std::memory_order_relaxed) == 0 || !remember(0, range)) return;
  watch.started_count.fetch_sub(1, std::memory_order_relaxed);
  if (watch.listener != nullptr) watch.listener->closed(range);
}

class Busy {
 public:
  Busy() : was_(stages.busy), errno_(errno) { stages.busy = true; }
  ~Busy() {
    stages.busy = was_;
    errno = errno_;  // the program's
  }
  bool already() const { return was_; }

 private:
  bool was_;
  int errno_;
};

void begins(EventText text, std::uint64_t range) {
  Busy busy;
  if (busy.already()) return;
  if (watch.listener != nullptr && watch.listener->begins != nullptr) watch.listener->begins(text);
  if (range == 0) pushed(text);
  else started(text, range);
}

void ended(const Text* domain, std::uint64_t range) {
  Busy busy;
  if (busy.already()) return;
  if (range == 0) popped(domain);
  else stopped(range);
}

constexpr RangeListener kRangeListener{begins, ended};

}  // namespace

int stage_line(EventText text) {
  if (text.name == nullptr) return -1;
  for (std::size_t i = 0; i < watch.count; ++i)
    if (spelled(watch.spellings[i], text.domain, *text.name)) return static_cast<int>(i);
  return -1;
}

bool watch_stages(const char* list, const StageListener* listener) {
  while (list != nullptr && *list != '\0' && watch.count < kMaxSpellings) {
    std::size_t length = std::strcspn(list, "\n");
    if (length > 0) watch.spellings[watch.count++] = {list, length, std::memchr(list, '*', length) != nullptr};
    list += length + (list[length] != '\0' ? 1 : 0);
  }
  watch.listener = listener;
  if (watch.count > 0) listen_to_ranges(&kRangeListener);
  return watch.count > 0;
}

bool in_stage() { return watch.count == 0 || stages.open > 0 || watch.started_count.load(std::memory_order_relaxed) > 0; }

}  // namespace nl::collector
