#pragma once

#include <string>
#include <vector>

#include "exporters/report/text/document.h"
#include "model/median_step.h"
#include "model/prediction.h"

// A window as a picture: what the host does, what each GPU does, and where that time went, on one scale of time.
namespace nl::exporters::report {

// As it was captured: a GPU's lane has the bins of the budget, which is the lane below.
void add_step(StripChart& chart, const std::string& title, const MedianStep& step);
// As it was replayed. `predicted`: what its length is and may be.
void add_window(StripChart& chart, const std::string& title, const WindowStrip& strip, const Prediction* predicted = nullptr);

// What the colours mean: those of the bins that these budgets have, with the share in the first.
Legend budget_legend(const std::vector<const Budget*>& budgets);
Legend host_legend();  // of the host in both; `GPU works` of a replayed GPU is GPU compute
Legend replay_legend();

}  // namespace nl::exporters::report
