#include "tests/unit/exporters/every_serving.h"

namespace nl::test {
namespace {

ServingTimes every_time(Ns first) {
  ServingTimes times;
  for (std::size_t i = 0; i < kServingParts; ++i) times.ns[i] = first + static_cast<Ns>(i);
  return times;
}

ServingRequest every_request() {
  return {.id = 7001,
          .name = "name 7002",
          .worker = 7003,
          .prompt_tokens = 7004,
          .output_tokens = 7005,
          .end = RequestEnd::kStop,
          .began_before = true,
          .ended_after = true,
          .start_ns = 7006,
          .end_ns = 7007,
          .times = every_time(7010),
          .network_before_ns = 7020,
          .network_after_ns = 7021,
          .first_token_ns = 7022,
          .preemptions = 7023,
          .steps = 7024,
          .decode_steps = 7025,
          .step = {7026, 7027},
          .gpu = ServingCost{7028, 7029},
          .energy_uj = 7030};
}

ServingTail every_tail() {
  return {.judged = 7100,
          .judged_times = every_time(7110),
          .requests = {{.id = 7130,
                        .latency_ns = 7131,
                        .peers = 7132,
                        .peer_median_ns = 7133.5,
                        .excess = every_time(7140),
                        .slower_than_peers = true,
                        .cause = ServingPart::kInterference,
                        .cause_ns = 7151,
                        .others = {7152}}},
          .causes = {{ServingPart::kPreemption, 7161, 7162}},
          .latency_ns = 7163,
          .times = every_time(7170)};
}

}  // namespace

Serving every_serving() {
  Serving serving;
  serving.start_ns = 7201;
  serving.end_ns = 7202;
  serving.count = 7203;
  serving.arrived = 7204;
  serving.whole = 7205;
  serving.began_before = 7206;
  serving.ended_after = 7207;
  serving.cancelled = 7208;
  serving.preempted = 7209;
  serving.prompt_tokens = 7210;
  serving.output_tokens = 7211;
  serving.times = every_time(7220);
  serving.requests = {every_request()};
  serving.workers = {{"process 7231", 7232, 7233, 7234, 7235, 7236, 7237}};
  serving.steps = {{ServingStepKind::kMixed,
                    {.count = 7241,
                     .total_ns = 7242,
                     .mean_ns = 7243.5,
                     .median_ns = 7244.5,
                     .p99_ns = 7245,
                     .min_ns = 7246,
                     .max_ns = 7247,
                     .stddev_ns = 7248.5,
                     .p90_ns = 7249,
                     .p95_ns = 7250},
                    7251,
                    7252,
                    7253,
                    7254}};
  serving.longest_steps = {{7261, 7262, 7263, 7264, 7265, 7266, 7267, 7268}};
  serving.step_floor = 7271;
  serving.gpu_floor = 7272;
  serving.gpu_step_ns = 7273;
  serving.gpu_other_ns = 7274;
  serving.gpu_steps = 7277;
  serving.energy_uj = 7275;
  serving.energy_note = "energy_note 7276";
  serving.between_code = {
      {"range 7281", "process 7282", 7283, HostFrame{"function 7284", "file 7285", "module 7286", 7287, 7288, "source 7289"}}};
  serving.latencies = {{ServingLatency::Figure::kTotal, 7291, 7292.5, {{0.7293, 7294.5, 7293.5, 7295.5}}}};
  serving.series = {7301, 7302, {7303.5}, {7304.5}, {7305.5}, {7306.5}};
  serving.tail = every_tail();
  serving.tracks = {{7311, {{7312, 7313, ServingPart::kDetokenising}}}};
  serving.client = LoadArrivals{ArrivalKind::kGamma, 7321.5, 7322.5, 7323, 7324};
  serving.network = NetworkState::kJoined;
  serving.joined = 7331;
  serving.damage = {{ServingDamage::kStepCut, 7332}};
  return serving;
}

}  // namespace nl::test
