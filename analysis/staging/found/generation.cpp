#include "analysis/staging/found/steps.h"

#include <algorithm>

#include "model/cuda_calls.h"

namespace nl::analysis {
namespace {

constexpr std::size_t kMostOtherSteps = 8;
constexpr std::uint32_t kSameEnd = 12, kSameStart = 4, kSameAfterLookup = 3, kFarthestStart = 256;

// A step as most of them are.
struct TypicalStep {
  WorkAmount amount;
  std::uint32_t first = 0;
  std::uint32_t length = 0;
  std::uint32_t lookups = 0;       // of embeddings, and of the rows that layers of experts gather
  std::uint32_t first_lookup = 0;  // how far from the start of the step
  bool launched = false;           // the first lookup is not in a CUDA graph
  bool chooses = false;            // a token
};

class Sorter {
 public:
  Sorter(const Trace& trace, const WorkSequence& sequence, const WorkAmounts& amounts, const StepCut& cut)
      : trace_(trace), sequence_(sequence), amounts_(amounts), cut_(cut), typical_(typical_step()) {}

  Generation sort() {
    std::uint32_t until = 0;
    for (const StepRun& run : cut_.runs) {
      add_run(run, until);
      until = run.end;
    }
    for (std::size_t i = 0; i + 1 < out_.steps.size(); ++i) out_.steps[i].ends_run |= !out_.steps[i].prefill && out_.steps[i + 1].prefill;
    out_.products = typical_.amount.products;
    out_.looks_up = typical_.lookups > 0 || typical_.amount.graphs > 0;
    out_.chooses = typical_.chooses || typical_.amount.graphs > 0;
    return std::move(out_);
  }

 private:
  // The step in the middle, by its time on the GPU.
  TypicalStep typical_step() const {
    struct Each {
      std::uint32_t first, last;
      std::uint64_t gpu_ns;
    };
    std::vector<Each> all;
    for (const StepRun& run : cut_.runs)
      for (std::size_t i = 0; i < run.starts.size(); ++i)
        all.push_back({run.starts[i], run.end_of(i), amounts_.between(run.starts[i], run.end_of(i)).gpu_ns});
    if (all.empty()) return {};
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end(), [](const Each& a, const Each& b) { return a.gpu_ns < b.gpu_ns; });
    TypicalStep step{amounts_.between(middle->first, middle->last), middle->first, middle->last - middle->first, 0, 0, false, false};
    for (std::uint32_t i = middle->first; i < middle->last; ++i) {
      step.chooses |= sequence_.chooses_at(i);
      if (!looks_up_for_product(i, middle->last)) continue;
      if (step.lookups++ > 0) continue;
      step.first_lookup = i - middle->first;
      step.launched = !cuda_call(trace_.strings[trace_.api_calls[sequence_.calls[i]].name]).graph;
    }
    return step;
  }

  void add_run(const StepRun& run, std::uint32_t until) {
    ++out_.runs;
    const std::size_t before = out_.prefills;
    const bool begins_large = has_more_rows(amounts_.between(run.starts[0], run.end_of(0)), typical_.amount);
    if (!begins_large) add_prefill_before(run, until);
    for (std::size_t i = 0; i < run.starts.size(); ++i) {
      const WorkAmount amount = amounts_.between(run.starts[i], run.end_of(i));
      out_.training_kernels += amount.training;
      add({run.starts[i], run.end_of(i), has_more_rows(amount, typical_.amount), i + 1 == run.starts.size()});
    }
    out_.prefilled_runs += out_.prefills > before;
  }

  void add(Generation::Step step) {
    ++(step.prefill ? out_.prefills : out_.decode_steps);
    out_.steps.push_back(step);
  }

  // What comes before a run and has the matrix products of a step is prefill, if it has more rows. Steps between it and the run that
  // launch their work otherwise (before a graph is captured, while it is compiled) are steps all the same.
  void add_prefill_before(const StepRun& run, std::uint32_t until) {
    std::vector<Generation::Step> before;
    std::uint32_t end = run.starts[0];
    while (before.size() < kMostOtherSteps && end > until) {
      if (const std::uint32_t start = end_of_other_step(end, until, run.starts.back()); start != kNone) {
        before.push_back({start, end, false, false});
        end = start;
        continue;
      }
      std::uint32_t first = after_last_wait(end, until);
      if (!enough(first, end)) return;
      const bool prefill = has_more_rows(amounts_.between(first, end), typical_.amount);
      first = prefill ? start_of_prefill(first, end, until) : start_of_step(first, end, until);
      before.push_back({first, end, prefill, false});
      if (prefill) break;
      end = first;
    }
    if (before.empty() || !before.back().prefill) return;
    for (auto step = before.rbegin(); step != before.rend(); ++step) add(*step);
  }

  // The last place after a wait that is reached as the start of a known step is: sampling ends all steps alike.
  std::uint32_t end_of_other_step(std::uint32_t end, std::uint32_t until, std::uint32_t known) const {
    for (std::uint32_t i = end - 1; i > until + kSameEnd; --i)
      if (sequence_.waits_at(i - 1) && !sequence_.waits_at(i) && enough(i, end) && equal_before(i, known)) return i;
    return kNone;
  }
  bool equal_before(std::uint32_t a, std::uint32_t b) const {
    for (std::uint32_t i = 1; i <= kSameEnd; ++i)
      if (sequence_.symbols[a - i] != sequence_.symbols[b - i]) return false;
    return true;
  }

