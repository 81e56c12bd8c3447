#include <fmt/format.h>
#include <fmt/ranges.h>

#include "exporters/fact_tables/table.h"
#include "model/words.h"

// A row for the collectives of one kind, group and size, where the capture tells sizes.
namespace nl::exporters::fact_tables {
namespace {

using enum Type;

Column of_rate(const char* name, Type type, const char* unit, const char* help, Value (*read)(const CollectiveRate&)) {
  return {name, type, unit, help, [read](const Row& row) { return read(*row.rate); }};
}

void each_rate(const Run& run, const WorkloadIdentity& identity, const UseRow& use) {
  for (std::size_t i = 0; i < run.collective_rates.size(); ++i)
    use({.run = run, .identity = identity, .number = i, .rate = &run.collective_rates[i]});
}

}  // namespace

Table collective_rates_table() {
  using Rate = const CollectiveRate&;
  return {"collective_rates",
          "collectives of one kind, group and size (from one power of two to the next), where the capture tells sizes",
          {{"run_id", kText, "", "runs.run_id", [](const Row& row) { return text(row.run.run_id); }},
           of_rate("kind", kText, "", "all_reduce, all_gather and the like", [](Rate rate) { return text(key_of(rate.kind)); }),
           of_rate("ranks", kText, "", "the members, by number: 0,1,2,3",
                   [](Rate rate) { return text(fmt::format("{}", fmt::join(rate.ranks, ","))); }),
           of_rate("members", kInteger, "", "how many they are", [](Rate rate) { return positive(rate.ranks.size()); }),
           of_rate("calls", kInteger, "", "collectives", [](Rate rate) { return count(rate.calls); }),
           of_rate("sum_bytes", kInteger, "bytes", "of all calls; of one the larger of what a member gives and gets",
                   [](Rate rate) { return count(rate.bytes); }),
           of_rate("transfer_ns", kInteger, "ns", "of all calls: from the arrival of the last member until it leaves",
                   [](Rate rate) { return Value(rate.transfer_ns); }),
           of_rate("algorithm_bytes_per_s", kReal, "bytes/s", "sum_bytes ÷ transfer_ns",
                   [](Rate rate) { return Value(rate.algorithm_bytes_per_s); }),
           of_rate("bus_bytes_per_s", kReal, "bytes/s", "what each link carries, as nccl-tests count",
                   [](Rate rate) { return Value(rate.bus_bytes_per_s); })},
          each_rate};
}

}  // namespace nl::exporters::fact_tables
