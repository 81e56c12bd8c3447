#include "query/order.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <string_view>
#include <unordered_map>

namespace nl::query {
namespace {

constexpr std::int64_t kNullKey = std::numeric_limits<std::int64_t>::min();  // no time and no count is as small

// Numbers that order as reals do.
std::int64_t key_of_real(double value) {
  const auto bits = std::bit_cast<std::int64_t>(value + 0.0);  // -0 is 0
  return bits >= 0 ? bits : std::numeric_limits<std::int64_t>::min() - bits;
}

// Texts of a trace stand in it once: rows with the same one have the same address. Numbers them in the order of their bytes.
class TextRanks {
 public:
  std::int64_t add(std::string_view text) {
    if (!texts_.empty() && text.data() == last_.data() && text.size() == last_.size()) return last_id_;
    const auto [found, is_new] = ids_.try_emplace(text.data(), static_cast<std::int64_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    else if (texts_[static_cast<std::size_t>(found->second)].size() != text.size()) return add_part(text);
    last_ = text;
    return last_id_ = found->second;
  }
  std::vector<std::int64_t> ranks() const {
    std::vector<std::size_t> order(texts_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return texts_[a] < texts_[b]; });
    std::vector<std::int64_t> ranks(texts_.size());
    std::int64_t rank = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i > 0 && texts_[order[i]] != texts_[order[i - 1]]) ++rank;
      ranks[order[i]] = rank;
    }
    return ranks;
  }

 private:
  // A part of a text begins at its address: cudaLaunchKernel of cudaLaunchKernel_v7000.
  std::int64_t add_part(std::string_view text) {
    const auto [found, is_new] = parts_.try_emplace(text, static_cast<std::int64_t>(texts_.size()));
    if (is_new) texts_.push_back(text);
    return found->second;
  }
  std::unordered_map<const char*, std::int64_t> ids_;
  std::unordered_map<std::string_view, std::int64_t> parts_;
  std::vector<std::string_view> texts_;
  std::string_view last_;
  std::int64_t last_id_ = 0;
};

// One number for each row of the list, which orders them as the column does.
std::vector<std::int64_t> keys_of(const Column& column, const Rows& rows, const RowList& list) {
  std::vector<std::int64_t> keys(list.size());
  TextRanks texts;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Value value = column.read(rows, list[i]);
    switch (value.kind) {
      case Value::Kind::kNull: keys[i] = kNullKey; break;
      case Value::Kind::kInteger: keys[i] = value.integer; break;
      case Value::Kind::kReal: keys[i] = key_of_real(value.real); break;
      case Value::Kind::kText:
      case Value::Kind::kPassingText: keys[i] = texts.add(value.text); break;
    }
  }
  if (column.type != ColumnType::kText) return keys;
  const std::vector<std::int64_t> ranks = texts.ranks();
  for (std::int64_t& key : keys) key = key != kNullKey ? ranks[static_cast<std::size_t>(key)] : -1;
  return keys;
}

// Few different keys, as of names and kinds: counting them is enough.
void sort_by_counting(const std::vector<std::int64_t>& keys, std::int64_t least, std::size_t range, RowList& list) {
  std::vector<std::uint32_t> places(range + 1, 0);
  for (const std::int64_t key : keys) ++places[static_cast<std::size_t>(key - least) + 1];
  std::partial_sum(places.begin(), places.end(), places.begin());
  RowList sorted(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) sorted[places[static_cast<std::size_t>(keys[i] - least)]++] = list[i];
  list = std::move(sorted);
}

