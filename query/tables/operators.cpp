#include "query/tables/run_rows.h"

namespace nl::query {
namespace {

using enum ColumnType;

struct OperatorRow {
  const OperatorTable* table = nullptr;
  const OperatorEntry* entry = nullptr;
};

std::vector<OperatorRow> operators_of(const Run& run) {
  std::vector<OperatorRow> rows;
  for (const OperatorTable& table : run.operators)
    for (const OperatorEntry& entry : table.entries) rows.push_back({&table, &entry});
  return rows;
}

struct LayerRow {
  const LayerEntry* layer = nullptr;
};

std::vector<LayerRow> layers_of(const Run& run) {
  std::vector<LayerRow> rows;
  for (const LayerEntry& layer : run.layers) rows.push_back({&layer});
  return rows;
}

Value host_time(const OperatorEntry& entry, Ns time_ns) { return entry.host_time_known ? Value::of(time_ns) : Value::null(); }

}  // namespace

Table operators_table() {
  const auto each = [](std::string_view name, ColumnType type, std::string_view unit, std::string_view help, auto read) {
    return of_item<OperatorRow>(name, type, unit, help, read);
  };
  return {"operators",
          "an operator of the framework or the model file, with all its calls",
          {each("source", kText, "", "where operators are from: pytorch ranges, kineto, onnxruntime, …",
                [](const OperatorRow& row) { return Value::known(row.table->source); }),
           each("file", kText, "", "imported from; NULL: the capture itself",
                [](const OperatorRow& row) { return Value::known(row.table->file); }),
           each("name", kText, "", "aten::mm", [](const OperatorRow& row) { return Value::known(row.entry->name); }),
           each("type", kText, "", "what it computes: matmul, attention, norm, …",
                [](const OperatorRow& row) { return Value::known(row.entry->type); }),
           each("calls", kInteger, "", "how often it was called", [](const OperatorRow& row) { return Value::count(row.entry->calls); }),
           each("total_ns", kInteger, "ns", "host time, operators inside included; NULL: not measured",
                [](const OperatorRow& row) { return host_time(*row.entry, row.entry->total_ns); }),
           each("self_ns", kInteger, "ns", "host time without operators inside: sums use this one",
                [](const OperatorRow& row) { return host_time(*row.entry, row.entry->self_ns); }),
           each("gpu_total_ns", kInteger, "ns", "kernels and copies launched inside; NULL: no GPU data",
                [](const OperatorRow& row) { return Value::known(row.entry->cuda_total_ns); }),
           each("gpu_self_ns", kInteger, "ns", "of them, those launched by itself: sums use this one",
                [](const OperatorRow& row) { return Value::known(row.entry->cuda_self_ns); })},
          kRun,
          500,
          open_items<OperatorRow, operators_of>,
          "no operators were recorded; docs/operators.md says what records them"};
}

Table layers_table() {
  const auto each = [](std::string_view name, ColumnType type, std::string_view unit, std::string_view help, auto read) {
    return of_item<LayerRow>(name, type, unit, help, read);
  };
  return {
      "layers",
      "a module of the model, with all its calls",
      {each("name", kText, "", "model.layers.3.mlp", [](const LayerRow& row) { return Value::known(row.layer->name); }),
       each("type", kText, "", "its class, where the workload says so: LlamaMLP",
            [](const LayerRow& row) { return Value::known(row.layer->type); }),
       each("depth", kInteger, "", "in the tree of modules, from 0", [](const LayerRow& row) { return Value::count(row.layer->depth); }),
       each("calls", kInteger, "", "how often it was called", [](const LayerRow& row) { return Value::count(row.layer->calls); }),
       each("total_ns", kInteger, "ns", "host time, modules inside included",
            [](const LayerRow& row) { return Value::of(row.layer->total_ns); }),
       each("self_ns", kInteger, "ns", "host time without modules inside",
            [](const LayerRow& row) { return Value::of(row.layer->self_ns); }),
       each("gpu_total_ns", kInteger, "ns", "kernels and copies launched inside; NULL: no GPU data",
            [](const LayerRow& row) { return Value::known(row.layer->cuda_total_ns); }),
       each("gpu_self_ns", kInteger, "ns", "of them, those launched in no module inside",
            [](const LayerRow& row) { return Value::known(row.layer->cuda_self_ns); })},
      kRun,
      500,
      open_items<LayerRow, layers_of>,
      "no modules of the model are marked; docs/operators.md says what marks them"};
}

}  // namespace nl::query
