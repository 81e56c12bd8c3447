#pragma once

#include <string>

#include "model/trend.h"
#include "runs/ledger/ledger.h"

namespace nl::runs {

struct TrendRequest {
  std::string metric;
  LedgerFilter filter;
  TrendBy by = TrendBy::kDate;
  double min_effect = 0.01;  // of the level before
};

// A metric over the runs of a ledger that have it. Throws Error(kInput) where none has, with the nearest key that some have.
Trend trend_of(Ledger& ledger, const TrendRequest& request);

}  // namespace nl::runs
