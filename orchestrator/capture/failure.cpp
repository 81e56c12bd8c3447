#include "orchestrator/capture/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <regex>
#include <vector>

namespace nl::orchestrator {
namespace {

constexpr std::size_t kLongestMessage = 300;  // of a first line: what is longer holds whole tensors or commands
constexpr std::size_t kLongestSearched = 2000;
constexpr std::string_view kTraceback = "Traceback (most recent call last)", kGroup = "Exception Group ";
using Lines = std::vector<std::string_view>;

bool has_word(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

std::string_view trimmed_line(std::string_view line) {
  const std::size_t from = line.find_first_not_of(" \t\r");
  return from == std::string_view::npos ? std::string_view() : line.substr(from, line.find_last_not_of(" \t\r") + 1 - from);
}

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// "\x1b[31mValueError\x1b[0m"
std::string without_colours(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "\x1b[") i = std::min(text.find_first_not_of("0123456789;", i + 2), text.size());
    else plain += text[i];
  }
  return plain;
}

// The margin of an exception group: "  |   File …", "    | ValueError: 1", "  +-+---------------- 1 ----------------".
std::string_view without_margin(std::string_view line) {
  const std::size_t bar = line.find_first_not_of(' ');
  if (bar == std::string_view::npos || bar < 2 || (line[bar] != '|' && line[bar] != '+')) return line;
  return line.size() > bar + 2 ? line.substr(bar + 2) : std::string_view();
}

// "[rank0]: ", "(Worker pid=17) ERROR 11-17 20:28:38 [core.py:708] ": what stands before a traceback stands before each of its lines.
// A later time has other digits.
std::string_view without_prefix(std::string_view line, std::string_view prefix) {
  if (prefix.empty() || line.size() < prefix.size()) return line;
  for (std::size_t i = 0; i < prefix.size(); ++i) {
    const bool digits = std::isdigit(static_cast<unsigned char>(line[i])) && std::isdigit(static_cast<unsigned char>(prefix[i]));
    if (line[i] != prefix[i] && !digits) return line;
  }
  return line.substr(prefix.size());
}

struct SourceLine {
  std::string file, line, function;
};

//   File "/home/me/serve.py", line 12, in step
std::optional<SourceLine> frame_in(std::string_view line) {
  const std::string_view text = trimmed_line(line);
  constexpr std::string_view kFile = "File \"", kLine = "\", line ", kIn = ", in ";
  const std::size_t end = text.find(kLine);
  if (!text.starts_with(kFile) || end == std::string_view::npos) return std::nullopt;
  SourceLine frame;
  frame.file = text.substr(kFile.size(), end - kFile.size());
  const std::string_view rest = text.substr(end + kLine.size());
  frame.line = rest.substr(0, rest.find_first_not_of("0123456789"));
  if (const std::size_t in = rest.find(kIn); in != std::string_view::npos) frame.function = rest.substr(in + kIn.size());
  return frame;
}

// Installed packages, Python's own library, and the marks of nl-stage are not the program's own code.
bool is_own(const SourceLine& frame) {
  return !frame.file.starts_with("<frozen") &&
         !has_word(frame.file, {"site-packages/", "dist-packages/", "/lib/python", "nl_stage_auto", "nl_stage_nvtx"});
}

std::string place_of(const SourceLine& frame) {
  const std::filesystem::path path(frame.file);
  const bool package = path.filename() == "__init__.py" && path.has_parent_path();
  const std::string file = package ? (path.parent_path().filename() / path.filename()).string() : path.filename().string();
  const bool named = !frame.function.empty() && frame.function != "<module>";
  return fmt::format("{}:{}{}", file, frame.line, named ? " in " + frame.function : "");
}

struct PythonError {
  std::string type, message;  // the message's first line
  std::string place;          // the innermost own frame, else empty
  std::string source;         // the line of code of the innermost frame
  bool ignored = false;       // Python went on after it
  std::size_t end = 0;        // the line of the exception
};

// "torch.OutOfMemoryError: CUDA out of memory. …", "AssertionError"
bool split_exception(std::string_view line, PythonError& error) {
  const std::size_t colon = line.find(": ");
  const std::string_view type = trimmed_line(line.substr(0, std::min(colon, line.size())));
  const auto part_of_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; };
  if (type.empty() || std::isdigit(static_cast<unsigned char>(type[0])) || !std::all_of(type.begin(), type.end(), part_of_name))
    return false;
  error.type = type.ends_with(':') ? type.substr(0, type.size() - 1) : type;
  if (colon != std::string_view::npos) error.message = trimmed_line(line.substr(colon + 2));
  return true;
}

