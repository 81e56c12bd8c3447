#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "model/error.h"
#include "orchestrator/bundle/read_run.h"
#include "orchestrator/process/activity.h"
#include "orchestrator/process/interrupts.h"
#include "runs/archive/archive.h"
#include "runs/archive/scratch_folder.h"
#include "runs/archive/sources.h"
#include "runs/archive/unpack.h"
#include "runs/ledger/bundle_state.h"
#include "runs/ledger/ledger.h"

namespace fs = std::filesystem;

namespace nl::runs {
namespace {

// An unpacked bundle on its way to its place.
struct Arrival {
  const ArchivedBundle* about;
  fs::path unpacked, folder;
  std::string run_json;
  Run run;
  bool was_there = false;  // the folder
  bool in_ledger = false;  // the same run
  bool record = false;     // also where the ledger's bundle is gone
  bool moved = false, recorded = false;
};

bool is_same_bundle(const fs::path& a, const fs::path& b) {
  const auto first = files_with_digests(a), second = files_with_digests(b);
  return std::equal(first.begin(), first.end(), second.begin(), second.end(),
                    [](const ManifestFile& x, const ManifestFile& y) { return x.path == y.path && x.sha256 == y.sha256; });
}

class Importing {
 public:
  explicit Importing(const ImportBundleRequest& request) : request_(request), scratch_(request.out, "import") {}

  ImportBundleResult import() {
    ImportBundleResult result;
    result.contents = unpack_archive(request_.archive, request_.limits, scratch_.path());
    for (const ArchivedBundle& bundle : result.contents.bundles) arrivals_.push_back(arrival_of(bundle));
    for (Arrival& arrival : arrivals_) check_folder(arrival);
    if (!request_.ledger_location.empty()) check_ledger();
    try {
      for (Arrival& arrival : arrivals_) move_in(arrival);
      for (Arrival& arrival : arrivals_) record(arrival);
    } catch (...) {
      take_back();
      throw;
    }
    for (const Arrival& arrival : arrivals_)
      result.bundles.push_back({*arrival.about, arrival.folder, arrival.was_there, arrival.recorded});
    if (ledger_) result.ledger = ledger_->location();
    return result;
  }

 private:
  // A whole bundle, of the run that the list says.
  Arrival arrival_of(const ArchivedBundle& about) const {
    Arrival arrival{&about, scratch_.path() / about.folder, fs::absolute(request_.out).lexically_normal() / about.folder, {}, {}};
    try {
      const fs::path file = run_json_of(arrival.unpacked);
      arrival.run_json = read_run_text(file);
      arrival.run = read_run(arrival.run_json, file);
      files_of_whole_bundle(arrival.unpacked);
    } catch (Error& error) {  // the folder it was unpacked to will be gone
      const std::string prefix = scratch_.path().string() + "/";
      if (error.where.starts_with(prefix))
        error.where = fmt::format("{}: {}", request_.archive.string(), error.where.substr(prefix.size()));
      throw;
    }
    if (arrival.run.run_id != about.run_id)
      throw Error(ErrorKind::kInput, fmt::format("the archive says that this is the run {}; it is {}", about.run_id, arrival.run.run_id),
                  fmt::format("{}: {}", request_.archive.string(), about.folder),
                  "do not use this archive; have it made again by nl-stage export");
    return arrival;
  }

  void check_folder(Arrival& arrival) const {
    std::error_code ignored;
    arrival.was_there = fs::exists(fs::symlink_status(arrival.folder, ignored));
    if (arrival.was_there && (!fs::is_directory(arrival.folder, ignored) || !is_same_bundle(arrival.folder, arrival.unpacked)))
      throw Error(ErrorKind::kInput, "another bundle of this name is there already", arrival.folder.string(),
                  "give another folder with --out");
  }

  // Last, since a ledger that is not there yet is made.
  void check_ledger() {
    ledger_.emplace(Ledger::open(request_.ledger_location));
    for (Arrival& arrival : arrivals_) check_record(arrival);
  }

  void check_record(Arrival& arrival) {
    arrival.record = true;
    std::optional<LedgerEntry> known = find(arrival.run.run_id);
    if (!known) return;
    if (ledger_->run_json(known->run_id) != arrival.run_json)
      throw Error(ErrorKind::kInput, fmt::format("the ledger has another version of the run {}", known->run_id), ledger_->location(),
                  "a redacted run differs from the original; name another ledger with --ledger, or remove the recorded run first");
    arrival.in_ledger = true;
    arrival.record = bundle_state(*known) != BundleState::kWhole;
  }

  // By its id: a run's name or tag must not be taken for one.
  std::optional<LedgerEntry> find(const std::string& run_id) {
    try {
      LedgerEntry entry = ledger_->resolve(run_id);
      return entry.run_id == run_id ? std::optional(std::move(entry)) : std::nullopt;
    } catch (const Error& error) {
      if (error.kind == ErrorKind::kInput || error.kind == ErrorKind::kUsage) return std::nullopt;
      throw;
    }
  }

  void move_in(Arrival& arrival) const {
    if (Interrupts::signal() != 0) throw Error(ErrorKind::kInterrupted, "interrupted; nothing was left behind", request_.archive.string());
    if (arrival.was_there) return;
    std::error_code failure;
    fs::rename(arrival.unpacked, arrival.folder, failure);
    if (failure)
      throw Error(ErrorKind::kOutput, fmt::format("cannot put the bundle in place: {}", failure.message()), arrival.folder.string(),
                  "give another folder with --out");
    arrival.moved = true;
  }

  void record(Arrival& arrival) {
    if (!arrival.record) return;
    ledger_->record(arrival.run, arrival.run_json, arrival.folder);
    arrival.recorded = true;
  }

  // Best effort: the first error is the one to tell.
  void take_back() noexcept {
    for (const Arrival& arrival : arrivals_) {
      std::error_code ignored;
      if (arrival.moved) fs::remove_all(arrival.folder, ignored);
      try {
        if (arrival.recorded && !arrival.in_ledger) ledger_->remove(arrival.run.run_id);
      } catch (...) {
      }
    }
  }

  const ImportBundleRequest& request_;
  ScratchFolder scratch_;
  std::optional<Ledger> ledger_;
  std::vector<Arrival> arrivals_;
};

}  // namespace

ImportBundleResult import_bundle(const ImportBundleRequest& request) {
  const Activity unpacking("unpacking " + request.archive.filename().string());
  const Interrupts interrupts;
  return Importing(request).import();
}

}  // namespace nl::runs
