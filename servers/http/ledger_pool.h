#pragma once

#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runs/ledger/ledger.h"

namespace nl::servers::http {

// A ledger is for one thread: each answer borrows a connection, and leaves it for the next. One in whose use something was thrown is closed.
class LedgerPool {
 public:
  explicit LedgerPool(std::string location) : location_(std::move(location)) {}

  class Lease {
   public:
    Lease(LedgerPool& pool, std::unique_ptr<runs::Ledger> ledger)
        : pool_(pool), ledger_(std::move(ledger)), exceptions_(std::uncaught_exceptions()) {}
    ~Lease() {
      if (std::uncaught_exceptions() == exceptions_) pool_.take_back(std::move(ledger_));
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    runs::Ledger* operator->() const { return ledger_.get(); }
    runs::Ledger& operator*() const { return *ledger_; }

   private:
    LedgerPool& pool_;
    std::unique_ptr<runs::Ledger> ledger_;
    int exceptions_;
  };

  // Throws what Ledger::open() does; no ledger is made.
  Lease borrow();
  const std::string& location() const { return location_; }

 private:
  void take_back(std::unique_ptr<runs::Ledger> ledger);

  std::string location_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<runs::Ledger>> idle_;
};

}  // namespace nl::servers::http
