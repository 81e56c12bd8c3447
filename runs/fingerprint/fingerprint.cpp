#include "runs/fingerprint/fingerprint.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/runs/fingerprint/fingerprint.h"
#include "model/error.h"
#include "model/input_bounds.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/config/knowledge.h"
#include "orchestrator/process/activity.h"
#include "runs/ledger/find_run.h"
#include "runs/ledger/schema.h"

namespace nl::runs {
namespace {

std::optional<DevicePeaks> peaks_of(const std::string& file) {
  if (file.empty()) return std::nullopt;
  const DeviceTableEntry entry = read_device_file(file);
  DevicePeaks out;
  out.name = entry.name;
  out.source = entry.file;
  out.flops_per_s = entry.flops_per_s;
  out.bytes_per_s = entry.bytes_per_s;
  return out;
}

Fingerprint made(const Run& run, const FingerprintRequest& request) {
  const auto peaks = peaks_of(request.peaks);
  Fingerprint out = analysis::make_fingerprint(run, request.kind, peaks ? &*peaks : nullptr);
  if (out.items.empty())
    throw Error(ErrorKind::kInput, "the run has neither operators one by one nor kernels", request.run,
                "capture GPU work, or import a profile of operators");
  return out;
}

using nlohmann::json;

// What a similarity needs: [["decode_step", "0123456789abcdef", "matmul", [0.1, 0, 0, 0, 0, 0]], …]
std::string kept_text(const Fingerprint& fingerprint) {
  json items = json::array();
  for (const FingerprintItem& item : fingerprint.items) items.push_back({item.stage, item.signature, item.type, item.vector});
  return database::packed(items.dump(-1, ' ', false, json::error_handler_t::replace));
}

// Nothing where the kept fingerprint is damaged: then it is made again.
std::optional<Fingerprint> read_kept(const std::string& bytes, FingerprintKind kind) {
  Fingerprint out;
  out.kind = kind;
  try {
    const std::string text = database::unpacked(bytes, "fingerprint");
    for (const json& row : json::parse(json_within_bounds(text, "fingerprint"))) {
      FingerprintItem item;
      item.stage = row.at(0), item.signature = row.at(1), item.type = row.at(2), item.vector = row.at(3);
      out.items.push_back(std::move(item));
    }
  } catch (const json::exception&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
  return out;
}

class Search {
 public:
  Search(Ledger& ledger, NearestRuns& out) : ledger_(ledger), out_(out) {}

  void run() {
    const std::string statement =
        "SELECT r.run_id, r.created_at, r.name, r.model, r.hardware, f.items, r.number FROM runs r "
        "LEFT JOIN fingerprints f ON f.run = r.number AND f.kind = ? WHERE r.run_id <> ?";
    ledger_.connection().select(statement, {std::string(key_of(out_.of.kind)), out_.of.run_id}, [&](const database::Row& row) {
      NearRun near{row.text(0), row.text(1), row.text(2), row.text(3), row.text(4)};
      const auto kept = row.is_null(5) ? std::nullopt : read_kept(row.bytes(5), out_.of.kind);
      if (kept) add(std::move(near), *kept);
      else missing_.push_back({row.integer(6), std::move(near)});
    });
    for (Missing& each : missing_) make(each);
    keep();
  }

 private:
  struct Missing {
    std::int64_t number;
    NearRun near;
    std::string made = {};
  };

  void make(Missing& each) {
    const Run run = read_run(ledger_.run_json(each.near.run_id), each.near.run_id);
    const Fingerprint fingerprint = analysis::make_fingerprint(run, out_.of.kind);
    each.made = kept_text(fingerprint);
    add(std::move(each.near), fingerprint);
  }

  void add(NearRun near, const Fingerprint& fingerprint) {
    if (fingerprint.items.empty()) {
      ++out_.without;
      return;
    }
    ++out_.searched;
    near.similarity = analysis::similarity(out_.of, fingerprint).similarity;
    out_.runs.push_back(std::move(near));
  }

  // A ledger that may not be written answers nevertheless, only slower the next time.
  void keep() {
    if (missing_.empty()) return;
    try {
      database::Transaction transaction(ledger_.connection());
      for (const Missing& each : missing_)
        ledger_.connection().run(
            "INSERT INTO fingerprints (run, kind, items) VALUES (?, ?, ?) ON CONFLICT (run, kind) DO UPDATE SET items = excluded.items",
            {each.number, std::string(key_of(out_.of.kind)), database::Bytes{each.made}});
      transaction.commit();
    } catch (const Error& error) {
      if (error.kind != ErrorKind::kOutput) throw;
    }
  }

  Ledger& ledger_;
  NearestRuns& out_;
  std::vector<Missing> missing_;
};

}  // namespace

Fingerprint fingerprint_of(const FingerprintRequest& request) { return made(named_run(request.run, request.ledger), request); }

FingerprintComparison compare_fingerprints(const FingerprintRequest& request, const std::string& other) {
  const Run left = named_run(request.run, request.ledger), right = named_run(other, request.ledger);
  FingerprintRequest of_b = request;
  of_b.run = other;
  FingerprintComparison out{made(left, request), made(right, of_b), {}};
  if (out.a.kind != out.b.kind) {
    FingerprintRequest kernels = request;
    kernels.kind = of_b.kind = FingerprintKind::kKernels;
    out.a = made(left, kernels);
    out.b = made(right, of_b);
  }
  out.match = analysis::similarity(out.a, out.b);
  return out;
}

NearestRuns nearest_runs(const FingerprintRequest& request, std::size_t count) {
  const Activity searching("searching the ledger");
  NearestRuns out{fingerprint_of(request), {}};
  Ledger opened = Ledger::open(ledger_location(request.ledger), database::Absent::kRefuse);
  Search(opened, out).run();
  std::stable_sort(out.runs.begin(), out.runs.end(), [](const NearRun& a, const NearRun& b) { return a.similarity > b.similarity; });
  if (out.runs.size() > count) out.runs.resize(count);
  return out;
}

}  // namespace nl::runs
