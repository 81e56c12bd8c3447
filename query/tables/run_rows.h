#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "query/sources.h"

namespace nl::query {

// The items of a run, one row each. `Item`: a struct of pointers into the run and of what was made for the row.
template <class Item>
class RunRows : public Rows {
 public:
  explicit RunRows(std::vector<Item> items) : items_(std::move(items)) {}
  std::size_t size() const override { return items_.size(); }
  const Item& operator[](std::size_t row) const { return items_[row]; }

 private:
  std::vector<Item> items_;
};

// `Read`: a lambda without captures, (const Item&) → Value.
template <class Item, class Read>
Column of_item(std::string_view name, ColumnType type, std::string_view unit, std::string_view help, Read) {
  return column<RunRows<Item>>(name, type, unit, help, [](const RunRows<Item>& rows, std::size_t row) { return Read{}(rows[row]); });
}

template <class Item, std::vector<Item> (*kItemsOf)(const Run&)>
std::unique_ptr<Rows> open_items(const Sources& sources) {
  return std::make_unique<RunRows<Item>>(kItemsOf(*sources.run));
}

}  // namespace nl::query
