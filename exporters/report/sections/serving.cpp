#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/links.h"
#include "exporters/report/text/run_text.h"
#include "exporters/report/text/serving_text.h"

namespace nl::exporters::report {
namespace {

constexpr std::size_t kListedRequests = 500, kTextRequests = 20, kGroups = 60;

double ns_of(Ns ns) { return static_cast<double>(ns); }

std::optional<double> share_of(Ns part, Ns whole) {
  return whole > 0 ? std::optional(static_cast<double>(part) / static_cast<double>(whole)) : std::nullopt;
}

std::vector<ServingPart> parts_of(const ServingTimes& times) {
  std::vector<ServingPart> out;
  for (std::size_t i = 0; i < kServingParts; ++i)
    if (times.ns[i] > 0) out.push_back(static_cast<ServingPart>(i));
  return out;
}

Text moment(const Run& run, const std::string& name, Ns start_ns, Ns end_ns) {
  return {name, Inline::kPlain, link_to_moment(run, start_ns, end_ns)};
}

std::string quantile_text(const ServingLatency& latency, double share) {
  for (const auto& each : latency.quantiles) {
    if (each.share < share - 1e-9 || each.share > share + 1e-9) continue;
    std::string out = time_text(each.ns);
    if (each.low_ns && each.high_ns) out += fmt::format(" ({} to {})", time_text(*each.low_ns), time_text(*each.high_ns));
    return out;
  }
  return kNoValue;
}

const char* latency_title(ServingLatency::Figure figure) {
  constexpr const char* kTitles[] = {"queue", "time to first token", "time per output token", "whole request"};
  return kTitles[static_cast<std::size_t>(figure)];
}

Table latency_table(const Serving& serving) {
  Table table{"Latencies of requests",
              {{"Latency"}, {"Requests", kRight}, {"Mean", kRight}, {"Median", kRight}, {"p90", kRight}, {"p99", kRight}}};
  for (const ServingLatency& each : serving.latencies)
    table.rows.push_back({std::string(latency_title(each.figure)), count_cell(each.count), time_cell(each.mean_ns),
                          quantile_text(each, 0.5), quantile_text(each, 0.9), quantile_text(each, 0.99)});
  return table;
}

// A bar for each quantile of the whole request, and a line over its interval.
BarChart latency_curve(const ServingLatency& latency) {
  BarChart chart;
  double most = 0;
  for (const auto& each : latency.quantiles) most = std::max({most, each.ns, each.high_ns.value_or(0)});
  for (const auto& each : latency.quantiles) {
    Bar bar{fmt::format("p{:.0f}", each.share * 100),
            "",
            {{each.ns, "b-compute", time_text(each.ns), ""}},
            most,
            time_text(each.ns),
            "",
            0,
            0,
            ""};
    if (each.low_ns && each.high_ns) bar.tick = *each.low_ns, bar.far = *each.high_ns;
    bar.spoken = fmt::format("{} of the requests take up to {}", share_text(each.share), time_text(each.ns));
    chart.bars.push_back(std::move(bar));
  }
  return chart;
}

// The judged requests from the fastest to the slowest, in groups: what each pays for on average.
ColumnChart growth_chart(const Serving& serving) {
  std::vector<const ServingRequest*> sorted;
  for (const ServingRequest& each : serving.requests)
    if (each.judged()) sorted.push_back(&each);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->times.total() < b->times.total(); });
  ColumnChart chart;
  chart.unit = "from the fastest to the slowest";
  chart.label = "What requests pay for, from the fastest to the slowest";
  const std::size_t groups = std::min(kGroups, sorted.size());
  for (std::size_t group = 0; group < groups; ++group) {
    const std::size_t from = group * sorted.size() / groups, until = (group + 1) * sorted.size() / groups;
    ServingTimes sum;
    for (std::size_t i = from; i < until; ++i)
      for (std::size_t part = 0; part < kServingParts; ++part) sum.ns[part] += sorted[i]->times.ns[part];
    const double count = static_cast<double>(until - from);
    ColumnChart::Column column;
    column.value = ns_of(sum.total()) / count;
    column.tip = fmt::format("{}, mean {}", plural(until - from, "request"), time_text(column.value));
    for (const ServingPart part : parts_of(sum)) {
      column.tip += fmt::format(", {} {}", part_title(part), time_text(ns_of(sum[part]) / count));
      column.parts.push_back({ns_of(sum[part]) / count, part_colour(part)});
    }
    chart.scale = std::max(chart.scale, column.value);
    chart.columns.push_back(std::move(column));
  }
  return chart;
}

