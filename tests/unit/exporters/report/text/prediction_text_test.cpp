#include "exporters/report/text/prediction_text.h"

#include <string>

#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"

using namespace nl;
using namespace nl::exporters::report;

namespace {

// Of a step of 2 ms.
Prediction step(double predicted_ns, double low_ns, double high_ns) {
  Prediction out;
  out.stage = "step";
  out.unperturbed_ns = 2e6;
  out.predicted_ns = predicted_ns;
  out.low_ns = low_ns;
  out.high_ns = high_ns;
  return out;
}

}  // namespace

TEST_CASE("a predicted saving is a range; one that may be none is \"up to\", a bound \"at best\"") {
  const Prediction range = step(1.22e6, 1.1e6, 1.38e6);
  CHECK(saving_text(range) == "predicted to save 39 % of each step (31 to 45 %)");
  CHECK(saving_times_text(range) == "1.220 ms instead of 2.000 ms");
  CHECK(plain_saving_text(range, "training step") == "saves about 39 % of each training step, between 31 and 45 %");
  for (const double high_ns : {1.995e6, 2e6, 7e6}) {
    const Prediction unsure = step(1.7e6, 1.4e6, high_ns);
    CHECK(saving_text(unsure) == "predicted to save up to 30 % of each step");
    CHECK(saving_times_text(unsure) == "at best 1.400 ms instead of 2.000 ms");
    CHECK(plain_saving_text(unsure, "step") == "saves up to 30 % of each step");
  }
  Prediction bound = step(1.5e6, 1.2e6, 1.9e6);
  bound.ceiling = true;
  CHECK(saving_text(bound) == "predicted to save 25 % of each step at best");
  CHECK(saving_times_text(bound) == "at best 1.500 ms instead of 2.000 ms");
  CHECK(plain_saving_text(bound, "step") == "saves 25 % of each step at best");
  for (const Prediction& none : {step(2e6, 1.995e6, 2.1e6), step(2.2e6, 2e6, 2.5e6), Prediction()}) {
    CHECK(saving_text(none) == "predicted to save nothing");
    CHECK(saving_times_text(none).empty());
    CHECK(plain_saving_text(none, "step") == "saves nothing, as a replay of the trace predicts");
  }
}

TEST_CASE("the command of a prediction can be pasted into a shell") {
  Prediction both = test::graph_prediction("decode_step");
  both.changes = {"--host step.<locals>.log it=0", "--pinned"};
  CHECK(whatif_command(both) == "nl-stage whatif RUN --host 'step.<locals>.log it=0' --pinned");
  CHECK(changes_text(both) == "--host step.<locals>.log it=0 --pinned");
}
