#include "model/serving.h"
#include "query/tables/run_rows.h"

// The bill of a window of serving.
namespace nl::query {
namespace {

using enum ColumnType;

struct BillRow {
  const ServingRequest* request = nullptr;
};

std::vector<BillRow> bills_of(const Run& run) {
  std::vector<BillRow> rows;
  if (run.serving)
    for (const ServingRequest& request : run.serving->requests) rows.push_back({&request});
  return rows;
}

template <class Read>
Column each(std::string_view name, ColumnType type, std::string_view unit, std::string_view help, Read read) {
  return of_item<BillRow>(name, type, unit, help, read);
}

template <ServingPart Part>
Column part(std::string_view name, std::string_view help) {
  return each(name, kInteger, "ns", help, [](const BillRow& row) { return Value::of(row.request->times[Part]); });
}

}  // namespace

Table bills_table() {
  using enum ServingPart;
  return {
      "bills",
      "a request of a serving engine that marks them, and what its time, its steps and its energy went into (docs/serving.md)",
      {each("id", kInteger, "", "as the engine counts them", [](const BillRow& row) { return Value::count(row.request->id); }),
       each("name", kText, "", "its X-Request-Id", [](const BillRow& row) { return Value::known(row.request->name); }),
       each("worker", kInteger, "", "place in /serving/workers of run.json; NULL: no step had it",
            [](const BillRow& row) { return Value::known(row.request->worker); }),
       each("prompt_tokens", kInteger, "", "of its prompt", [](const BillRow& row) { return Value::known(row.request->prompt_tokens); }),
       each("output_tokens", kInteger, "", "written; NULL: it did not end in the window",
            [](const BillRow& row) { return Value::known(row.request->output_tokens); }),
       each("ended", kText, "", "length, stop, cancelled or other; NULL: it did not end in the window",
            [](const BillRow& row) { return Value::known(key_of(row.request->end)); }),
       each("partial", kInteger, "", "1: it began before the window, or ended after it",
            [](const BillRow& row) { return Value::count(!row.request->whole()); }),
       each("start_ns", kInteger, "ns", "in the capture", [](const BillRow& row) { return Value::of(row.request->start_ns); }),
       each("end_ns", kInteger, "ns", "all of its text is made", [](const BillRow& row) { return Value::of(row.request->end_ns); }),
       part<kQueue>("queue_ns", "arrived, until its first step begins"),
       part<kPrefill>("prefill_ns", "steps that compute a part of its prompt"),
       part<kDecode>("decode_ns", "steps that write a token of it, without interference"),
       part<kInterference>("interference_ns", "what prompts of others add"),
       part<kUndivided>("undivided_ns", "steps that write a token of it beside prompts, with nothing to compare them with"),
       part<kPreemption>("preemption_ns", "preempted, or computing again"),
       part<kOtherSteps>("other_steps_ns", "steps without it, between its own"),
       part<kBetweenSteps>("between_steps_ns", "no step runs"),
       part<kDetokenising>("detokenising_ns", "finished, until all of its text is made"),
       each("network_before_ns", kInteger, "ns", "from sending it until it has arrived; NULL: not captured",
            [](const BillRow& row) { return Value::known(row.request->network_before_ns); }),
       each("network_after_ns", kInteger, "ns", "from its last text until the client has all of it; NULL: not captured",
            [](const BillRow& row) { return Value::known(row.request->network_after_ns); }),
       each("first_token_ns", kInteger, "ns", "since it arrived",
            [](const BillRow& row) { return Value::known(row.request->first_token_ns); }),
       each("preemptions", kInteger, "", "how often its blocks were taken",
            [](const BillRow& row) { return Value::count(row.request->preemptions); }),
       each("steps", kInteger, "", "that had it", [](const BillRow& row) { return Value::count(row.request->steps); }),
       each("step_own_ns", kInteger, "ns", "its part of the steps' time, by its tokens",
            [](const BillRow& row) { return Value::of(row.request->step.own_ns); }),
       each("step_shared_ns", kInteger, "ns", "its part of what steps cost whatever is in them",
            [](const BillRow& row) { return Value::of(row.request->step.shared_ns); }),
       each("gpu_own_ns", kInteger, "ns", "its part of the GPU's time, by its tokens; NULL: not captured",
            [](const BillRow& row) { return row.request->gpu ? Value::of(row.request->gpu->own_ns) : Value::null(); }),
       each("gpu_shared_ns", kInteger, "ns", "its part of the GPU time that steps cost whatever is in them",
            [](const BillRow& row) { return row.request->gpu ? Value::of(row.request->gpu->shared_ns) : Value::null(); }),
       each("energy_uj", kInteger, "µJ", "its part of the energy; NULL: not measured",
            [](const BillRow& row) { return Value::known(row.request->energy_uj); })},
      kRun,
      1000,
      open_items<BillRow, bills_of>,
      "the capture has no marks of requests; an engine that writes them has (docs/serving.md)"};
}

}  // namespace nl::query
