#include "analysis/figures/operators/dtypes.h"

namespace nl::analysis {
namespace {

template <class Map, class Key>
void add_agreeing(Map& map, Key key, const std::string& dtypes) {
  const auto [found, added] = map.try_emplace(std::move(key), dtypes);
  if (!added && found->second != dtypes) found->second.clear();
}

}  // namespace

DtypeTable::DtypeTable(std::span<const OperatorDtypes> recorded) {
  for (const OperatorDtypes& row : recorded) {
    add_agreeing(by_shapes_, Key(row.name, row.shapes), row.dtypes);
    add_agreeing(by_count_, std::pair(row.name, count_arguments(row.shapes)), row.dtypes);
  }
}

std::string DtypeTable::of(const std::string& name, const std::string& shapes) const {
  if (const auto exact = by_shapes_.find({name, shapes}); exact != by_shapes_.end()) return exact->second;
  const auto similar = by_count_.find({name, count_arguments(shapes)});
  return similar == by_count_.end() ? std::string() : similar->second;
}

std::size_t count_arguments(std::string_view shapes) {
  std::size_t count = 0;
  int depth = 0;
  for (const char c : shapes) {
    if (c == '[' && ++depth == 2) ++count;
    if (c == ']') --depth;
  }
  return count;
}

}  // namespace nl::analysis
