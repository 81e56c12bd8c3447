#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "model/words.h"
#include "orchestrator/capture/count.h"
#include "orchestrator/capture/trace_nsys.h"
#include "parsers/ncu/csv.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

// ==ERROR== ERR_NVGPUCTRPERM - The user does not have permission …
// ==WARNING== No kernels were profiled.
std::vector<std::string> tool_messages(const std::vector<std::filesystem::path>& logs) {
  std::vector<std::string> messages;
  for (const auto& log : logs) {
    std::ifstream file(log);
    for (std::string line; std::getline(file, line) && messages.size() < 200;)
      for (std::string_view mark : {"==ERROR== ", "==WARNING== "})
        if (line.compare(0, mark.size(), mark) == 0) messages.push_back(line.substr(mark.size()));
  }
  return messages;
}

struct Sign {
  std::string_view text;
  Code code;
  Retry retry;
};

constexpr Sign kSigns[] = {
    {"ERR_NVGPUCTRPERM", Code::kCountersDenied, Retry::kNo},
    {"driver resource was unavailable", Code::kCountersBusy, Retry::kSame},
    {"Unable to write to file", Code::kNcuNotWritable, Retry::kNo},
    {"does not exist or is not an executable", Code::kNcuNotStarted, Retry::kNo},
    {"No kernels were profiled", Code::kNcuNoMatch, Retry::kWider},
};

std::vector<std::string> details_of(Code code) {
  if (code == Code::kCountersDenied) return {"ncu"};
  return code == Code::kCountersBusy ? std::vector<std::string>{""} : std::vector<std::string>{};
}

bool mentions(const std::vector<std::string>& messages, std::string_view text, std::string& found) {
  for (const auto& message : messages)
    if (message.find(text) != std::string::npos) {
      found = message;
      return true;
    }
  return false;
}

class NcuStep : public CountStep {
 public:
  explicit NcuStep(const Counting& counting) : CountStep(counting) {
    request_.kernel_name_base = choice<KernelNameBase>(plan_.config.ncu.kernel_name_base);
    request_.unmarked = unmarked_;
    attempt(kernels_.chosen());
  }

  void take(const Pass& pass, const ProcessResult* result, PassRecord& record) override {
    if (pass.kind != PassKind::kNcu) take_export(pass, result);
    else if (result != nullptr) take_profile(pass, *result, record);
    if (waiting_.empty() && (result != nullptr || pass.kind != PassKind::kNcu)) conclude();
  }

  void finish() override {
    const auto missing = kernels_.unmeasured(), all = kernels_.chosen();
    if (missing.empty()) {
      if (last_.application_failed) runner_.verdict().add(Code::kNcuEndedWithError, {}, "logs/ncu.stderr.log");
      return;
    }
    if (stopped()) {
      capture_.counters_missing = Remark{Code::kCountersNotReached};
      return;
    }
    capture_.counters_missing =
        last_.trouble ? *last_.trouble : Remark{Code::kNotLaunchedAgain, {"inside the chosen ranges of the second run"}};
    const bool none = missing.size() == all.size();
    const bool denied = last_.trouble && last_.trouble->code == Code::kCountersDenied;
    if (last_.trouble && (none || denied))
      return runner_.verdict().add(last_.trouble->code, last_.trouble->details, denied ? "ncu: ERR_NVGPUCTRPERM" : "ncu/cmd.txt");
    runner_.verdict().add(Code::kCountersPartly,
                          {"ncu", std::to_string(all.size() - missing.size()), std::to_string(all.size()), names_of(missing)},
                          "ncu/cmd.txt");
  }

 private:
  void attempt(const std::vector<const KernelEntry*>& kernels) {
    ++tries_;
    best_export_.clear();
    request_.kernels.clear();
    for (const auto* kernel : kernels) request_.kernels.push_back({kernel->name, kernel->mangled_name, kernel->short_name});
    Pass pass = plan_ncu(plan_.config, plan_.tools, plan_.bundle, &request_, capture_.adaptations);
    if (tries_ > 1) {
      pass.process.stdout_log = plan_.bundle / "logs" / "ncu-2.stdout.log";
      pass.process.stderr_log = plan_.bundle / "logs" / "ncu-2.stderr.log";
    }
    waiting_.push_back(std::move(pass));
  }