class PythonErrors {
 public:
  explicit PythonErrors(const Lines& lines) : lines_(lines) {
    grouped_ = std::any_of(lines.begin(), lines.end(), [](std::string_view line) { return has_word(line, {"Exception Group Traceback"}); });
    for (std::size_t i = 0; i < lines_.size(); ++i)
      if (line(i).find(kTraceback) != std::string_view::npos) read_block(i);
    if (found_.empty()) read_without_header();
  }

  // What starts other processes only repeats that one of them failed, and says so last.
  const PythonError* last() const {
    const PythonError* last = nullptr;
    for (const PythonError& error : found_)
      if (!error.ignored && (last == nullptr || !repeats_another(error))) last = &error;
    return last;
  }

 private:
  static bool repeats_another(const PythonError& error) {
    return has_word(error.type, {"ChildFailedError", "CalledProcessError", "ProcessRaisedException", "ProcessExitedException",
                                 "BrokenProcessPool", "EngineDeadError"}) ||
           has_word(error.message, {"See root cause above"});
  }

  std::string_view line(std::size_t i) const { return grouped_ ? without_margin(lines_[i]) : lines_[i]; }

  void read_block(std::size_t header) {
    const std::string_view first = line(header);
    std::string_view prefix = first.substr(0, first.find(kTraceback));
    const bool group = prefix.ends_with(kGroup);
    if (group) prefix.remove_suffix(kGroup.size());
    PythonError error;
    if (!read_frames(header + 1, prefix, error)) return;
    const std::string_view before = header > 0 ? trimmed_line(line(header - 1)) : std::string_view();
    error.ignored = has_word(before, {"Exception ignored in", "Error in atexit", "Exception ignored on"});
    if (in_group_until_ > header) return;  // a part of the group, whose first is enough
    if (group) add_first_of_group(error);
    found_.push_back(std::move(error));
  }

  bool read_frames(std::size_t from, std::string_view prefix, PythonError& error) {
    for (std::size_t i = from; i < lines_.size(); ++i) {
      const std::string_view text = without_prefix(line(i), prefix);
      if (const auto frame = frame_in(text)) {
        if (is_own(*frame)) error.place = place_of(*frame);
        error.source = i + 1 < lines_.size() ? std::string(trimmed_line(without_prefix(line(i + 1), prefix))) : "";
      } else if (!text.empty() && text.front() != ' ' && text.front() != '\t') {
        error.end = i;
        return split_exception(text, error);
      }
    }
    return false;
  }

  //   | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)
  //   +-+---------------- 1 ----------------
  //     | Traceback (most recent call last):
  void add_first_of_group(PythonError& group) {
    in_group_until_ = group.end;
    while (in_group_until_ < lines_.size() && lines_[in_group_until_].starts_with(' ')) ++in_group_until_;
    for (std::size_t i = group.end + 1; i + 1 < in_group_until_; ++i) {
      if (!has_word(lines_[i], {"- 1 -"})) continue;
      PythonError first;
      const std::string_view next = line(i + 1);
      if (!(next.find(kTraceback) != std::string_view::npos ? read_frames(i + 2, {}, first) : split_exception(next, first))) return;
      group.message += fmt::format(", the first {}{}{}", first.type, first.message.empty() ? "" : ": ", first.message);
      if (!first.place.empty()) group.place = first.place;
      return;
    }
  }

