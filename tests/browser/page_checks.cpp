#include "tests/browser/page_checks.h"

namespace nl::test {
namespace {

void name_stages(Run& run, const std::string& text) {
  run.stages[0].name = text;
  run.stages[0].ranges = {text};
  run.phases.phases[0].name = text;
  run.iterations.rule = text;
  run.iterations.list[0].stages[0].first = text;
  run.latency.notes = {text};
  run.timeline->what = text;
  for (auto& name : run.timeline->names) name = text;
  for (auto& lane : run.timeline->lanes) lane.title = text;
  for (auto& stage : run.stages)
    if (stage.counters) stage.counters->note = text;
  for (auto& curve : run.activity) curve.title = curve.metric = text;
  run.clock.shortest_stage = text;
}

void name_work(Run& run, const std::string& text) {
  for (auto& kernel : *run.kernels) {
    kernel.name = text;
    kernel.stages[0].stage = text;
    for (auto& stall : kernel.stalls) stall.reason = text;
  }
  for (auto& table : run.operators) {
    table.source = table.file = table.note = text;
    for (auto& op : table.entries) {
      op.name = text;
      for (auto& shape : op.shapes) shape.text = text;
      for (auto& kernel : op.kernels) kernel.name = text;
    }
  }
  for (auto& layer : run.layers) layer.name = layer.type = text;
  run.peaks->name = run.peaks->source = text;
  run.peaks->flops_per_s = {{text, 989e12}};
  run.peaks->notes = {text};
  for (auto& entry : run.efficiency) {
    entry.stage = entry.dtype = entry.note = text;
    entry.assumptions = {text};
    for (auto& term : entry.terms) term.name = term.formula = text;
  }
  for (auto& point : run.roofline.points) {
    point.kernel = point.precision = text;
    point.stage = text;
  }
  run.roofline.notes = {text};
}

void name_host(Run& run, const std::string& text) {
  const HostFrame frame = {text, text, text, 7, 7, text};
  if (run.host)
    for (auto& each : run.host->frames) each.frame = frame;
  for (auto& stage : run.stages) {
    if (!stage.host_code) continue;
    for (auto& line : stage.host_code->lines) line.frame = frame;
    for (auto& function : stage.host_code->functions) function.frame = frame;
    for (auto& sync : stage.host_code->syncs) sync.frame = frame;
    for (auto& call : stage.host_code->os_calls) call.name = text;
  }
}

void name_judgements(Run& run, const std::string& text) {
  for (auto& finding : run.findings) {
    finding.rule = finding.subject = finding.message = finding.plain = finding.action = finding.gain_note = text;
    finding.suggestions = {text, text};
    for (auto& evidence : finding.evidence) evidence.text = evidence.reference = text;
  }
  for (auto& abstention : run.abstentions) abstention.rule = abstention.why = abstention.command = text;
  for (auto& slowdown : run.perturbation.stages) slowdown.stage = text;
  run.perturbation.order = text;
  run.perturbation.notes = {text};
  for (auto& stage : run.energy.stages) stage.stage = stage.note = text;
  for (auto& device : run.energy.devices) device.throttle_reasons = {text};
  run.energy.pass = text;
}

}  // namespace

Run named_everywhere(Run run, const std::string& text) {
  run.run_id = run.name = run.mode = run.created_at = text;
  run.problems = {{Code::kError, text, text, text}};
  run.hardware.gpus[0].name = run.hardware.cpu_model = run.hardware.driver_version = text;
  run.software.os = run.software.nl_stage_version = text;
  run.model = {text, {{text, text}}};
  run.workload.command = {text, text};
  name_stages(run, text);
  name_work(run, text);
  name_host(run, text);
  name_judgements(run, text);
  run.import_stats = {SourceFormat::kNsysSqlite,    text, text, {{text, 1}}, {{{Code::kNote, {text}, text}, 1}}, {text},
                      {{Code::kNote, {text}, text}}};
  run.provenance.counters_missing = Problem{Code::kCountersDenied, text, text, text};
  run.provenance.passes = {{PassKind::kNsys, {text}, 1, 1, PassOutcome::kOk, text, {text}}};
  run.provenance.adaptations = {{Code::kNote, {text}, text}};
  run.provenance.inputs_sha256 = {{text, text}};
  return run;
}

}  // namespace nl::test