Legend parts_legend(const Serving& serving) {
  Legend legend{{}, false, "Parts"};
  ServingTimes all = serving.times;
  all[ServingPart::kNetwork] = serving.tail.judged_times[ServingPart::kNetwork];
  for (const ServingPart part : parts_of(all)) legend.entries.push_back({part_colour(part), part_title(part), part_meaning(part)});
  return legend;
}

void add_latencies(const Serving& serving, Blocks& blocks) {
  if (serving.latencies.empty()) return;
  blocks.push_back(Heading{"Latencies", "serving-latencies"});
  add(blocks, latency_table(serving));
  add(blocks, Paragraph{"From arrival at the server; in brackets the 95 % interval. p90 needs 20 requests and p99 needs 100."});
  blocks.push_back(Figure(latency_curve(serving.latencies.back())));
  blocks.push_back(caption("The whole request by quantiles, with their 95 % intervals where there are enough requests."));
  blocks.push_back(Figure(growth_chart(serving)));
  blocks.push_back(parts_legend(serving));
}

void add_reasons(const Serving& serving, Blocks& blocks) {
  const ServingTail& tail = serving.tail;
  if (tail.requests.empty()) return;
  blocks.push_back(Heading{"Why the slowest requests are slow", "serving-slow"});
  add(blocks, Paragraph{fmt::format("{} of {}, against requests of like sizes (prompt and output within a fifth, or 8 tokens).",
                                    plural(tail.requests.size(), "request"), count_text(tail.judged))});
  List list;
  for (std::size_t i = 0; i < std::min<std::size_t>(10, tail.requests.size()); ++i)
    list.items.push_back({reason_text(serving, tail.requests[i])});
  add(blocks, std::move(list));
  if (tail.causes.size() < 2) return;
  Table table{"Causes", {{"Cause"}, {"Requests", kRight}, {"Time", kRight}}};
  for (const ServingCause& cause : tail.causes)
    table.rows.push_back({part_title(cause.part), count_cell(cause.requests), time_cell(ns_of(cause.ns))});
  add(blocks, std::move(table));
}

void add_bill(const Serving& serving, Blocks& blocks) {
  blocks.push_back(Heading{"The bill", "serving-bill"});
  Table table{"Parts of the requests' time",
              {{"Part"},
               {"Time", kRight},
               {"Share", kRight},
               {"Mean of a request", kRight},
               {"Of the slowest", kRight},
               {"What it is", kLeft, kWide}}};
  const ServingTail& tail = serving.tail;
  ServingTimes all = serving.times;
  all[ServingPart::kNetwork] = tail.judged_times[ServingPart::kNetwork];
  for (const ServingPart part : parts_of(all)) {
    const bool network = part == ServingPart::kNetwork;
    Row row{part_title(part),
            network ? Cell(kNoValue) : time_cell(ns_of(all[part])),
            network ? Cell(kNoValue) : share_cell(share_of(all[part], serving.times.total())),
            tail.judged > 0 ? time_cell(ns_of(tail.judged_times[part]) / static_cast<double>(tail.judged)) : Cell(kNoValue),
            share_cell(share_of(tail.times[part], tail.latency_ns)),
            std::string(part_meaning(part))};
    row.front().colour = part_colour(part);
    table.rows.push_back(std::move(row));
  }
  table.foot.push_back({"all requests inside the window", time_cell(ns_of(serving.times.total())), kNoValue, kNoValue, kNoValue, kNoValue});
  add(blocks, std::move(table));
  add(blocks, Paragraph{"Parts do not overlap, and add up to the time of all requests inside the window to the nanosecond."});
  add(blocks, Paragraph{network_text(serving)});
}

