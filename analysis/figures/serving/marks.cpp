#include "analysis/figures/serving/marks.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <string_view>
#include <unordered_map>

#include "analysis/staging/traced_steps.h"
#include "nvtx/names.h"

namespace nl {

// The words of the vocabulary.
enum class ServingMark : std::uint8_t { kRequest, kStep };
template <>
inline constexpr auto kKeys<ServingMark> = std::to_array<std::string_view>({"request", "step"});
enum class RequestEvent : std::uint8_t { kArrived, kQueued, kScheduled, kPreempted, kFirstToken, kFinished, kDetokenised };
template <>
inline constexpr auto kKeys<RequestEvent> =
    std::to_array<std::string_view>({"arrived", "queued", "scheduled", "preempted", "first_token", "finished", "detokenised"});

}  // namespace nl

namespace nl::analysis::serving {
namespace {

constexpr std::string_view kStepRange = "execute_";

// Takes the text up to a separator off the front.
std::string_view take_until(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return word;
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// The key=value words of a mark. Of a key that comes twice, the first counts.
class Fields {
 public:
  explicit Fields(std::string_view rest) : rest_(rest) {}
  std::string_view operator[](std::string_view key) const {
    for (std::string_view rest = rest_; !rest.empty();) {
      std::string_view word = take_until(rest, ' ');
      if (word.size() > key.size() && word.starts_with(key) && word[key.size()] == '=') return word.substr(key.size() + 1);
    }
    return {};
  }
  std::optional<std::uint64_t> number(std::string_view key) const { return number_of((*this)[key]); }

 private:
  std::string_view rest_;
};

struct EntryText {
  std::uint64_t id = 0;
  bool prefill = false;
  std::uint64_t tokens = 0;
};

// 7:prefill:512
std::optional<EntryText> entry_of(std::string_view text) {
  const auto id = number_of(take_until(text, ':'));
  const auto kind = from_key<ServingStepKind>(take_until(text, ':'));
  const auto tokens = number_of(text);
  if (!id || !tokens || !kind || *kind == ServingStepKind::kMixed) return std::nullopt;
  return EntryText{*id, *kind == ServingStepKind::kPrefill, *tokens};
}

// A step as its marks tell it, before its range is known.
struct ToldStep {
  Ns told_ns = 0;  // of its last part
  std::uint64_t index = 0;
  std::uint64_t parts = 1;
  std::set<std::uint64_t> seen;  // parts
  std::vector<EntryText> entries;
};

struct ThreadRange {
  Ns start_ns = 0, end_ns = 0;
  bool step = false;  // execute_…
};

class EventReader {
 public:
  explicit EventReader(const Trace& trace) : trace_(trace) {}

  std::optional<Events> read() {
    for (const std::uint32_t mark : by_time()) take(trace_.marks[mark]);
    if (!any_) return std::nullopt;
    find_ranges();
    for (auto& [thread, told] : told_) place_steps(thread, told);
    std::erase_if(events_.workers, [](const Worker& worker) { return worker.steps.empty(); });
    std::stable_sort(events_.workers.begin(), events_.workers.end(),
                     [](const Worker& a, const Worker& b) { return a.steps.front().start_ns < b.steps.front().start_ns; });
    return std::move(events_);
  }

 private:
  std::vector<std::uint32_t> by_time() const {
    std::vector<std::uint32_t> order(trace_.marks.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return trace_.marks[a].time_ns < trace_.marks[b].time_ns; });
    return order;
  }

  void take(const Mark& mark) {
    const std::string& domain = trace_.strings[mark.domain];
    std::string_view text = trace_.strings[mark.name];
    constexpr std::string_view kLiteral = "LLM@";
    if (domain.empty() && text.starts_with(kLiteral)) text.remove_prefix(kLiteral.size());
    else if (domain != nvtx::kLlmDomain) return;
    const auto told_of = from_key<ServingMark>(take_until(text, ' '));
    if (told_of == ServingMark::kStep) take_step(mark, Fields(text));
    else if (told_of == ServingMark::kRequest)
      if (const auto event = from_key<RequestEvent>(take_until(text, ' ')))
        take_request(mark, *event, Fields(text));  // a newer engine has more
  }

  void seen(Ns time_ns) {
    events_.first_ns = any_ ? std::min(events_.first_ns, time_ns) : time_ns;
    events_.last_ns = any_ ? std::max(events_.last_ns, time_ns) : time_ns;
    any_ = true;
  }

  std::uint32_t request(std::uint64_t id) {
    const auto [found, is_new] = requests_.try_emplace(id, static_cast<std::uint32_t>(events_.requests.size()));
    if (is_new) events_.requests.emplace_back().id = id;
    return found->second;
  }

  void once(std::optional<Ns>& event, Ns time_ns) {
    if (event) ++events_.damage[ServingDamage::kTwice];
    else event = time_ns;
  }

  void by_scheduler(std::uint32_t thread) {
    auto& threads = events_.scheduler_threads;
    if (std::find(threads.begin(), threads.end(), thread) == threads.end()) threads.push_back(thread);
  }

  void take_request(const Mark& mark, RequestEvent event, const Fields& fields) {
    seen(mark.time_ns);
    const auto id = fields.number("id");
    if (!id) {
      ++events_.damage[ServingDamage::kUnreadable];
      return;
    }
    add_event(mark, event, fields, events_.requests[request(*id)]);
  }

  void add_event(const Mark& mark, RequestEvent event, const Fields& fields, RequestEvents& request) {
    switch (event) {
      case RequestEvent::kArrived:
        once(request.arrived_ns, mark.time_ns);
        request.prompt_tokens = fields.number("prompt");
        request.name = fields["name"];
        break;
      case RequestEvent::kQueued: once(request.queued_ns, mark.time_ns); break;
      case RequestEvent::kScheduled:
        request.scheduled.emplace_back(mark.time_ns, fields.number("again").value_or(0));
        by_scheduler(mark.thread);
        break;
      case RequestEvent::kPreempted:
        request.preempted.emplace_back(mark.time_ns, fields.number("tokens").value_or(0));
        by_scheduler(mark.thread);
        break;
      case RequestEvent::kFirstToken: once(request.first_token_ns, mark.time_ns); break;
      case RequestEvent::kFinished:
        once(request.finished_ns, mark.time_ns);
        request.output_tokens = fields.number("tokens");
        request.end = fields["reason"].empty() ? RequestEnd::kOther : from_key<RequestEnd>(fields["reason"]).value_or(RequestEnd::kOther);
        break;
      case RequestEvent::kDetokenised:
        once(request.detokenised_ns, mark.time_ns);
        events_.any_detokenised = true;
        break;
    }
  }

  void take_step(const Mark& mark, const Fields& fields) {
    seen(mark.time_ns);
    const auto index = fields.number("index");
    std::string_view part = fields["part"];  // 1/2
    const auto number = part.empty() ? std::optional<std::uint64_t>(1) : number_of(take_until(part, '/'));
    const auto parts = fields["part"].empty() ? std::optional<std::uint64_t>(1) : number_of(part);
    if (!index || !number || !parts || *number == 0 || *parts < *number) {
      ++events_.damage[ServingDamage::kUnreadable];
      return;
    }
    std::vector<ToldStep>& told = told_[mark.thread];
    if (told.empty() || told.back().index != *index || *parts == 1) told.push_back({mark.time_ns, *index, *parts, {}, {}});
    ToldStep& step = told.back();
    step.told_ns = mark.time_ns;
    step.seen.insert(*number);
    for (std::string_view rest = fields["requests"]; !rest.empty();) {
      if (const auto entry = entry_of(take_until(rest, ','))) step.entries.push_back(*entry);
      else ++events_.damage[ServingDamage::kUnreadable];
    }
  }

  void find_ranges() {
    std::unordered_map<std::uint32_t, bool> is_step;  // by name
    each_range(trace_, [&](const Range& range) {
      if (!told_.contains(range.thread)) return;
      const auto [found, is_new] = is_step.try_emplace(range.name.value, false);
      if (is_new) found->second = std::string_view(trace_.strings[range.name]).starts_with(kStepRange);
      ranges_[range.thread].push_back({range.start_ns, range.end_ns, found->second});
    });
    for (auto& [thread, ranges] : ranges_) {
      const bool named = std::any_of(ranges.begin(), ranges.end(), [](const ThreadRange& each) { return each.step; });
      if (named) std::erase_if(ranges, [](const ThreadRange& each) { return !each.step; });
      std::stable_sort(ranges.begin(), ranges.end(), [](const ThreadRange& a, const ThreadRange& b) {
        return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
      });
    }
  }

  // The first range behind the mark and before the next one.
  const ThreadRange* range_behind(const std::vector<ThreadRange>& ranges, Ns mark_ns, Ns next_ns) const {
    const auto found = std::lower_bound(ranges.begin(), ranges.end(), mark_ns,
                                        [](const ThreadRange& range, Ns time_ns) { return range.start_ns < time_ns; });
    return found != ranges.end() && found->start_ns < next_ns ? &*found : nullptr;
  }

  void place_steps(std::uint32_t thread, const std::vector<ToldStep>& told) {
    Worker worker{thread, {}};
    const std::vector<ThreadRange>& ranges = ranges_[thread];
    for (std::size_t i = 0; i < told.size(); ++i) {
      if (told[i].seen.size() != told[i].parts) ++events_.damage[ServingDamage::kStepCut];
      const Ns next_ns = i + 1 < told.size() ? told[i + 1].told_ns : std::numeric_limits<Ns>::max();
      const ThreadRange* range = range_behind(ranges, told[i].told_ns, next_ns);
      if (range == nullptr) {
        ++events_.damage[ServingDamage::kStepNoRange];
        continue;
      }
      add_step(told[i], *range, worker);
    }
    events_.workers.push_back(std::move(worker));
  }

  void add_step(const ToldStep& told, const ThreadRange& range, Worker& worker) {
    Step step;
    step.index = told.index;
    step.start_ns = range.start_ns;
    step.end_ns = range.end_ns;
    if (!worker.steps.empty() && step.start_ns < worker.steps.back().end_ns) {
      ++events_.damage[ServingDamage::kStepsOverlap];
      step.start_ns = worker.steps.back().end_ns;
    }
    if (step.end_ns <= step.start_ns) return;
    std::set<std::uint64_t> ids;
    for (const EntryText& entry : told.entries) {
      if (!ids.insert(entry.id).second) {
        ++events_.damage[ServingDamage::kTwice];
        continue;
      }
      step.entries.push_back({request(entry.id), entry.prefill, entry.tokens});
      ++(entry.prefill ? step.prefills : step.decodes);
      (entry.prefill ? step.prefill_tokens : step.decode_tokens) += entry.tokens;
    }
    events_.last_ns = std::max(events_.last_ns, step.end_ns);
    if (!step.entries.empty()) worker.steps.push_back(std::move(step));
  }

  const Trace& trace_;
  Events events_;
  bool any_ = false;
  std::unordered_map<std::uint64_t, std::uint32_t> requests_;
  std::map<std::uint32_t, std::vector<ToldStep>> told_;       // by thread
  std::map<std::uint32_t, std::vector<ThreadRange>> ranges_;  // by thread, steps only where there are ranges of that name
};

}  // namespace

std::optional<Events> read_events(const Trace& trace) { return EventReader(trace).read(); }

}  // namespace nl::analysis::serving
