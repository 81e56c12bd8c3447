#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "model/codes.h"
#include "model/error.h"
#include "model/finding.h"

// Codes into words: the one table of keys (for files), sentences, severities and fixes (for people). How the sentences read:
// docs/glossary.md has the terms.
namespace nl {

struct Words {
  Code code;
  std::string_view key;   // "counters-denied": stands in run.json, never changes
  Severity severity;      // kInfo: worth knowing; kHigh: a problem of the run
  ErrorKind kind;         // decides the exit status where it is a problem
  std::string_view text;  // with {0}, {1} for Remark::details
  std::string_view fix;   // likewise; empty: there is nothing to do
};

const Words& words_of(Code code);
std::optional<Code> code_of(std::string_view key);  // nothing where no code has this key

std::string text_of(const Remark& remark);
std::string line_of(const Remark& remark);  // with the place in front of it, where there is one
std::string fix_of(const Remark& remark);
Problem problem_of(const Remark& remark);
Problem problem_of(const Error& error);

// Keys of the small enumerations: "nsys-export", "ok", "nsys".
std::string_view key_of(Code code);
std::string_view key_of(PassKind pass);
std::string_view key_of(PassOutcome outcome);
std::string_view key_of(Tracer tracer);
std::string_view key_of(Meter meter);
std::string_view key_of(SourceFormat format);
std::string_view key_of(Bound bound);
std::string_view key_of(SlowdownVerdict verdict);
std::string_view key_of(LaneKind kind);

// All of them, in the order of the enumeration.
template <class Enum>
std::span<const std::string_view> keys_of();

// Both in one word, "nsys+ncu", "collector (CUPTI+counters)"; empty: nobody captured. And back.
std::string captured_by(Tracer tracer, Meter meter);
std::optional<std::pair<Tracer, Meter>> capture_of(std::string_view captured_by);

// The way back, for readers: nothing where no value has this key.
template <class Enum>
std::optional<Enum> from_key(std::string_view key);

}  // namespace nl