  void take_profile(const Pass& pass, const ProcessResult& result, PassRecord& record) {
    const bool there = fs::exists(plan_.bundle / pass.outputs.at(0));
    last_ = diagnose_ncu(result, {pass.process.stdout_log, pass.process.stderr_log}, there);
    record.detail = last_.trouble ? text_of(*last_.trouble) : "";
    if (!there && record.outcome == PassOutcome::kOk) record.outcome = PassOutcome::kFailed;
    if (!there) return;
    for (const Pass& next : passes_.subspan(1)) waiting_.push_back(next);  // the exports
  }

  void take_export(const Pass& pass, const ProcessResult* result) {
    const fs::path csv = plan_.bundle / pass.outputs.at(0);
    if (result == nullptr || result->interrupted || result->timed_out) return waiting_.clear();
    const bool good = fs::exists(csv);
    if (good && (best_export_.empty() || pass.kind == PassKind::kNcuExportRaw)) best_export_ = csv;
    if (!good)
      runner_.verdict().add(
          Code::kNcuExportFailed,
          {std::string(key_of(pass.kind)), last_words(result->stderr_text, 2), (plan_.bundle / "ncu/profile.ncu-rep").string()},
          (fs::path("logs") / pass.process.stderr_log.filename()).string());
  }

  void read_export() {
    if (best_export_.empty()) return;
    try {
      capture_.ncu.push_back(parsers::read_ncu_csv(best_export_));
    } catch (const Error& error) {
      runner_.verdict().add(error);
    }
  }

  // One try: it is read, and tried again where that may help.
  void conclude() {
    read_export();
    kernels_.join(capture_.ncu, Meter::kNcu);
    const auto missing = kernels_.unmeasured();
    const bool again = last_.retry != Retry::kNo || !last_.trouble;
    if (tries_ > 1 || !again || missing.empty() || stopped()) return;
    set_aside_first();
    if (last_.retry != Retry::kSame) request_.attempt = 2;
    if (last_.trouble && last_.trouble->code == Code::kCountersBusy) std::this_thread::sleep_for(std::chrono::seconds(2));
    attempt(missing);
  }

  void set_aside_first() const {
    std::error_code ignored;
    for (const char* name : {"profile.ncu-rep", "raw.csv", "details.csv"}) {
      const fs::path file = plan_.bundle / "ncu" / name;
      if (fs::exists(file)) fs::rename(file, file.parent_path() / ("first-" + std::string(name)), ignored);
    }
  }

  NcuRequest request_;
  NcuDiagnosis last_;
  std::filesystem::path best_export_;
  int tries_ = 0;
};

}  // namespace

NcuDiagnosis diagnose_ncu(const ProcessResult& result, const std::vector<std::filesystem::path>& logs, bool report_there) {
  NcuDiagnosis out;
  out.messages = tool_messages(logs);
  std::string found;
  out.application_failed = mentions(out.messages, "The application returned an error code", found);
  for (const auto& sign : kSigns) {
    // A report that is there wins over "nothing matched", which one of several processes may say.
    if (!mentions(out.messages, sign.text, found) || (report_there && sign.code == Code::kNcuNoMatch)) continue;
    out.trouble = Remark{sign.code, details_of(sign.code)};
    out.retry = sign.retry;
    return out;
  }
  if (report_there) return out;
  if (result.term_signal != 0) {
    out.trouble = Remark{Code::kNcuKilled, {std::to_string(result.term_signal)}};
    out.retry = Retry::kSame;
  } else if (out.application_failed) {
    out.trouble = Remark{Code::kNcuWorkloadFailed, {std::to_string(result.exit_status)}};
  } else {
    const std::string words = out.messages.empty() ? fmt::format("it ended with status {}", result.exit_status) : out.messages.back();
    out.trouble = Remark{Code::kNcuFailed, {words.ends_with('.') ? words.substr(0, words.size() - 1) : words}};
    out.retry = Retry::kSame;
  }
  return out;
}

std::unique_ptr<Step> ncu_step(const Counting& counting) { return std::make_unique<NcuStep>(counting); }

}  // namespace nl::orchestrator
