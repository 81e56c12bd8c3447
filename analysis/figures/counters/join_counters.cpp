#include "analysis/figures/counters/join_counters.h"

#include <utility>

#include "analysis/figures/counters/counters.h"
#include "analysis/figures/counters/ncu_match.h"
#include "collector/counters/peer_kernels.h"
#include "model/words.h"

namespace nl::analysis {
namespace {

class CounterJoin {
 public:
  CounterJoin(const Evidence& evidence, CounterFigures figures) : evidence_(evidence), out_(std::move(figures)) {}

  CounterFigures join() {
    if (!evidence_.ncu.empty()) join_ncu(merged(evidence_.ncu));
    bool empty = !evidence_.counters.empty();
    for (const CounterReport& report : evidence_.counters) {
      join_cupti(report);
      empty = empty && report.windows.empty() && report.kernels.launches.empty();
    }
    if (empty && imported()) note_empty();
    note_unmeasured();
    return std::move(out_);
  }

 private:
  bool imported() const { return evidence_.tracer == Tracer::kImport; }

  void join_ncu(const NcuReport& report) {
    if (out_.kernels || !imported()) return match(report, Meter::kNcu);
    add_damage(out_.ncu_rows_damaged, report.rows_damaged);
    out_.kernels = ncu_kernels(report);
    out_.kernels_note.reset();
    out_.import_stats.notes.push_back({Code::kNcuAlone});
  }

  void join_cupti(const CounterReport& report) {
    std::vector<Remark>& notes = out_.import_stats.notes;
    for (const Remark& note : report.notes) add_once(notes, note);
    add_damage(out_.import_stats.rows_damaged, report.rows_damaged, "counters");
    for (Remark& note : add_stage_counters(report, out_.stages)) notes.push_back(std::move(note));
    if (!report.windows.empty()) measured_by(Meter::kCupti);
    if (!report.kernels.launches.empty()) match(report.kernels, Meter::kCupti);
    for (const Remark& note : report.notes)
      if (is_one_of(note.code, kCaptureIncomplete)) notes.push_back(note);
  }

  void match(const NcuReport& report, Meter meter) {
    const std::string name(key_of(meter));
    std::vector<KernelEntry> none;
    add_damage(out_.ncu_rows_damaged, report.rows_damaged);
    const NcuMatch match = match_ncu(report, evidence_.trace, out_.kernels ? *out_.kernels : none, meter);
    if (match.matched > 0) measured_by(meter);
    const std::string first = match.unmatched_launches.empty() ? "" : match.unmatched_launches[0];
    if (match.matched == 0 && out_.kernels && imported())
      out_.problems.push_back(
          problem_of(Remark{Code::kCountersUnmatched, {name, first.empty() ? ": its files hold no launch" : ". The first is " + first}}));
    else if (!first.empty())
      out_.import_stats.notes.push_back({Code::kLaunchesUnmatched, {std::to_string(match.unmatched_launches.size()), name, first}});
  }

  // What is imported was captured elsewhere, by whatever.
  void measured_by(Meter meter) {
    if (!imported()) out_.meter = meter;
  }

  void note_empty() {
    const Remark* trouble = find_first(evidence_.counters[0].notes, kCounterTroubles);
    const std::string words = trouble != nullptr ? ": " + text_of(*trouble) : "";
    out_.problems.push_back(problem_of(Remark{Code::kCountersEmpty, {words.ends_with('.') ? words.substr(0, words.size() - 1) : words}}));
  }

  // Every chosen kernel without counters says why.
  void note_unmeasured() {
    if (!out_.kernels) return;
    for (KernelEntry& kernel : *out_.kernels) {
      if (!kernel.selected || !kernel.ncu.empty()) continue;
      const auto never = evidence_.meter == Meter::kCupti ? never_counted(kernel) : std::nullopt;
      if (never) kernel.ncu_note = never;
      else if (evidence_.counters_missing) kernel.ncu_note = evidence_.counters_missing;
    }
  }

  const Evidence& evidence_;
  CounterFigures out_;
};

}  // namespace

CounterFigures join_counters(const Evidence& evidence, CounterFigures figures) { return CounterJoin(evidence, std::move(figures)).join(); }

std::optional<Remark> never_counted(const KernelEntry& kernel) {
  if (kernel.time.count > 0 && kernel.graph_calls == kernel.time.count) return Remark{Code::kOnlyInGraphs};
  if (collector::talks_to_peers(kernel.symbol().c_str())) return Remark{Code::kTalksToPeers};
  return std::nullopt;
}

NcuReport merged(const std::vector<NcuReport>& reports) {
  NcuReport all;
  for (const NcuReport& report : reports) {
    if (all.page.empty()) all.page = report.page;
    all.launches.insert(all.launches.end(), report.launches.begin(), report.launches.end());
    for (const auto& [reason, rows] : report.rows_damaged) all.rows_damaged[reason] += rows;
  }
  return all;
}

}  // namespace nl::analysis
