#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "model/error.h"

// What a script may branch on: a word that stays the same while sentences are corrected. docs/exit-status.md lists them.
namespace nl {

enum class ErrorCode : std::uint8_t {
  // Of each kind, where nothing says more
  kInternal,
  kUsage,
  kConfig,
  kInput,
  kTool,
  kWorkload,
  kCapture,
  kTimeout,
  kOutput,
  kInterrupted,
  // The command line
  kUnknownVerb,
  kUnknownFlag,
  kMissingArgument,
  kWrongValue,
  kConflictingFlags,
  kUnknownTerm,
  kUnknownTopic,
  kUnknownSchema,
  // The configuration
  kUnknownSetting,
  // Files and runs
  kNoSuchFile,
  kNoRecorder,
  kUnknownFormat,
  kNoCapture,
  kCaptureDamaged,
  kNoLedger,
  kLedgerDamaged,
  kLedgerNewer,
  kNoSuchRun,
  kAmbiguousRun,
  kNoRunJson,
  kRunJsonInvalid,
  kRunJsonNewer,
  kBundleGone,
  kBundleDamaged,
  kArchiveDamaged,
  kNotComparable,
  kOutOfMemory,
  // The rest
  kToolMissing,
  kOutputExists,
};

struct ErrorCodeInfo {
  ErrorCode code;
  std::string_view key;  // "no_such_run"
  ErrorKind kind;
  std::string_view meaning;
};

std::span<const ErrorCodeInfo> error_codes();  // in the order of ErrorCode
const ErrorCodeInfo& info_of(ErrorCode code);

// An error that has a code of its own. Its kind follows from the code.
class CodedError : public Error {
 public:
  CodedError(ErrorCode code, std::string what, std::string where = {}, std::string fix = {})
      : Error(info_of(code).kind, std::move(what), std::move(where), std::move(fix)), code(code) {}

  ErrorCode code;
};

// That of its own, else that of its kind.
ErrorCode code_of(const Error& error);

}  // namespace nl
