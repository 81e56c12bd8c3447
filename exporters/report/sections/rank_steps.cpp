#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/run_text.h"

namespace nl::exporters::report {
namespace {

constexpr std::size_t kMostColumns = 16;

std::string name_of(const Run& run, std::uint32_t number) {
  const auto found = std::find_if(run.ranks.begin(), run.ranks.end(), [&](const RankEntry& rank) { return rank.rank == number; });
  return found != run.ranks.end() ? rank_text(*found) : fmt::format("rank {}", number);
}

// Places in RankMatrix::ranks: all, or of many those that were late the longest.
std::vector<std::size_t> matrix_columns(const RankMatrix& matrix) {
  std::vector<Ns> late_ns(matrix.ranks.size());
  std::vector<std::size_t> columns(matrix.ranks.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns[i] = i;
    for (const MatrixRow& row : matrix.rows) late_ns[i] += i < row.late_ns.size() ? row.late_ns[i] : 0;
  }
  std::stable_sort(columns.begin(), columns.end(), [&](std::size_t a, std::size_t b) { return late_ns[a] > late_ns[b]; });
  if (columns.size() > kMostColumns) columns.resize(kMostColumns);
  std::sort(columns.begin(), columns.end());
  return columns;
}

std::string row_title(const RankMatrix& matrix, std::size_t row) {
  const std::uint64_t first = row * matrix.steps_each, last = std::min(first + matrix.steps_each, matrix.steps) - 1;
  return first == last ? count_text(first) : fmt::format("{}–{}", count_text(first), count_text(last));
}

Cell late_cell(Ns late_ns, Ns most_ns) {
  if (late_ns == 0) return Cell("0");
  Cell cell = time_cell(static_cast<double>(late_ns));
  cell.shade = static_cast<std::uint32_t>(std::ceil(4 * static_cast<double>(late_ns) / static_cast<double>(most_ns)));
  return cell;
}

Table matrix_table(const Run& run) {
  const RankMatrix& matrix = run.rank_matrix;
  Table table{"How late each rank was in each step", texts({matrix.steps_each > 1 ? "Steps" : "Step"})};
  if (matrix.stage.empty()) table.columns[0].title = matrix.steps_each > 1 ? "Collectives" : "Collective";
  const std::vector<std::size_t> columns = matrix_columns(matrix);
  for (const std::size_t column : columns) table.columns.push_back({name_of(run, matrix.ranks[column]), kRight});
  Ns most_ns = 0;
  for (const MatrixRow& row : matrix.rows)
    for (const Ns late_ns : row.late_ns) most_ns = std::max(most_ns, late_ns);
  std::vector<Ns> sums(columns.size());
  for (std::size_t i = 0; i < matrix.rows.size(); ++i) {
    const MatrixRow& row = matrix.rows[i];
    Row cells = {text_cell(row_title(matrix, i))};
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const Ns late_ns = columns[c] < row.late_ns.size() ? row.late_ns[columns[c]] : 0;
      sums[c] += late_ns;
      cells.push_back(late_cell(late_ns, most_ns));
    }
    table.rows.push_back(std::move(cells));
  }
  Row foot = {text_cell("Sum")};
  for (const Ns sum_ns : sums) foot.push_back(sum_ns == 0 ? Cell("0") : time_cell(static_cast<double>(sum_ns)));
  table.foot = {std::move(foot)};
  return table;
}

std::string about_matrix(const Run& run) {
  const RankMatrix& matrix = run.rank_matrix;
  std::string text = "By how much each rank came to collectives after all others, ";
  if (matrix.stage.empty())
    text += matrix.steps_each > 1 ? fmt::format("in rows of {}; no steps are known.", plural(matrix.steps_each, "collective"))
                                  : "of each collective; no steps are known.";
  else if (matrix.steps_each > 1)
    text += fmt::format("in rows of {} ({}).", plural(matrix.steps_each, "step"), stage_title(run, matrix.stage));
  else text += fmt::format("in each step ({}).", stage_title(run, matrix.stage));
  if (const std::size_t shown = std::min(matrix.ranks.size(), kMostColumns); shown < run.ranks.size())
    text += fmt::format(" Of {} ranks the {} that were late the longest are shown.", count_text(run.ranks.size()), count_text(shown));
  return text;
}

// Whether always the same rank is the latest, or one after the other.
std::string turns_sentence(const Run& run) {
  const RankMatrix& matrix = run.rank_matrix;
  if (matrix.late_steps == 0) return {};
  const auto latest = std::max_element(run.ranks.begin(), run.ranks.end(), [](const RankEntry& a, const RankEntry& b) {
    return a.lateness.steps_latest < b.lateness.steps_latest;
  });
  const std::uint64_t times = latest->lateness.steps_latest;
  const std::string steps = plural(matrix.late_steps, matrix.stage.empty() ? "collective" : "step");
  if (static_cast<double>(times) > kOftenLate * static_cast<double>(matrix.late_steps))
    return fmt::format("Of {} with a late rank, {} is the latest in {}: nearly always the same one.", steps, rank_text(*latest),
                       count_text(times));
  return fmt::format(
      "Ranks are late in turns: of {} with a late rank, {} is the latest in {}, more than any other; {} a different one follows.", steps,
      rank_text(*latest), count_text(times), plural(matrix.changes, "time"));
}

// Where the ranks of one machine are late, and no single one of them.
std::string host_sentence(const Run& run) {
  std::map<std::string, Ns> late_ns;
  std::map<std::string, std::uint64_t> ranks;
  Ns all_ns = 0, most_ns = 0;
  for (const RankEntry& rank : run.ranks) {
    if (rank.host.empty()) return {};
    late_ns[rank.host] += judged_lateness(rank).late_ns;
    ++ranks[rank.host];
    all_ns += judged_lateness(rank).late_ns;
    most_ns = std::max(most_ns, judged_lateness(rank).late_ns);
  }
  if (late_ns.size() < 2 || all_ns == 0) return {};
  const auto host = std::max_element(late_ns.begin(), late_ns.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const double often_ns = kOftenLate * static_cast<double>(all_ns);
  if (static_cast<double>(host->second) <= often_ns || static_cast<double>(most_ns) > often_ns) return {};
  return fmt::format("The late ones are on one machine: the {} of {} have {} of the lateness.", plural(ranks[host->first], "rank"),
                     host->first, share_text(part_of(host->second, all_ns)));
}

}  // namespace

Blocks rank_matrix(const Run& run) {
  if (run.rank_matrix.late_steps == 0) return {};
  Blocks out;
  std::vector<std::string> sentences;
  for (std::string text : {turns_sentence(run), host_sentence(run)})
    if (!text.empty()) sentences.push_back(std::move(text));
  add(out, notes(sentences));
  add(out, Paragraph{about_matrix(run)});
  add(out, matrix_table(run));
  return out;
}

Blocks rank_budgets(const Run& run) {
  Table table{"Budget of each rank", texts({"Rank"}) + numbers({"Wall", "Compute", "Exchange", "Waits for others", "Waits for a partner",
                                                                "Copies and sets", "Nothing runs"})};
  const auto row = [](Cell name, const RankBudget& b) {
    const auto share = [&](Ns part_ns) { return share_cell(part_of(part_ns, b.wall_ns)); };
    return Row{std::move(name),     time_cell(static_cast<double>(b.wall_ns)),
               share(b.compute_ns), share(b.exchange_ns),
               share(b.wait_ns),    share(b.receive_wait_ns),
               share(b.copy_ns),    share(b.idle_ns())};
  };
  RankBudget all;
  for (const RankEntry& rank : run.ranks) {
    const RankBudget& b = rank.budget;
    if (b.wall_ns == 0) continue;
    table.rows.push_back(row(text_cell(rank_text(rank)), b));
    for (Ns RankBudget::* part : {&RankBudget::wall_ns, &RankBudget::compute_ns, &RankBudget::exchange_ns, &RankBudget::wait_ns,
                                  &RankBudget::receive_wait_ns, &RankBudget::copy_ns})
      all.*part += b.*part;
  }
  if (table.rows.empty()) return {};
  table.foot = {row(text_cell("All"), all)};
  Blocks out;
  add(out, Paragraph{run.rank_matrix.stage.empty()
                         ? "What the GPUs of each rank did, from the first work to the last; each instant is in one column."
                         : fmt::format("What the GPUs of each rank did in {}; each instant is in one column.",
                                       stage_title(run, run.rank_matrix.stage))});
  add(out, std::move(table));
  return out;
}

}  // namespace nl::exporters::report
