#include "exporters/fact_tables/table.h"
#include "model/words.h"

// A row for every kind of communication on one GPU of one process, in each stage and in the whole capture.
namespace nl::exporters::fact_tables {
namespace {

using enum Type;

Column of_communication(const char* name, Type type, const char* unit, const char* help, Value (*read)(const Communication&)) {
  return {name, type, unit, help, [read](const Row& row) { return read(*row.communication); }};
}

void add_communication(std::vector<Column>& columns) {
  using Part = const Communication&;
  columns.insert(
      columns.end(),
      {of_communication("kind", kText, "", "all_reduce, all_gather and the like; peer_copy: a copy from one GPU to another",
                        [](Part part) { return text(key_of(part.kind)); }),
       of_communication("gpu", kInteger, "", "number of the GPU", [](Part part) { return Value(std::int64_t{part.device}); }),
       of_communication("pid", kInteger, "", "its process: a rank", [](Part part) { return positive(part.pid); }),
       of_communication("calls", kInteger, "", "how many start there", [](Part part) { return count(part.count); }),
       of_communication("sum_ns", kInteger, "ns", "their plain sum", [](Part part) { return Value(part.sum_ns); }),
       of_communication("time_ns", kInteger, "ns", "one of them runs", [](Part part) { return Value(part.time_ns); }),
       of_communication("exposed_ns", kInteger, "ns", "of it: no compute kernel runs on this GPU",
                        [](Part part) { return Value(part.exposed_ns); }),
       of_communication("bytes", kInteger, "bytes", "of peer copies; null: kernels of NCCL do not say",
                        [](Part part) { return number(part.bytes); }),
       of_communication("bytes_per_s", kReal, "bytes/s", "of peer copies", [](Part part) { return number(part.bytes_per_s); }),
       of_communication("late_peer_ns", kInteger, "ns", "of sum_ns: before the last rank has started",
                        [](Part part) { return number(part.late_peer_ns); }),
       of_communication("transfer_ns", kInteger, "ns", "of sum_ns: after that", [](Part part) { return number(part.transfer_ns); }),
       of_communication("last_arrivals", kInteger, "", "in how many of them this rank started last",
                        [](Part part) { return number(part.last_arrivals); }),
       of_communication("behind_ns", kInteger, "ns", "how long after the last but one, then",
                        [](Part part) { return number(part.behind_ns); }),
       {"rank", kInteger, "", "of a run whose ranks were captured apart", [](const Row& row) {
          const RankEntry* rank = rank_of(row.run.ranks, row.communication->pid);
          return rank != nullptr ? Value(std::int64_t{rank->rank}) : Value();
        }}});
}

void each_communication(const Run& run, const WorkloadIdentity& identity, const UseRow& use) {
  std::size_t number = 0;
  const auto use_all = [&](const StageEntry* stage, const std::vector<Communication>& parts) {
    for (const Communication& part : parts)
      use({.run = run, .identity = identity, .number = number++, .stage = stage, .communication = &part});
  };
  use_all(nullptr, run.communication);
  for (const StageEntry& stage : run.stages) use_all(&stage, stage.communication);
}

}  // namespace

Table collectives_table() {
  std::vector<Column> columns = {{"run_id", kText, "", "runs.run_id", [](const Row& row) { return text(row.run.run_id); }},
                                 {"stage", kText, "", "in whose measured windows; null: in the whole capture, that of the stages included",
                                  [](const Row& row) { return row.stage != nullptr ? text(row.stage->name) : Value(); }}};
  add_communication(columns);
  return {"collectives", "communication of one kind on one GPU of one process, in a stage or in the whole capture", std::move(columns),
          each_communication};
}

}  // namespace nl::exporters::fact_tables
