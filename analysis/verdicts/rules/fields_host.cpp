#include "analysis/verdicts/rules/fields.h"

namespace nl::analysis::rules {
namespace {

Value part_of(Ns part_ns, Ns whole_ns) {
  return whole_ns > 0 ? Value::of(static_cast<double>(part_ns) / static_cast<double>(whole_ns)) : Value::none();
}

template <CallKind LateLaunches::* Call, CallKind Kind>
Value late_share(const Subject& s) {
  const auto& waits = s.stage().launch_waits;
  if (!waits) return Value::not_captured();
  Ns sum = 0;
  for (const LateLaunches& late : waits->late) sum += late.*Call == Kind ? late.wait_ns() : 0;
  return part_of(sum, waits->wait_ns());
}

Value outside_share(const Subject& s) {
  const auto& waits = s.stage().launch_waits;
  return waits ? part_of(waits->outside_calls_ns, waits->starved_ns) : Value::not_captured();
}

Value call_name(const Subject& s) {
  const auto& waits = s.stage().launch_waits;
  if (!waits) return Value::not_captured();
  return waits->calls.empty() ? Value::none() : Value::of_text(waits->calls.front().name);
}

Value call_share(const Subject& s) {
  const auto& waits = s.stage().launch_waits;
  if (!waits) return Value::not_captured();
  return part_of(waits->calls.empty() ? 0 : waits->calls.front().time_ns, waits->starved_ns);
}

}  // namespace

void add_host_fields(std::vector<Field>& fields) {
  const auto share = [&](std::string_view name, std::string_view help, Value (*read)(const Subject&)) {
    fields.push_back({name, kN, Unit::kShare, Capture::kCuda, Place::kLaunchWaits, help, read});
  };
  constexpr auto kBefore = &LateLaunches::before, kLaunch = &LateLaunches::launch;
  share("late_after_wait_share", "of `launch_wait_time`: the launching thread's call before was a wait for the GPU",
        late_share<kBefore, CallKind::kWait>);
  share("late_after_copy_share", "likewise: a copy or memset", late_share<kBefore, CallKind::kCopy>);
  share("late_after_graph_share", "likewise: the launch of a CUDA graph", late_share<kBefore, CallKind::kGraphLaunch>);
  share("late_after_kernel_share", "likewise: the launch of a kernel", late_share<kBefore, CallKind::kKernelLaunch>);
  share("late_graph_share", "of `launch_wait_time`: the late launch is that of a CUDA graph", late_share<kLaunch, CallKind::kGraphLaunch>);
  share("starved_code_share", "of `launch_starved_time`: the launching thread is in no CUDA call", outside_share);
  share("starved_call_share", "of `launch_starved_time`: it is in `starved_call`", call_share);
  fields.push_back({"starved_call", Type::kText, Unit::kWords, Capture::kCuda, Place::kLaunchWaits,
                    "the CUDA call that it spends most of `launch_starved_time` in", call_name});
}

}  // namespace nl::analysis::rules
