#include <chrono>
#include <memory>
#include <mutex>

#include "model/run_metrics.h"
#include "servers/http/layout.h"
#include "servers/http/prometheus.h"

// /metrics: the latest figures by workload, and what the server counts of itself.
namespace nl::servers::http {
namespace {

constexpr std::size_t kMostWorkloads = 500;
constexpr auto kRenewed = std::chrono::seconds(10);  // a scrape comes every few seconds, and the answer is a look at every run

std::string help_of(const std::string& key) {
  const RunMetricInfo* info = find_metric(key);
  if (info == nullptr) return "of the newest run";
  const std::string_view unit = key_of(info->unit);
  return fmt::format("{}{}; of the newest run of the workload", info->title, unit.empty() ? "" : fmt::format(", {}", unit));
}

void add_run(Exposition& out, runs::Ledger& ledger, const runs::LedgerEntry& entry) {
  const Labels labels = {
      {"workload", entry.workload}, {"workload_text", entry.workload_text}, {"model", entry.model}, {"hardware", entry.hardware}};
  for (const auto& [key, value] : ledger.metrics(entry.run_id)) {
    if (key.starts_with("kernel.")) continue;
    FamilyName name = family_of(key);
    name.labels.insert(name.labels.begin(), labels.begin(), labels.end());
    out.add(name.family, "gauge", help_of(key), name.labels, value);
  }
  Labels about = labels;
  about.insert(about.end(), {{"run_id", entry.run_id}, {"name", entry.name}, {"status", entry.status}, {"revision", entry.revision}});
  out.add("nl_stage_run_info", "gauge", "the newest run of the workload: always 1", about, 1);
}

// Made at most every ten seconds, for all who ask.
class LatestFigures {
 public:
  std::string text(LedgerPool& ledgers) {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (text_.empty() || now - made_ > kRenewed) {
      Exposition out;
      auto ledger = ledgers.borrow();
      for (const runs::LedgerEntry& entry : ledger->latest_by_workload(kMostWorkloads)) add_run(out, *ledger, entry);
      text_ = out.text();
      made_ = now;
    }
    return text_;
  }

 private:
  std::mutex mutex_;
  std::string text_;
  std::chrono::steady_clock::time_point made_;
};

void add_counters(Exposition& out, const Counters& counters) {
  for (const auto& [key, sum] : counters.sums()) {
    const auto& [path, method, status] = key;
    const Labels labels = {{"path", path}, {"method", method}, {"status", std::to_string(status)}};
    out.add("nl_stage_http_requests_total", "counter", "answered requests by route", labels, static_cast<double>(sum.requests));
    out.add("nl_stage_http_request_seconds_total", "counter", "time that the answers took", labels, sum.seconds);
  }
  out.add("nl_stage_http_connections_total", "counter", "accepted connections", {}, static_cast<double>(counters.connections));
  out.add("nl_stage_http_connections_open", "gauge", "connections that are open", {}, static_cast<double>(counters.open_connections));
  out.add("nl_stage_http_connections_refused_total", "counter", "connections beyond the limit", {},
          static_cast<double>(counters.refused_connections));
  out.add("nl_stage_http_timeouts_total", "counter", "connections that were too slow", {}, static_cast<double>(counters.timed_out));
}

}  // namespace

void add_metrics_route(std::vector<Route>& routes, Parts& parts) {
  const auto latest = std::make_shared<LatestFigures>();
  routes.push_back({"GET",
                    "/metrics",
                    Entry::kRead,
                    Pace::kSlow,
                    "For Prometheus: the latest figures by workload, and the server's own counters",
                    [&parts, latest](const Ask&) {
                      Exposition own;
                      add_counters(own, parts.counters);
                      std::string figures;
                      bool up = true;
                      try {
                        figures = latest->text(parts.ledgers);
                      } catch (const Error&) {  // no ledger yet: the server's own are there nevertheless
                        up = false;
                      }
                      own.add("nl_stage_ledger_up", "gauge", "1: the ledger can be read", {}, up ? 1 : 0);
                      return Response{200, "text/plain; version=0.0.4; charset=utf-8", figures + own.text()};
                    },
                    {},
                    "text/plain"});
}

}  // namespace nl::servers::http
