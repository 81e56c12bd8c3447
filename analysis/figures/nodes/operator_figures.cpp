#include "analysis/figures/nodes/operator_figures.h"

#include <utility>

#include "analysis/figures/nodes/operator_pass.h"
#include "analysis/figures/nodes/session_kernels.h"
#include "analysis/figures/nodes/session_records.h"
#include "analysis/figures/operators/layers.h"

namespace nl::analysis {
namespace {

void add_source(const OperatorSource& source, const StagedTrace& staged, const WarmupRule& warmup, OperatorFigures& figures) {
  if (source.records) return add_operator_records(*source.records, figures);
  if (source.operator_pass) {
    add_operator_pass(staged, source.trace, source.dtypes, figures);
  } else {
    add_operator_table_from(source.trace, source.format, source.file, figures);
    if (figures.operator_steps.empty() || source.trace.session) add_operator_steps(StagedTrace(source.trace, warmup), source.file, figures);
  }
  for (const Remark& note : source.trace.stats.notes) figures.notes.push_back({note.code, note.details, source.file});
  add_damage(figures.rows_damaged, source.trace.stats.rows_damaged, source.format);
}

}  // namespace

OperatorFigures operator_figures(const Evidence& evidence, const StagedTrace& staged, const WarmupRule& warmup) {
  OperatorFigures figures;
  add_operators(staged.trace, {}, figures);
  LayerTable layers = layer_table(staged.trace);
  figures.layers = std::move(layers.layers);
  figures.layers_note = std::move(layers.note);
  add_operator_steps(staged, "", figures);
  if (evidence.session) add_operator_records({table_of(*evidence.session), steps_of(*evidence.session)}, figures);
  for (const OperatorSource& source : evidence.operators) add_source(source, staged, warmup, figures);
  if (evidence.session) add_kernels_to_nodes(evidence.session->backend, figures);
  return figures;
}

}  // namespace nl::analysis
