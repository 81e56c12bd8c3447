#pragma once

#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/analyse.h"
#include "analysis/replay/predict.h"
#include "model/evidence.h"
#include "model/prediction.h"

namespace nl::analysis {

struct WhatIfQuestion {
  std::string stage;                         // empty: the unit of the program, else the stage that takes the longest
  std::vector<NamedChange> changes;          // made together; empty: all that apply, one by one, and the best sequence of them
  const Run* recorded = nullptr;             // of a bundle: it knows its unprofiled passes and counters, which its trace does not
  double interval_scale = 1;                 // of the logarithm of every interval, as the record of predictions has it
  std::optional<double> unprofiled_ns = {};  // of the stage's median window, as the user knows it; else that of unprofiled passes
};

// What a stage of the captured program would take after changes. Reads no clock and no files.
WhatIf what_if(const Evidence& evidence, const Knowledge& knowledge, const WhatIfQuestion& question);

// A replay of the trace of a run whose figures are set, findings aside. The trace, the run and the knowledge must outlive it.
class RunReplay {
 public:
  struct Options {
    std::string stage;                                                 // whose unprofiled time counts
    std::optional<double> unprofiled_ns;                               // that time, where the run does not know it
    double interval_scale = 1;                                         // of the logarithm of every interval
    std::size_t most_works = std::numeric_limits<std::size_t>::max();  // of a trace with more only a part is replayed
  };
  RunReplay(const Run& run, const StagedTrace& staged, const Knowledge& knowledge, const Options& options);

  // With what the run and the tables know of these changes.
  Prediction predict(const std::string& stage, std::vector<NamedChange> changes) const;
  // All that apply, and the best sequence. Nothing where nothing can be replayed.
  std::optional<WhatIf> everything(const std::string& stage) const;
  WhatIf answer(const std::string& stage, const std::vector<NamedChange>& changes) const;

 private:
  bool is_replayed_whole() const;
  bool is_short(const std::string& stage) const;
  std::unique_ptr<Predictor> made_predictor(const std::string& stage) const;
  void make_predictors(const std::vector<std::string>& stages) const;
  const Predictor& predictor(const std::string& stage) const;
  NamedChange informed(NamedChange change, const std::string& stage) const;
  WhatIf as_it_is(const std::string& stage) const;
  void explore(WhatIf& result) const;

  const Run& run_;
  const Knowledge& knowledge_;
  const StagedTrace& staged_;
  Options options_;
  std::optional<UnprofiledWindow> unprofiled_;
  mutable std::map<std::string, std::unique_ptr<Predictor>> predictors_;  // by stage; of a trace that is replayed whole, one for all
};

}  // namespace nl::analysis
