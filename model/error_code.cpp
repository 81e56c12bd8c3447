#include "model/error_code.h"

#include <algorithm>
#include <array>

namespace nl {
namespace {

constexpr auto kCodes = [] {
  using enum ErrorCode;
  using Kind = ErrorKind;
  return std::to_array<ErrorCodeInfo>({
      {kInternal, "internal", Kind::kInternal, "an error in nl-stage; please report it"},
      {kUsage, "usage", Kind::kUsage, "a flag or an argument is wrong"},
      {kConfig, "config", Kind::kConfig, "a configuration file or a setting is wrong"},
      {kInput, "input", Kind::kInput, "an input is missing, damaged or of another kind"},
      {kTool, "tool", Kind::kTool, "a tool is missing, broken or not permitted"},
      {kWorkload, "workload", Kind::kWorkload, "the workload was not found, or it failed"},
      {kCapture, "capture", Kind::kCapture, "the tools ran, and something planned is not captured"},
      {kTimeout, "timeout", Kind::kTimeout, "a pass exceeded its timeout"},
      {kOutput, "output", Kind::kOutput, "something cannot be written"},
      {kInterrupted, "interrupted", Kind::kInterrupted, "a signal ended it"},
      {kUnknownVerb, "unknown_verb", Kind::kUsage, "there is no verb of this name"},
      {kUnknownFlag, "unknown_flag", Kind::kUsage, "the verb has no such flag, or it stands before the verb"},
      {kMissingArgument, "missing_argument", Kind::kUsage, "an argument or a flag that must be given is not, or a flag has no value"},
      {kWrongValue, "wrong_value", Kind::kUsage, "a value is none of those that the flag takes, or one too many"},
      {kConflictingFlags, "conflicting_flags", Kind::kUsage, "two flags exclude each other, or one needs another"},
      {kUnknownTerm, "unknown_term", Kind::kUsage, "explain knows nothing of this name"},
      {kUnknownTopic, "unknown_topic", Kind::kUsage, "help knows neither a verb nor a page of this name"},
      {kUnknownSchema, "unknown_schema", Kind::kUsage, "there is no schema of this name"},
      {kUnknownSetting, "unknown_setting", Kind::kConfig, "the configuration has no such key"},
      {kNoSuchFile, "no_such_file", Kind::kInput, "a file or a folder is not there, or cannot be read"},
      {kNoRecorder, "no_recorder", Kind::kInput, "no program is recorded under that name, or it has ended"},
      {kUnknownFormat, "unknown_format", Kind::kInput, "a file has no format that nl-stage reads"},
      {kNoCapture, "no_capture", Kind::kInput, "a folder has no capture in it"},
      {kCaptureDamaged, "capture_damaged", Kind::kInput, "a capture is cut short, empty or damaged"},
      {kNoLedger, "no_ledger", Kind::kInput, "there is no ledger yet"},
      {kLedgerDamaged, "ledger_damaged", Kind::kInput, "the ledger is damaged, or the file is no ledger"},
      {kLedgerNewer, "ledger_newer", Kind::kInput, "a newer nl-stage wrote the ledger"},
      {kNoSuchRun, "no_such_run", Kind::kInput, "the name is neither a file nor a run of the ledger"},
      {kAmbiguousRun, "ambiguous_run", Kind::kInput, "the name begins the ids of several runs"},
      {kNoRunJson, "no_run_json", Kind::kInput, "there is no run.json"},
      {kRunJsonInvalid, "run_json_invalid", Kind::kInput, "a file that nl-stage writes is damaged, or contradicts its schema or itself"},
      {kRunJsonNewer, "run_json_newer", Kind::kInput, "a newer nl-stage wrote the run.json"},
      {kBundleGone, "bundle_gone", Kind::kInput, "the run's bundle is not there any more"},
      {kBundleDamaged, "bundle_damaged", Kind::kInput, "a bundle is not finished, is half there, or was changed"},
      {kArchiveDamaged, "archive_damaged", Kind::kInput, "an archive is damaged, unsafe, or none of nl-stage's"},
      {kNotComparable, "not_comparable", Kind::kInput, "the runs differ in what comparisons need to be the same"},
      {kOutOfMemory, "out_of_memory", Kind::kInput, "the memory is not enough for the input"},
      {kToolMissing, "tool_missing", Kind::kTool, "a named tool, or a library, is not there"},
      {kOutputExists, "output_exists", Kind::kOutput, "the folder or file of the results is there already"},
  });
}();

constexpr bool codes_in_order() {
  for (std::size_t i = 0; i < kCodes.size(); ++i)
    if (static_cast<std::size_t>(kCodes[i].code) != i) return false;
  return kCodes.size() == static_cast<std::size_t>(ErrorCode::kOutputExists) + 1;
}
static_assert(codes_in_order(), "info_of() counts on it");

// Codes begin with those of the kinds.
constexpr ErrorCode code_of_kind(ErrorKind kind) { return static_cast<ErrorCode>(kind); }
static_assert(std::all_of(kCodes.begin(), kCodes.begin() + 10,
                          [](const ErrorCodeInfo& each) { return code_of_kind(each.kind) == each.code; }));

}  // namespace

std::span<const ErrorCodeInfo> error_codes() { return kCodes; }

const ErrorCodeInfo& info_of(ErrorCode code) { return kCodes[static_cast<std::size_t>(code)]; }

ErrorCode code_of(const Error& error) {
  const auto* coded = dynamic_cast<const CodedError*>(&error);
  return coded != nullptr ? coded->code : code_of_kind(error.kind);
}

}  // namespace nl