void add_workers(const Serving& serving, Blocks& blocks) {
  if (serving.workers.empty()) {
    add(blocks, missing("No step ran in the window, or no mark of one could be read."));
    return;
  }
  blocks.push_back(Heading{"Steps and the time between them", "serving-steps"});
  Table workers{
      "Workers",
      {{"Worker"}, {"Steps", kRight}, {"In steps", kRight}, {"Between steps", kRight}, {"No request", kRight}, {"Shared", kRight}}};
  for (const ServingWorker& worker : serving.workers)
    workers.rows.push_back({fmt::format("{} {}", worker.process.empty() ? "process" : worker.process, worker.pid), count_cell(worker.steps),
                            time_cell(ns_of(worker.step_ns)), time_cell(ns_of(worker.between_ns)), time_cell(ns_of(worker.idle_ns)),
                            serving.step_floor ? time_cell(ns_of(worker.shared_ns)) : Cell(kNoValue)});
  add(blocks, std::move(workers));
  Table kinds{"Steps by kind",
              {{"Kind"},
               {"Steps", kRight},
               {"Median", kRight},
               {"p99", kRight},
               {"Requests a step", kRight},
               {"Prompt tokens", kRight},
               {"Output tokens", kRight},
               {"GPU time", kRight}}};
  for (const ServingSteps& each : serving.steps)
    kinds.rows.push_back({std::string(key_of(each.kind)), count_cell(each.wall.count), time_cell(each.wall.median_ns),
                          time_cell(each.wall.p99()),
                          figure_cell(static_cast<double>(each.requests) / static_cast<double>(each.wall.count)),
                          count_cell(each.prefill_tokens), count_cell(each.decode_tokens), time_cell(each.gpu_ns)});
  add(blocks, std::move(kinds));
  Ns between_ns = 0;
  for (const ServingWorker& worker : serving.workers) between_ns += worker.between_ns;
  Table code{"What runs between steps", {{"Range"}, {"Process"}, {"Function"}, {"Time", kRight}, {"Share", kRight}}};
  for (const ServingCode& each : serving.between_code)
    code.rows.push_back({text_cell(each.range), text_cell(each.process), text_cell(each.function ? frame_text(*each.function) : ""),
                         time_cell(ns_of(each.ns)), share_cell(share_of(each.ns, between_ns))});
  add(blocks, std::move(code));
}

void add_gpu(const Serving& serving, Blocks& blocks) {
  if (!serving.gpu_step_ns) {
    add(blocks, Paragraph{"GPU time: not captured. The bill of steps is by their wall time."});
  } else {
    std::uint64_t steps = 0;
    for (const ServingSteps& each : serving.steps) steps += each.wall.count;
    const bool all = serving.gpu_steps.value_or(steps) == steps;
    const std::string which = all ? "The steps" : fmt::format("The {} of {} steps whose GPU work was recorded", *serving.gpu_steps, steps);
    add(blocks, Paragraph{fmt::format("{} launched {} of GPU time; other work in the window took {}.", which,
                                      time_text(ns_of(*serving.gpu_step_ns)), time_text(ns_of(*serving.gpu_other_ns)))});
  }
  if (serving.step_floor)
    add(blocks,
        Paragraph{fmt::format(
            "A step of one token takes {}: so much of every step is shared (weights are read whatever is in it), and is divided by tokens.",
            time_text(ns_of(*serving.step_floor)))});
  else
    add(blocks,
        Paragraph{"Fewer than five steps have a single token, so what a step costs whatever is in it is not known: nothing is shared."});
  if (serving.energy_uj)
    add(blocks, Paragraph{fmt::format("The GPUs used {} in the window, idle power included; requests pay by their GPU time.",
                                      figure_text(static_cast<double>(*serving.energy_uj) * 1e-6, "J"))});
  else add(blocks, Paragraph{fmt::format("Energy: not captured ({}).", serving.energy_note)});
}