void sort_by_keys(std::vector<std::int64_t> keys, bool descending, RowList& list) {
  if (descending)
    for (std::int64_t& key : keys) key = ~key;  // the other way round, without overflow
  if (std::is_sorted(keys.begin(), keys.end())) return;
  const auto [least, most] = std::minmax_element(keys.begin(), keys.end());
  const std::uint64_t range = static_cast<std::uint64_t>(*most) - static_cast<std::uint64_t>(*least);
  if (range < 4 * std::uint64_t{keys.size()}) return sort_by_counting(keys, *least, static_cast<std::size_t>(range) + 1, list);
  std::vector<std::pair<std::int64_t, std::uint32_t>> order(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) order[i] = {keys[i], static_cast<std::uint32_t>(i)};
  std::sort(order.begin(), order.end());
  RowList sorted(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) sorted[i] = list[order[i].second];
  list = std::move(sorted);
}

template <class Left>
bool compares(Comparison comparison, const Left& left, const Left& right) {
  switch (comparison) {
    case Comparison::kEqual: return left == right;
    case Comparison::kLess: return left < right;
    case Comparison::kLessOrEqual: return left <= right;
    case Comparison::kGreater: return left > right;
    case Comparison::kGreaterOrEqual: return left >= right;
  }
  return false;
}

}  // namespace

void sort_rows(const Table& table, const Rows& rows, const std::vector<OrderTerm>& terms, RowList& list) {
  for (auto term = terms.rbegin(); term != terms.rend(); ++term)
    sort_by_keys(keys_of(table.columns[term->column], rows, list), term->descending, list);
}

bool holds(const Table& table, const Rows& rows, std::size_t row, const Condition& condition) {
  const Value value = table.columns[condition.column].read(rows, row);
  if (value.kind == Value::Kind::kNull) return false;
  return table.columns[condition.column].type == ColumnType::kText ? compares(condition.comparison, value.text, condition.text)
                                                                   : compares(condition.comparison, value.integer, condition.number);
}

ColumnIndex::ColumnIndex(const Table& table, const Rows& rows, std::size_t column)
    : table_(table), rows_(rows), column_(column), order_(rows.size()) {
  std::iota(order_.begin(), order_.end(), 0u);
  sort_rows(table, rows, {{column, false}}, order_);
  const Column& own = table.columns[column];
  if (own.type == ColumnType::kInteger) keys_ = keys_of(own, rows, order_);
  while (nulls_ < order_.size() && own.read(rows, order_[nulls_]).kind == Value::Kind::kNull) ++nulls_;
}

// The first row for which `less` does not hold.
template <class Less>
const std::uint32_t* ColumnIndex::edge(Less less) const {
  std::size_t low = nulls_, high = order_.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (less(middle)) low = middle + 1;
    else high = middle;
  }
  return order_.data() + low;
}

ColumnIndex::Span ColumnIndex::rows_where(const std::vector<Condition>& conditions) const {
  const bool texts = table_.columns[column_].type == ColumnType::kText;
  const auto below = [&](std::size_t at, const Condition& condition) {
    return texts ? table_.columns[column_].read(rows_, order_[at]).text < condition.text : keys_[at] < condition.number;
  };
  const auto not_above = [&](std::size_t at, const Condition& condition) {
    return texts ? table_.columns[column_].read(rows_, order_[at]).text <= condition.text : keys_[at] <= condition.number;
  };
  Span span{order_.data() + nulls_, order_.data() + order_.size()};
  for (const Condition& each : conditions) {
    const bool equal = each.comparison == Comparison::kEqual;
    if (equal || each.comparison == Comparison::kGreaterOrEqual)
      span.first = std::max(span.first, edge([&](std::size_t at) { return below(at, each); }));
    if (each.comparison == Comparison::kGreater)
      span.first = std::max(span.first, edge([&](std::size_t at) { return not_above(at, each); }));
    if (equal || each.comparison == Comparison::kLessOrEqual)
      span.last = std::min(span.last, edge([&](std::size_t at) { return not_above(at, each); }));
    if (each.comparison == Comparison::kLess) span.last = std::min(span.last, edge([&](std::size_t at) { return below(at, each); }));
  }
  span.last = std::max(span.first, span.last);
  return span;
}

}  // namespace nl::query
