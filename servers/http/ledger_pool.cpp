#include "servers/http/ledger_pool.h"

namespace nl::servers::http {

LedgerPool::Lease LedgerPool::borrow() {
  std::unique_ptr<runs::Ledger> ledger;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      ledger = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!ledger) ledger = std::make_unique<runs::Ledger>(runs::Ledger::open(location_, runs::database::Absent::kRefuse));
  return Lease(*this, std::move(ledger));
}

void LedgerPool::take_back(std::unique_ptr<runs::Ledger> ledger) {
  constexpr std::size_t kMostIdle = 32;
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMostIdle) idle_.push_back(std::move(ledger));
}

}  // namespace nl::servers::http
