#include "analysis/trace/gpu_order.h"

namespace nl::analysis {
namespace {

using Order = std::vector<std::uint32_t>;

template <class Row>
void reorder(std::vector<Row>& rows, const Order& order) {
  if (rows.empty()) return;
  std::vector<Row> ordered;
  ordered.reserve(order.size());
  for (const std::uint32_t i : order) ordered.push_back(rows[i]);
  rows = std::move(ordered);
}

Order places_in(const Order& order) {
  Order places(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) places[order[i]] = i;
  return places;
}

// What belongs to a kernel, and stands in their order.
template <class Item>
void renumber(std::vector<Item>& items, const Order& places) {
  for (Item& item : items)
    if (item.kernel < places.size()) item.kernel = places[item.kernel];
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.kernel < b.kernel; });
}

}  // namespace

void order_by_start(Trace& trace) {
  if (const Order order = start_order(trace.kernels); !order.empty()) {
    reorder(trace.kernels, order);
    reorder(trace.kernel_nodes, order);
    const Order places = places_in(order);
    renumber(trace.collectives, places);
    renumber(trace.messages, places);
  }
  if (const Order order = start_order(trace.mem_ops); !order.empty()) {
    reorder(trace.mem_ops, order);
    reorder(trace.mem_op_nodes, order);
  }
  if (const Order order = start_order(trace.graph_runs); !order.empty()) reorder(trace.graph_runs, order);
}

}  // namespace nl::analysis