CurveChart::Curve curve(const std::string& title, const char* colour, const std::vector<double>& values, double span_ns, double times,
                        const char* unit) {
  CurveChart::Curve out;
  double most = 0, sum = 0;
  for (const double value : values) {
    out.values.push_back(value * times);
    most = std::max(most, value * times), sum += value * times;
  }
  const double mean = values.empty() ? 0 : sum / static_cast<double>(values.size());
  out.title = title;
  out.colour = colour;
  out.top = most > 0 ? round_up(most) : 1;
  out.scale = fmt::format("0 to {}{}", figure_text(out.top), unit);
  out.mean = fmt::format("mean {}{}", figure_text(mean), unit);
  out.tip = fmt::format("{}: mean {}{}, most {}{}", title, figure_text(mean), unit, figure_text(most), unit);
  out.end_ns = span_ns;
  return out;
}

void add_load(const Serving& serving, Blocks& blocks) {
  const ServingSeries& series = serving.series;
  if (series.step_ns <= 0 || series.arrivals.empty()) return;
  CurveChart chart;
  chart.span_ns = static_cast<double>(series.step_ns) * static_cast<double>(series.arrivals.size());
  chart.label = "Load over the window: arrivals, requests that run and wait, requests of a step";
  const double a_second = 1e9 / static_cast<double>(series.step_ns);
  chart.curves = {curve("arrivals", "b-latency", series.arrivals, chart.span_ns, a_second, "/s"),
                  curve("running", "b-compute", series.running, chart.span_ns, 1, ""),
                  curve("waiting", "b-queue", series.waiting, chart.span_ns, 1, ""),
                  curve("batch", "b-copy", series.batch, chart.span_ns, 1, "")};
  blocks.push_back(Heading{"Load over time", "serving-load"});
  blocks.push_back(Figure(std::move(chart)));
  blocks.push_back(caption("Waiting: in the queue or preempted. Batch: requests of a step, by the steps' time."));
}

void add_tracks(const Run& run, const Serving& serving, Blocks& blocks) {
  if (serving.tracks.empty()) return;
  Ns from = serving.end_ns, until = serving.start_ns;
  for (const ServingTrack& track : serving.tracks)
    if (!track.spans.empty()) from = std::min(from, track.spans.front().start_ns), until = std::max(until, track.spans.back().end_ns);
  if (until <= from) return;
  StripChart chart;
  chart.span_ns = ns_of(until - from);
  chart.label = "Requests below each other, by what each moment is";
  StripChart::Strip strip{"Request", time_text(chart.span_ns), chart.span_ns, {}, 0, 0};
  for (const ServingTrack& track : serving.tracks) {
    StripChart::Lane lane{std::to_string(track.id), {}};
    for (const ServingSpan& span : track.spans)
      lane.parts.push_back(
          {ns_of(span.start_ns - from), ns_of(span.end_ns - from), part_colour(span.part),
           fmt::format("request {}: {}, {}", track.id, part_title(span.part), time_text(ns_of(span.end_ns - span.start_ns))), ""});
    strip.lanes.push_back(std::move(lane));
  }
  chart.strips = {std::move(strip)};
  blocks.push_back(Heading{"Requests", "serving-requests"});
  blocks.push_back(Figure(std::move(chart)));
  blocks.push_back(parts_legend(serving));
  const bool linked = !link_to_moment(run, from, until).empty();
  blocks.push_back(
      caption(fmt::format("The slowest request and those beside it, from {:.6f} s of the capture. Each pixel shows what most of it is.{}",
                          ns_of(from) / 1e9, linked ? " Links in the tables lead to the steps and kernels on the timeline." : "")));
}

