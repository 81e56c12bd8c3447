#pragma once

#include <cstdint>

// Which steps of a program are traced, and when tracing must be on for that. Nothing is called and nothing asked.
namespace nl::collector {

// Chooses steps of each kind in rows, at random: one row of each so many, so that nothing that repeats is always met or always missed. Rows,
// because turning tracing on and off takes about 0.2 ms. The first steps of a kind are all chosen: it may have few.
class StepChooser {
 public:
  static constexpr unsigned kMostKinds = 64;
  static constexpr std::uint32_t kLeastFirst = 4;

  void start(std::uint32_t every, std::uint64_t seed) { every_ = every, seed_ = seed; }
  void set_row(unsigned kind, std::uint32_t steps) { kinds_[kind].row = steps; }
  struct Choice {
    bool now = false;      // the next step of this kind is chosen
    bool goes_on = false;  // and so is the one after it, in the same row
  };
  Choice next(unsigned kind);

 private:
  struct Kind {
    std::uint32_t row = 1;
    std::uint64_t steps = 0;
  };
  bool chosen(unsigned kind, std::uint64_t step) const;

  std::uint32_t every_ = 1;
  std::uint64_t seed_ = 0;
  Kind kinds_[kMostKinds] = {};
};

// When to trace, from the steps that open and close on any thread.
class DutyState {
 public:
  enum class Act : std::uint8_t { kNone, kResume, kEnd, kPause };  // kEnd: tracing goes on until the steps that are open have ended

  explicit constexpr DutyState(bool on = true) : on_(on) {}
  StepChooser& chooser() { return chooser_; }
  Act opened(unsigned kind, std::uint64_t token);
  Act closed(std::uint64_t token);
  bool traces_any_step() const { return on_ && steps_ > 0; }

 private:
  static constexpr unsigned kMostOpen = 64;
  static constexpr std::uint64_t kPatience = 8;  // steps of other kinds within a row
  struct Open {
    std::uint64_t token = 0;  // 0: free
    bool chosen = false;
  };
  Open* find(std::uint64_t token);
  Act after_chosen();

  StepChooser chooser_;
  Open open_[kMostOpen] = {};  // those that began while tracing was on
  unsigned open_count_ = 0, chosen_count_ = 0;
  std::uint64_t rows_ = 0;  // a bit for each kind: the step after its last one is chosen, too
  std::uint64_t steps_ = 0, last_in_row_ = 0;
  bool on_ = true;  // from the start until the first steps have been traced: a program may mark none
  bool ending_ = false;
};

}  // namespace nl::collector