  // A script that cannot be compiled has no traceback:
  //   File "/home/me/serve.py", line 1
  //     def f(
  //          ^
  // SyntaxError: '(' was never closed
  void read_without_header() {
    for (std::size_t i = lines_.size(); i-- > 0;) {
      const auto frame = frame_in(line(i));
      PythonError error;
      if (!frame || !frame->function.empty() || !read_frames(i, {}, error) || !error.type.ends_with("Error")) continue;
      found_.push_back(std::move(error));
      return;
    }
  }

  const Lines& lines_;
  bool grouped_ = false;
  std::size_t in_group_until_ = 0;
  std::vector<PythonError> found_;
};

std::string first_match(const std::string& text, const char* pattern) {
  std::smatch match;
  return std::regex_search(text, match, std::regex(pattern)) ? match[1].str() : "";
}

// "2199023255552 bytes" → "2.00 TiB"; "8.00TiB" → "8.00 TiB"
std::string memory_text(std::string amount) {
  std::erase(amount, ',');
  double number = 0;
  const auto [end, failed] = std::from_chars(amount.data(), amount.data() + amount.size(), number);
  if (failed != std::errc{}) return amount;
  std::string unit(trimmed_line(std::string_view(amount).substr(static_cast<std::size_t>(end - amount.data()))));
  const std::string digits = amount.substr(0, static_cast<std::size_t>(end - amount.data()));
  if (!unit.empty() && !unit.starts_with("byte") && unit != "B") return digits + " " + unit;
  constexpr std::array<const char*, 6> kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t power = 0;
  for (; number >= 1024 && power + 1 < kUnits.size(); ++power) number /= 1024;
  return fmt::format("{:.{}f} {}", number, power == 0 ? 0 : 2, kUnits[power]);
}

// CUDA out of memory. Tried to allocate 2048.00 GiB. GPU 0 has a total capacity of 139.80 GiB of which 139.27 GiB is free. …
// CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 15.78 GiB total capacity; 14.60 GiB already allocated; 13.75 MiB free; …
// RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8.00TiB with allocator GPU_0_bfc on device 0.
// DefaultCPUAllocator: can't allocate memory: you tried to allocate 140737488355328 bytes.
std::string memory_asked(const std::string& message) {
  std::vector<std::string> parts;
  const std::string asked = first_match(
      message,
      R"((?:[Tt]r(?:ied|ying) to allocate|[Mm]emory allocating|[Ff]ailed to allocate request for|buffer of size|Unable to allocate) )"
      R"(([0-9][0-9.,]* ?(?:[KMGTP]i?B|bytes|B)?))");
  if (!asked.empty()) parts.push_back(memory_text(asked) + " asked for");
  const std::string gpu = first_match(message, R"(GPU ([0-9]+)[ ;])");
  std::string total = first_match(message, R"(total capacity of ([0-9.]+ [KMGTP]iB))");
  if (total.empty()) total = first_match(message, R"(([0-9.]+ [KMGTP]iB) total capacity)");
  const std::string free = first_match(message, R"(([0-9.]+ [KMGTP]iB|0 bytes) (?:is )?free)");
  const std::string on = gpu.empty() ? "" : " on GPU " + gpu;
  if (!free.empty() && !total.empty()) parts.push_back(fmt::format("{} of {} free{}", free, total, on));
  else if (!total.empty()) parts.push_back(fmt::format("{} there{}", total, on));
  return parts.empty() ? "" : fmt::format(": {}", fmt::join(parts, ", "));
}

bool lacks_gpu_memory(std::string_view type, std::string_view message) {
  return has_word(message, {"CUDA out of memory", "CUDA error: out of memory", "CUDA driver error: out of memory", "HIP out of memory",
                            "cudaErrorMemoryAllocation", "CUDA_ERROR_OUT_OF_MEMORY", "CUBLAS_STATUS_ALLOC_FAILED",
                            "failure 2: out of memory", "BFCArena::"}) ||
         (has_word(message, {"RESOURCE_EXHAUSTED", "OOM when allocating"}) && has_word(message, {"llocat", "ut of memory"})) ||
         type.ends_with("OutOfMemoryError");
}

