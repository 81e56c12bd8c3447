#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "query/connection.h"

// Aggregates that SQLite lacks, by the rules of run.json: the median of an even count is the mean of the two middle values, a percentile
// is by nearest rank.
namespace nl::query {
namespace {

struct Values {
  std::vector<double> all;
  double percent = 50;
};

Values* values_of(sqlite3_context* context, bool make) {
  auto** kept = static_cast<Values**>(sqlite3_aggregate_context(context, make ? sizeof(Values*) : 0));
  if (kept == nullptr) return nullptr;
  if (*kept == nullptr && make) *kept = new (std::nothrow) Values;
  return *kept;
}

void add_value(sqlite3_context* context, int count, sqlite3_value** arguments) {
  if (sqlite3_value_type(arguments[0]) == SQLITE_NULL) return;
  Values* values = values_of(context, true);
  if (values == nullptr) return sqlite3_result_error_nomem(context);
  const auto most = *static_cast<const std::uint64_t*>(sqlite3_user_data(context));
  if (values->all.size() >= most) return sqlite3_result_error(context, "a median or percentile is of too many values", -1);
  if (count > 1) values->percent = sqlite3_value_double(arguments[1]);
  try {
    values->all.push_back(sqlite3_value_double(arguments[0]));
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

double value_at(std::vector<double>& values, std::size_t place) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(place), values.end());
  return values[place];
}

void give_median(sqlite3_context* context) {
  const std::unique_ptr<Values> values(values_of(context, false));
  if (!values || values->all.empty()) return sqlite3_result_null(context);
  const std::size_t half = values->all.size() / 2;
  const double upper = value_at(values->all, half);
  sqlite3_result_double(context, values->all.size() % 2 == 1 ? upper : (upper + value_at(values->all, half - 1)) / 2);
}

void give_percentile(sqlite3_context* context) {
  const std::unique_ptr<Values> values(values_of(context, false));
  if (!values || values->all.empty()) return sqlite3_result_null(context);
  if (!(values->percent >= 0 && values->percent <= 100)) return sqlite3_result_error(context, "the percentile is not from 0 to 100", -1);
  const auto count = static_cast<double>(values->all.size());
  const double rank = std::clamp(std::ceil(values->percent / 100 * count), 1.0, count);
  sqlite3_result_double(context, value_at(values->all, static_cast<std::size_t>(rank) - 1));
}

}  // namespace

void add_statistics(sqlite3* connection, std::uint64_t most_values) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  const auto drop = [](void* most) { delete static_cast<std::uint64_t*>(most); };
  sqlite3_create_function_v2(connection, "median", 1, kFlags, new std::uint64_t(most_values), nullptr, add_value, give_median, drop);
  sqlite3_create_function_v2(connection, "percentile", 2, kFlags, new std::uint64_t(most_values), nullptr, add_value, give_percentile,
                             drop);
}

}  // namespace nl::query
