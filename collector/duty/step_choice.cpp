#include "collector/duty/step_choice.h"

namespace nl::collector {
namespace {

// splitmix64: each number of a sequence looks drawn at random.
std::uint64_t scrambled(std::uint64_t number) {
  number += 0x9E3779B97F4A7C15ULL;
  number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9ULL;
  number = (number ^ (number >> 27)) * 0x94D049BB133111EBULL;
  return number ^ (number >> 31);
}

}  // namespace

bool StepChooser::chosen(unsigned kind, std::uint64_t step) const {
  const std::uint32_t row = kinds_[kind].row, first = row > kLeastFirst ? row : kLeastFirst;
  if (step < first) return true;
  const std::uint64_t place = (step - first) / row;
  return place % every_ == scrambled(seed_ ^ scrambled(kind) ^ (place / every_)) % every_;
}

StepChooser::Choice StepChooser::next(unsigned kind) {
  if (kind >= kMostKinds) return {};
  const std::uint64_t step = kinds_[kind].steps++;
  return {chosen(kind, step), kinds_[kind].row > 1 && chosen(kind, step + 1)};
}

DutyState::Open* DutyState::find(std::uint64_t token) {
  for (Open& open : open_)
    if (open.token == token) return &open;
  return nullptr;
}

DutyState::Act DutyState::opened(unsigned kind, std::uint64_t token) {
  const StepChooser::Choice choice = chooser_.next(kind);
  const std::uint64_t bit = std::uint64_t{1} << (kind % 64);
  ++steps_;
  rows_ = choice.goes_on ? rows_ | bit : rows_ & ~bit;
  if (choice.goes_on) last_in_row_ = steps_;
  else if (steps_ - last_in_row_ > kPatience) rows_ = 0;
  const bool resumes = choice.now && (!on_ || ending_);
  if (!resumes && (!on_ || ending_)) return Act::kNone;
  Open* free = find(0);
  if (free == nullptr) return Act::kNone;  // more steps at once than a program has
  *free = {token, choice.now};
  ++open_count_;
  chosen_count_ += choice.now;
  if (!resumes) return Act::kNone;
  on_ = true;
  ending_ = false;
  return Act::kResume;
}

DutyState::Act DutyState::after_chosen() {
  if (!ending_ && (chosen_count_ > 0 || rows_ != 0)) return Act::kNone;
  if (open_count_ > 0) {
    const Act act = ending_ ? Act::kNone : Act::kEnd;
    ending_ = true;
    return act;
  }
  on_ = ending_ = false;
  return Act::kPause;
}

DutyState::Act DutyState::closed(std::uint64_t token) {
  Open* open = find(token);
  if (open == nullptr || !on_) return Act::kNone;
  --open_count_;
  chosen_count_ -= open->chosen;
  *open = {};
  return after_chosen();
}

}  // namespace nl::collector