bool lacks_host_memory(std::string_view type, std::string_view message) {
  return type.ends_with("MemoryError") || type == "std::bad_alloc" || has_word(message, {"DefaultCPUAllocator", "Cannot allocate memory"});
}

// What a kernel did, which CUDA reports at a later call. Other errors of CUDA name the call that fails.
std::string broken_by_kernel(std::string_view message) {
  constexpr std::string_view kErrors[] = {
      "an illegal memory access was encountered", "device-side assert triggered", "unspecified launch failure", "misaligned address",
      "an illegal instruction was encountered",   "invalid program counter",      "hardware stack error"};
  for (const std::string_view error : kErrors)
    if (message.find(error) != std::string_view::npos) return std::string(error);
  if (has_word(message, {"cudaErrorIllegalAddress", "CUDA_ERROR_ILLEGAL_ADDRESS"})) return std::string(kErrors[0]);
  return {};
}

std::string shortened(std::string_view message) {
  std::size_t end = std::min(message.size(), kLongestMessage);
  while (end > 0 && end < message.size() && (static_cast<unsigned char>(message[end]) & 0xC0) == 0x80) --end;  // no half character
  std::string text(message.substr(0, end));
  while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.pop_back();
  return end < message.size() ? text + "…" : text;
}

// /pytorch/…/Indexing.cu:1515: indexSelectSmallIndex: block: [0,0,0], thread: [0,0,0] Assertion `srcIndex < srcSelectDimSize` failed.
std::string device_assertion(const Lines& lines) {
  for (const std::string_view line : lines) {
    constexpr std::string_view kAssertion = "Assertion `";
    const std::size_t from = line.find(kAssertion);
    if (from == std::string_view::npos || !has_word(line, {"block: [", "thread: ["})) continue;
    const std::string_view rest = line.substr(from + kAssertion.size());
    return ": " + std::string(rest.substr(0, rest.find_first_of("`'")));
  }
  return {};
}

WorkloadFailure classified(const std::string& type, const std::string& whole_message, std::string place, const Lines& lines) {
  const std::string message = whole_message.substr(0, kLongestSearched);
  if (lacks_gpu_memory(type, message)) return {Code::kWorkloadOutOfMemory, memory_asked(message), std::move(place)};
  if (lacks_host_memory(type, message)) return {Code::kWorkloadOutOfHostMemory, memory_asked(message), std::move(place)};
  if (std::string error = broken_by_kernel(message); !error.empty())
    return {Code::kWorkloadCudaError, error.starts_with("device-side") ? error + device_assertion(lines) : error, std::move(place)};
  const std::string words = shortened(message);
  return {Code::kWorkloadException, type + (type.empty() || words.empty() ? "" : ": ") + words, std::move(place)};
}

// terminate called after throwing an instance of 'std::runtime_error'
//   what():  engine file is of another version
std::optional<WorkloadFailure> terminated(const Lines& lines) {
  constexpr std::string_view kThrown = "terminate called after throwing an instance of '", kWhat = "what():";
  for (std::size_t i = lines.size(); i-- > 0;) {
    const std::size_t from = lines[i].find(kThrown);
    if (has_word(lines[i], {"terminate called without an active exception"}))
      return WorkloadFailure{Code::kWorkloadException, "std::terminate without an exception (a thread that was not joined?)", ""};
    if (from == std::string_view::npos) continue;
    const std::string_view rest = lines[i].substr(from + kThrown.size());
    const std::string type(rest.substr(0, rest.rfind('\'')));
    std::string message;
    if (i + 1 < lines.size() && trimmed_line(lines[i + 1]).starts_with(kWhat))
      message = trimmed_line(trimmed_line(lines[i + 1]).substr(kWhat.size()));
    return classified(type, message == type ? "" : message, "", lines);
  }
  return std::nullopt;
}

