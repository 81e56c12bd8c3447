#include "runs/fingerprint/fingerprint.h"

#include "analysis/runs/fingerprint/fingerprint.h"
#include "analysis/runs/fingerprint/similarity.h"
#include "model/error.h"
#include "orchestrator/config/knowledge.h"
#include "runs/compare/named_run.h"

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

}  // namespace nl::runs
