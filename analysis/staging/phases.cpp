#include "analysis/staging/phases.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace nl::analysis {
namespace {

enum class Role : std::uint8_t {
  kPhase,   // names the phase of its thread
  kAround,  // around such windows: names it where none of them is open
  kInside,  // inside one: says nothing
  kWarmup,  // an iteration that is left out
};

struct Entry {
  Ns start_ns = 0, end_ns = 0;
  std::uint32_t name = kNone;  // top-level stage
  std::uint32_t thread = kNone;
  Role role = Role::kPhase;
};

// The roles of one thread's measured windows, by start and longest first.
class Roles {
 public:
  explicit Roles(const StageTable& table) : prefill_(table.find(StageKind::kPrefill)), decode_(table.find(StageKind::kDecode)) {}

  std::vector<Role> of(const std::vector<const Window*>& windows) const {
    constexpr Ns kNever = std::numeric_limits<Ns>::max();
    std::vector<Role> roles(windows.size(), Role::kPhase);
    Ns first_end = kNever;  // of the prefill and decode windows that start later
    for (std::size_t i = windows.size(); i-- > 0;) {
      if (is_known(*windows[i])) first_end = std::min(first_end, windows[i]->end_ns);
      else if (first_end <= windows[i]->end_ns) roles[i] = Role::kAround;
    }
    Ns known_until = std::numeric_limits<Ns>::min(), other_until = known_until, around_until = known_until;
    for (std::size_t i = 0; i < windows.size(); ++i) {
      const Window& window = *windows[i];
      const bool known = is_known(window), around = roles[i] == Role::kAround;
      const bool inside =
          window.end_ns <= known_until || (around && window.end_ns <= around_until) || (!known && !around && window.end_ns <= other_until);
      if (inside) roles[i] = Role::kInside;
      Ns& until = known ? known_until : around ? around_until : other_until;
      until = std::max(until, window.end_ns);
    }
    return roles;
  }

 private:
  bool is_known(const Window& window) const { return window.stage == prefill_ || window.stage == decode_; }
  std::uint32_t prefill_, decode_;
};

void add_windows(const StageTable& table, const std::vector<Window>& windows, std::vector<std::vector<Entry>>& processes) {
  const Roles roles(table);
  std::vector<const Window*> thread;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (!windows[i].warmup) thread.push_back(&windows[i]);
    if (i + 1 < windows.size() && windows[i + 1].thread == windows[i].thread) continue;
    const std::vector<Role> role = roles.of(thread);
    for (std::size_t j = 0; j < thread.size(); ++j) {
      const Window& window = *thread[j];
      if (role[j] == Role::kInside || window.wall_ns() == 0) continue;
      processes[window.process].push_back({window.start_ns, window.end_ns, table.top_level(window.stage), window.thread, role[j]});
    }
    thread.clear();
  }
}

// What the open windows say at one instant.
struct Answer {
  std::uint32_t target = kNone;  // kNone: left out
  std::uint32_t thread = kNone;
  std::optional<Ns> launch_end_ns;  // none: the end of the stretch
  friend bool operator==(const Answer&, const Answer&) = default;
};

class ProcessPartition {
 public:
  ProcessPartition(std::uint32_t process, std::uint32_t mixed, std::vector<BudgetSpan>& spans)
      : process_(process), mixed_(mixed), spans_(spans) {}

  void cut(std::vector<Entry>& entries) {
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.start_ns < b.start_ns; });
    std::vector<Ns> times;
    Ns first = std::numeric_limits<Ns>::max(), last = std::numeric_limits<Ns>::min();
    for (const Entry& entry : entries) {
      times.insert(times.end(), {entry.start_ns, entry.end_ns});
      if (entry.role == Role::kWarmup) continue;
      first = std::min(first, entry.start_ns);
      last = std::max(last, entry.end_ns);
    }
    std::sort(times.begin(), times.end());
    times.erase(std::unique(times.begin(), times.end()), times.end());
    std::size_t next = 0;
    for (std::size_t i = 0; i + 1 < times.size(); ++i) {
      std::erase_if(open_, [&](const Entry* entry) { return entry->end_ns <= times[i]; });
      for (; next < entries.size() && entries[next].start_ns <= times[i]; ++next) open_.push_back(&entries[next]);
      if (times[i] >= first && times[i + 1] <= last) add(times[i], times[i + 1], ask());
    }
    finish();
  }

 private:
  bool phase_open_on(std::uint32_t thread) const {
    return std::any_of(open_.begin(), open_.end(), [&](const Entry* e) { return e->role == Role::kPhase && e->thread == thread; });
  }

  Answer ask() const {
    Answer answer{mixed_ + 1, last_thread_, {}};
    const Entry* found = nullptr;
    bool several = false, warmup = false;
    for (const Entry* entry : open_) {
      warmup |= entry->role == Role::kWarmup;
      if (entry->role == Role::kWarmup || (entry->role == Role::kAround && phase_open_on(entry->thread))) continue;
      several |= found != nullptr && found->name != entry->name;
      if (found == nullptr) found = entry;
    }
    if (found == nullptr && warmup) answer.target = kNone;
    if (found == nullptr) return answer;
    if (several) return {mixed_, found->thread, {}};
    return {found->name, found->thread, found->end_ns};
  }

  void add(Ns start_ns, Ns end_ns, const Answer& answer) {
    if (answer == last_ && until_ns_ == start_ns) {
      until_ns_ = end_ns;
      return;
    }
    finish();
    last_ = answer;
    from_ns_ = start_ns;
    until_ns_ = end_ns;
    if (answer.target <= mixed_) last_thread_ = answer.thread;
  }

  void finish() {
    if (last_.target == kNone || until_ns_ <= from_ns_) return;
    spans_.push_back({from_ns_, until_ns_, last_.launch_end_ns.value_or(until_ns_), process_, last_.thread, last_.target, false});
  }

  std::uint32_t process_, mixed_;
  std::vector<BudgetSpan>& spans_;
  std::vector<const Entry*> open_;
  Answer last_;
  Ns from_ns_ = 0, until_ns_ = 0;
  std::uint32_t last_thread_ = kNone;
};

}  // namespace

PhasePartition::PhasePartition(const StageTable& table, const IterationPlan& plan, const std::vector<Window>& windows)
    : stages_(static_cast<std::uint32_t>(table.stages().size())) {
  std::uint32_t processes = 0;
  for (const Window& window : windows) processes = std::max(processes, window.process + 1);
  std::vector<std::vector<Entry>> entries(processes);
  add_windows(table, windows, entries);
  for (std::size_t i = 0, done = plan.spans.size(); i < windows.size(); ++i) {
    const Window& window = windows[i];
    if (!window.warmup || window.iteration == done) continue;
    done = window.iteration;
    const auto& span = plan.spans[window.iteration];
    entries[window.process].push_back({span.start_ns, span.end_ns, kNone, window.thread, Role::kWarmup});
  }
  for (std::uint32_t i = 0; i < processes; ++i) ProcessPartition(i, mixed(), spans_).cut(entries[i]);
}

}  // namespace nl::analysis