// serve: engine.cpp:6: int main(int, char**): Assertion `c > 2' failed.
// thread 'main' panicked at src/main.rs:4:5:
std::optional<WorkloadFailure> asserted(const Lines& lines) {
  for (std::size_t i = lines.size(); i-- > 0;) {
    const std::string line(lines[i].substr(0, kLongestSearched));
    std::smatch match;
    if (line.find("block: [") == std::string::npos &&
        std::regex_search(line, match, std::regex(R"(([^ :/]+:[0-9]+): .*Assertion [`'](.*)' failed)")))
      return WorkloadFailure{Code::kWorkloadException, "a failed assertion: " + shortened(match[2].str()), match[1].str()};
    if (std::regex_search(line, match, std::regex(R"(thread '.*' panicked at (?:[^ ]*/)?([^ /:]+:[0-9]+))")))
      return WorkloadFailure{Code::kWorkloadException,
                             "a panic" + (i + 1 < lines.size() ? ": " + shortened(trimmed_line(lines[i + 1])) : std::string()),
                             match[1].str()};
  }
  return std::nullopt;
}

// A program that only prints what went wrong: of the end of its output, the last line that has one of these.
std::optional<WorkloadFailure> printed(const Lines& lines) {
  constexpr std::size_t kLastLines = 20;
  for (std::size_t i = lines.size(); i-- > lines.size() - std::min(lines.size(), kLastLines);) {
    const std::string line(trimmed_line(lines[i]).substr(0, kLongestSearched));
    if (lacks_gpu_memory("", line) || !broken_by_kernel(line).empty() || has_word(line, {"std::bad_alloc", "DefaultCPUAllocator"}))
      return classified(has_word(line, {"std::bad_alloc"}) ? "std::bad_alloc" : "", line, "", lines);
  }
  return std::nullopt;
}

}  // namespace

bool is_decoration(std::string_view line) {
  const std::string_view text = trimmed_line(line);
  return text.empty() || text.find_first_not_of("~^-=+|*_ ") == std::string_view::npos || text.find(kTraceback) != std::string_view::npos;
}

std::optional<WorkloadFailure> failure_in(std::string_view stderr_text) {
  const std::string text = without_colours(stderr_text);
  const Lines lines = lines_of(text);
  const PythonErrors python(lines);
  if (const PythonError* error = python.last()) {
    const bool bare = error->message.empty() && error->type.ends_with("AssertionError") && error->source.starts_with("assert ");
    return classified(error->type, bare ? error->source : error->message, error->place, lines);
  }
  if (auto failure = terminated(lines)) return failure;
  if (auto failure = asserted(lines)) return failure;
  return printed(lines);
}

std::string without_secrets(std::string text, const std::map<std::string, std::string>& environment) {
  constexpr std::size_t kShortestValue = 8;  // shorter ones are words of any message
  for (const auto& [name, value] : environment) {
    if (value.size() < kShortestValue || value.front() == '/') continue;
    for (std::size_t at = text.find(value); at != std::string::npos; at = text.find(value, at)) text.replace(at, value.size(), "…");
  }
  static const std::pair<std::regex, const char*> kPatterns[] = {
      {std::regex(R"((://[^/\s:@]+:)[^@\s]+@)"), "$1…@"},
      {std::regex(R"(\b(hf_|sk-|ghp_|glpat-|xox[abp]-|AKIA)[A-Za-z0-9_-]{8,})"), "$1…"},
      {std::regex(R"((token|password|passwd|secret|api[_-]?key|authorization)(["']?\s*[:=]\s*["']?)[^\s"',;]{8,})", std::regex::icase),
       "$1$2…"}};
  for (const auto& [pattern, instead] : kPatterns) text = std::regex_replace(text, pattern, instead);
  return text;
}

}  // namespace nl::orchestrator