  bool enough(std::uint32_t first, std::uint32_t end) const {
    return amounts_.between(first, end).products * 2 >= std::max(1U, typical_.amount.products);
  }
  // Sampling looks up rows too, after the last product.
  bool looks_up_for_product(std::uint32_t place, std::uint32_t end) const {
    return sequence_.looks_up_at(place) && amounts_.between(place, end).products > 0;
  }
  // Behind the last wait with enough products after it.
  std::uint32_t after_last_wait(std::uint32_t end, std::uint32_t until) const {
    std::uint32_t first = end;
    while (first > until && !(sequence_.waits_at(first - 1) && enough(first, end))) --first;
    return first;
  }

  // Of several waits, the one that makes it most like other steps in length.
  std::uint32_t start_of_step(std::uint32_t first, std::uint32_t end, std::uint32_t until) const {
    const auto off = [&](std::uint32_t start) {
      const std::uint32_t length = end - start;
      return length > typical_.length ? length - typical_.length : typical_.length - length;
    };
    std::uint32_t best = first;
    for (std::uint32_t i = first; i > until && end - i <= 2 * typical_.length; --i)
      if (sequence_.waits_at(i - 1) && !sequence_.waits_at(i) && off(i) < off(best)) best = i;
    return best;
  }

  // The last lookup with the work after it that follows the embedding in a step. Loops over experts gather more often in prefill than in
  // a step, so that counting alone would end among its layers.
  std::uint32_t lookup_as_in_step(std::uint32_t end, std::uint32_t until) const {
    if (!typical_.launched) return kNone;
    for (std::uint32_t i = end; i > until; --i)
      if (sequence_.looks_up_at(i - 1) && enough(i - 1, end) && same_after_lookup(i - 1)) return i - 1;
    return kNone;
  }
  bool same_after_lookup(std::uint32_t place) const {
    const std::uint32_t known = typical_.first + typical_.first_lookup;
    for (std::uint32_t i = 1; i <= kSameAfterLookup; ++i) {
      if (std::max(place, known) + i >= sequence_.size()) return false;
      const bool lookups = sequence_.looks_up_at(place + i) && sequence_.looks_up_at(known + i);
      if (!lookups && sequence_.symbols[place + i] != sequence_.symbols[known + i]) return false;
    }
    return true;
  }
  // As many lookups before the end as a step has.
  std::uint32_t lookup_by_count(std::uint32_t end, std::uint32_t until) const {
    if (typical_.lookups == 0) return kNone;
    std::uint32_t found = 0;
    for (std::uint32_t i = end; i > until; --i) {
      if (!looks_up_for_product(i - 1, end)) continue;
      if (++found >= typical_.lookups && enough(i - 1, end)) return i - 1;
    }
    return kNone;
  }
  // The embeddings of the text are looked up first of all, an encoder of images looks up its positions later. A wait in between, or
  // half the products of a step, make the earlier lookup one of other work.
  std::uint32_t lookup_before_encoder(std::uint32_t lookup, std::uint32_t until) const {
    std::uint32_t first = lookup;
    for (std::uint32_t i = lookup; i > until && !sequence_.waits_at(i - 1) && !enough(i - 1, lookup); --i)
      if (sequence_.looks_up_at(i - 1)) first = i - 1;
    return first;
  }

  std::uint32_t lookup_of_prefill(std::uint32_t end, std::uint32_t until) const {
    if (const std::uint32_t lookup = lookup_as_in_step(end, until); lookup != kNone) return lookup;
    const std::uint32_t lookup = lookup_by_count(end, until);
    return lookup == kNone ? kNone : lookup_before_encoder(lookup, until);
  }

  // Prefill begins with the lookup of its embeddings, as far before it as in a step; where steps run from a graph, with the wait before.
  std::uint32_t start_of_prefill(std::uint32_t first, std::uint32_t end, std::uint32_t until) const {
    const std::uint32_t lookup = lookup_of_prefill(end, until);
    if (lookup == kNone) return first;
    if (!typical_.launched)
      if (const std::uint32_t start = begins_as_step(lookup, until); start != kNone) return start;
    std::uint32_t start = lookup;
    const std::uint32_t most = typical_.launched ? typical_.first_lookup : end;
    while (start > until && lookup - start < most && !sequence_.waits_at(start - 1)) --start;
    return start;
  }
  // The last place before the lookup from which work is launched as at the start of a step, but for its first one or two.
  std::uint32_t begins_as_step(std::uint32_t lookup, std::uint32_t until) const {
    for (std::uint32_t i = lookup; i > until && lookup - i < kFarthestStart; --i)
      for (std::uint32_t skipped = 0; skipped <= 2; ++skipped) {
        const auto step = sequence_.symbols.begin() + typical_.first + skipped;
        if (i - 1 + kSameStart <= lookup && std::equal(step, step + kSameStart, sequence_.symbols.begin() + (i - 1))) return i - 1;
      }
    return kNone;
  }

  const Trace& trace_;
  const WorkSequence& sequence_;
  const WorkAmounts& amounts_;
  const StepCut& cut_;
  const TypicalStep typical_;
  Generation out_;
};

}  // namespace

Generation find_generation(const Trace& trace, const WorkSequence& sequence, const WorkAmounts& amounts, const StepCut& cut) {
  return Sorter(trace, sequence, amounts, cut).sort();
}

}  // namespace nl::analysis
