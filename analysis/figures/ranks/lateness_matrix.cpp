#include "analysis/figures/ranks/lateness_matrix.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <tuple>

namespace nl::analysis {
namespace {

struct Late {
  std::size_t step = 0, rank = 0;  // index into Trace::ranks
  Ns late_ns = 0;
};

class MatrixOfSteps {
 public:
  MatrixOfSteps(const Trace& trace, const SharedCollectives& shared, const RankSteps& steps)
      : trace_(trace), shared_(shared), steps_(steps) {
    out_.latest.resize(trace.ranks.size());
    out_.worst_ns.resize(trace.ranks.size());
  }

  LatenessOfSteps finish(const std::string& stage) {
    RankMatrix& matrix = out_.matrix;
    if (steps_.known()) matrix.stage = stage;
    matrix.steps = steps_.count();
    matrix.steps_each = std::max<std::uint64_t>(1, (matrix.steps + kMaxMatrixRows - 1) / kMaxMatrixRows);
    matrix.rows.resize((steps_.count() + row_steps() - 1) / row_steps());
    collect();
    count_latest();
    fill(columns());
    return std::move(out_);
  }

 private:
  std::size_t row_steps() const { return static_cast<std::size_t>(out_.matrix.steps_each); }

  void collect() {
    for (MatrixRow& row : out_.matrix.rows) row.start_ns = std::numeric_limits<Ns>::max();
    for (std::size_t number = 0; number < shared_.calls().size(); ++number) {
      const auto& members = shared_.calls()[number];
      if (members.empty()) continue;
      const auto step = steps_.of(number);
      if (!step) {
        ++out_.matrix.outside;
        continue;
      }
      Ns& start_ns = out_.matrix.rows[*step / row_steps()].start_ns;
      start_ns = std::min(start_ns, shared_.first_arrival_ns(members));
      if (const auto last = shared_.last_of(members)) late_.push_back({*step, *shared_.rank_of(*last), shared_.arrival(*last)->behind_ns});
    }
    std::sort(late_.begin(), late_.end(), [](const Late& a, const Late& b) { return std::tie(a.step, a.rank) < std::tie(b.step, b.rank); });
  }

  void count_latest() {
    std::size_t before = trace_.ranks.size();  // none yet
    for (std::size_t i = 0; i < late_.size();) {
      std::map<std::size_t, Ns> of_rank;
      const std::size_t step = late_[i].step;
      for (; i < late_.size() && late_[i].step == step; ++i) of_rank[late_[i].rank] += late_[i].late_ns;
      for (const auto& [rank, late_ns] : of_rank) out_.worst_ns[rank] = std::max(out_.worst_ns[rank], late_ns);
      const auto latest =
          std::max_element(of_rank.begin(), of_rank.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
      ++out_.matrix.late_steps;
      ++out_.latest[latest->first];
      out_.matrix.changes += before != trace_.ranks.size() && before != latest->first ? 1 : 0;
      before = latest->first;
    }
  }

  // Those that were late the longest, in the order of their numbers.
  std::vector<std::size_t> columns() const {
    std::vector<Ns> late_ns(trace_.ranks.size());
    for (const Late& late : late_) late_ns[late.rank] += late.late_ns;
    std::vector<std::size_t> ranks;
    for (std::size_t rank = 0; rank < late_ns.size(); ++rank) ranks.push_back(rank);
    std::stable_sort(ranks.begin(), ranks.end(), [&](std::size_t a, std::size_t b) { return late_ns[a] > late_ns[b]; });
    if (ranks.size() > kMaxMatrixRanks) ranks.resize(kMaxMatrixRanks);
    std::sort(ranks.begin(), ranks.end());
    return ranks;
  }

  void fill(const std::vector<std::size_t>& columns) {
    std::map<std::size_t, std::size_t> column_of;
    for (const std::size_t rank : columns) {
      column_of.emplace(rank, column_of.size());
      out_.matrix.ranks.push_back(trace_.ranks[rank].rank);
    }
    for (MatrixRow& row : out_.matrix.rows) row.late_ns.resize(columns.size());
    for (const Late& late : late_)
      if (const auto column = column_of.find(late.rank); column != column_of.end())
        out_.matrix.rows[late.step / row_steps()].late_ns[column->second] += late.late_ns;
  }

  const Trace& trace_;
  const SharedCollectives& shared_;
  const RankSteps& steps_;
  std::vector<Late> late_;  // by step
  LatenessOfSteps out_;
};

}  // namespace

LatenessOfSteps lateness_of_steps(const Trace& trace, const SharedCollectives& shared, const RankSteps& steps, const std::string& stage) {
  return MatrixOfSteps(trace, shared, steps).finish(stage);
}

}  // namespace nl::analysis