void add_requests(const Run& run, const Serving& serving, Blocks& blocks) {
  Table table{"Requests", {{"Request"}, {"Prompt", kRight}, {"Output", kRight}, {"Ended"}, {"Time", kRight}}};
  const std::vector<ServingPart> parts = parts_of(serving.times);
  for (const ServingPart part : parts) table.columns.push_back({part_title(part), kRight});
  const bool network = serving.network == NetworkState::kJoined, gpu = serving.gpu_step_ns.has_value();
  if (network) table.columns.push_back({"network", kRight});
  table.columns.push_back({gpu ? "GPU time" : "Step time", kRight});
  table.columns.push_back({"of it shared", kRight});
  if (serving.energy_uj) table.columns.push_back({"Energy", kRight});
  for (const ServingRequest& each : serving.requests) {
    if (table.rows.size() >= kListedRequests) break;
    Row row{Cell(moment(run, request_text(each), each.start_ns, each.end_ns), static_cast<double>(each.id)),
            each.prompt_tokens ? count_cell(*each.prompt_tokens) : Cell(kNoValue),
            each.output_tokens ? count_cell(*each.output_tokens) : Cell(kNoValue), each.whole() ? key_cell(each.end) : Cell("partial"),
            time_cell(ns_of(each.times.total()))};
    for (const ServingPart part : parts) row.push_back(time_cell(ns_of(each.times[part])));
    if (network) row.push_back(each.network_before_ns ? time_cell(ns_of(each.times[ServingPart::kNetwork])) : Cell(kNoValue));
    const ServingCost& cost = each.gpu ? *each.gpu : each.step;
    row.push_back(time_cell(ns_of(cost.total())));
    row.push_back((gpu ? serving.gpu_floor : serving.step_floor) ? time_cell(ns_of(cost.shared_ns)) : Cell(kNoValue));
    if (serving.energy_uj) row.push_back(figure_cell(static_cast<double>(each.energy_uj.value_or(0)) * 1e-6, "J"));
    table.rows.push_back(std::move(row));
  }
  table.sortable = table.filter = true;
  table.text_rows = kTextRequests;
  table.text_note =
      fmt::format("The first {} of {}; run.json has {}.", kTextRequests, count_text(serving.count), count_text(serving.requests.size()));
  add(blocks, std::move(table));
  Table steps{"The longest steps",
              {{"Step"}, {"Took", kRight}, {"Prompts", kRight}, {"Prompt tokens", kRight}, {"Decodes", kRight}, {"GPU time", kRight}}};
  for (const ServingStep& each : serving.longest_steps)
    steps.rows.push_back({Cell(moment(run, fmt::format("{} of worker {}", each.index, each.worker), each.start_ns, each.end_ns)),
                          time_cell(ns_of(each.end_ns - each.start_ns)), count_cell(each.prefills), count_cell(each.prefill_tokens),
                          count_cell(each.decodes), time_cell(each.gpu_ns)});
  steps.text_rows = 10;
  steps.text_note = "The first 10.";
  add(blocks, std::move(steps));
}

}  // namespace

Section serving(const Run& run) {
  Section out{"serving", "Serving", "Serving: a bill for every request"};
  if (!run.serving) return out;
  const Serving& serving = *run.serving;
  if (serving.count == 0) {
    add(out.blocks, missing("No request is marked in the window: the engine had none, or it does not mark them (docs/serving.md)."));
  } else {
    add(out.blocks, Paragraph{load_sentence(serving), Role::kLead});
    add_reasons(serving, out.blocks);
    add_latencies(serving, out.blocks);
    add_bill(serving, out.blocks);
    add_workers(serving, out.blocks);
    add_gpu(serving, out.blocks);
    add_load(serving, out.blocks);
    add_tracks(run, serving, out.blocks);
    add_requests(run, serving, out.blocks);
  }
  if (serving.damage.empty()) return out;
  List list;
  for (const ServingDamaged& each : serving.damage) list.items.push_back({damage_text(each)});
  add(out.blocks, Paragraph{"Counted, and left out:"});
  add(out.blocks, std::move(list));
  return out;
}

}  // namespace nl::exporters::report
