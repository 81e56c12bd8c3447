#include <limits>

#include "analysis/verdicts/rules/fields.h"

namespace nl::analysis::rules {
namespace {

using Read = Value (*)(const Subject&);

const CommunicationTotals* talk(const Subject& s) {
  if (s.budget() == nullptr) return nullptr;
  return s.scope == RuleScope::kStage ? &s.totals->stages[s.index].communication : &s.totals->communication;
}

Value talk_time(const Subject& s) {
  return talk(s) ? Value::of(static_cast<double>(s.budget()->communication_ns) + talk(s)->overlapped_ns) : Value::not_captured();
}

Value of_wall(const Subject& s, const Value& time) {
  if (!time.known) return time;
  const double wall = static_cast<double>(s.budget()->wall_ns);
  return wall > 0 ? Value::of(time.number / wall) : Value::none();
}

Value exposed_time(const Subject& s) {
  return s.budget() ? Value::of(static_cast<double>(s.budget()->communication_ns)) : Value::not_captured();
}

Value overlap_share(const Subject& s) {
  const Value all = talk_time(s);
  if (!all.known) return all;
  return all.number > 0 ? Value::of(talk(s)->overlapped_ns / all.number) : Value::none();
}

// That ranks cannot be paired is no want of a capture.
Value late_time(const Subject& s) {
  if (!talk(s)) return Value::not_captured();
  return talk(s)->late_peer_ns ? Value::of(*talk(s)->late_peer_ns) : Value::none();
}

Value collectives(const Subject& s) { return talk(s) ? Value::of(static_cast<double>(talk(s)->count)) : Value::not_captured(); }

const GpuSpread* spread(const Subject& s) { return s.stage().gpu_spread ? &*s.stage().gpu_spread : nullptr; }

Value compute_spread(const Subject& s) { return spread(s) ? Value::of(spread(s)->compute_spread) : Value::none(); }

Value last_share(const Subject& s) {
  return spread(s) && spread(s)->slowest_last_share ? Value::of(*spread(s)->slowest_last_share) : Value::none();
}

Value slowest(const Subject& s) { return spread(s) ? Value::of_text(s.totals->stages[s.index].slowest_gpu) : Value::none(); }

// Of the whole capture: there may be no stages.
Value of_capture(const Subject& s, double CaptureTotals::* part) {
  const CaptureTotals& all = s.totals->capture;
  return all.busy_ns > 0 ? Value::of(all.*part / all.busy_ns) : Value::none();
}

void add(std::vector<Field>& fields, std::string_view name, Unit unit, Place place, std::string_view help, Read read) {
  fields.push_back({name, kN, unit, Capture::kCuda, place, help, read});
}

}  // namespace

void add_communication_fields(std::vector<Field>& fields) {
  add(fields, "exposed_communication_time", Unit::kTime, Place::kBudget, "communication with other GPUs runs, and no compute kernel",
      exposed_time);
  add(fields, "exposed_communication_share", Unit::kShare, Place::kBudget, "`exposed_communication_time` ÷ `total_time`",
      [](const Subject& s) { return of_wall(s, exposed_time(s)); });
  add(fields, "communication_time", Unit::kTime, Place::kBudget, "communication runs, overlapped with compute kernels or not", talk_time);
  add(fields, "communication_share", Unit::kShare, Place::kBudget, "`communication_time` ÷ `total_time`",
      [](const Subject& s) { return of_wall(s, talk_time(s)); });
  add(fields, "communication_overlap_share", Unit::kShare, Place::kBudget, "of `communication_time`: a compute kernel runs on the same GPU",
      overlap_share);
}

void add_stage_communication_fields(std::vector<Field>& fields) {
  add(fields, "collectives", Unit::kCount, Place::kSelf, "collectives, sends and peer copies of all GPUs", collectives);
  add(fields, "late_peer_time", Unit::kTime, Place::kSelf,
      "of the collectives: waiting for the last rank; no value where ranks cannot be paired", late_time);
  add(fields, "late_peer_share", Unit::kShare, Place::kSelf, "`late_peer_time` ÷ `total_time`",
      [](const Subject& s) { return of_wall(s, late_time(s)); });
  add(fields, "gpu_spread", Unit::kShare, Place::kSelf, "(most − mean) ÷ mean of the GPUs' computing time; no value with one GPU",
      compute_spread);
  add(fields, "slowest_last_share", Unit::kShare, Place::kSelf, "of the collectives: the slowest rank reaches them last", last_share);
  fields.push_back({"slowest_gpu", Type::kText, Unit::kWords, Capture::kCuda, Place::kSelf, "the slowest GPU and its process", slowest});
}

void add_capture_communication_fields(std::vector<Field>& fields) {
  add(fields, "capture_communication_share", Unit::kShare, Place::kCoverage,
      "of the GPUs' busy time in the whole capture: exposed communication",
      [](const Subject& s) { return of_capture(s, &CaptureTotals::exposed_ns); });
  add(fields, "capture_overlap_share", Unit::kShare, Place::kCoverage, "of the same: communication while a compute kernel runs",
      [](const Subject& s) { return of_capture(s, &CaptureTotals::overlapped_ns); });
  add(fields, "capture_late_peer_share", Unit::kShare, Place::kCoverage,
      "of the same: waiting for the last rank; no value where ranks cannot be paired",
      [](const Subject& s) { return s.totals->capture.paired ? of_capture(s, &CaptureTotals::late_peer_ns) : Value::none(); });
}

}  // namespace nl::analysis::rules
