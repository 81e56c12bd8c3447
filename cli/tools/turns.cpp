#include "cli/tools/turns.h"

namespace nl::cli {

Turns::Turn::Turn(Turns& turns, const std::stop_token& stop) : turns_(turns) {
  std::unique_lock lock(turns_.mutex_);
  has_ = turns_.changed_.wait(lock, stop, [this] { return turns_.free_ > 0; }) && !stop.stop_requested();
  if (has_) --turns_.free_;
}

Turns::Turn::~Turn() {
  if (!has_) return;
  {
    const std::lock_guard lock(turns_.mutex_);
    ++turns_.free_;
  }
  turns_.changed_.notify_one();
}

}  // namespace nl::cli
