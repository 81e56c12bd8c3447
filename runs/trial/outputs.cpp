#include "runs/trial/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

#include "adapters/inputs.h"
#include "model/error.h"
#include "orchestrator/bundle/read_run.h"

namespace nl::runs {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kShownOfLine = 120;
constexpr auto kClockOfFiles = std::chrono::milliseconds(20);  // how far the times of files lag behind the clock

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// By line: the text that all rounds print there; nothing where they differ.
std::vector<std::optional<std::string>> stable_lines(const std::vector<RoundOutput>& rounds) {
  std::vector<std::optional<std::string>> stable;
  for (std::size_t round = 0; round < rounds.size(); ++round) {
    const std::vector<std::string> lines = lines_in(rounds[round].text);
    const std::size_t most = std::max(stable.size(), lines.size());
    for (std::size_t i = 0; i < most; ++i) {
      if (round == 0) stable.emplace_back(lines[i]);
      else if (i >= stable.size()) stable.emplace_back();
      else if (i >= lines.size() || stable[i] != lines[i]) stable[i].reset();
    }
  }
  return stable;
}

std::string shown(const std::optional<std::string>& line) { return !line ? "nothing" : "\"" + line->substr(0, kShownOfLine) + "\""; }

void differ(OutputAgreement& agreement, std::string where) {
  agreement.verdict = OutputVerdict::kDifferent;
  if (agreement.first_difference.empty()) agreement.first_difference = std::move(where);
}

// How far two numbers are apart, beyond the absolute tolerance, as a share of the larger one; not a number where one of them is none.
double apart(double x, double y, const OutputTolerance& tolerance) {
  if (x == y) return 0;  // infinite ones, too
  const double beyond = std::abs(x - y) - tolerance.absolute;
  return beyond < 0 ? 0 : beyond / std::max({std::abs(x), std::abs(y), 1e-6});
}

std::vector<std::string_view> words_in(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; (at = line.find_first_not_of(" \t,;:=()[]", at)) != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(" \t,;:=()[]", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

std::optional<double> number_in_word(std::string_view word) {
  double value = 0;
  const auto [stopped, failed] = std::from_chars(word.data(), word.data() + word.size(), value);
  return failed == std::errc{} && stopped == word.data() + word.size() ? std::optional(value) : std::nullopt;
}

// "checksum 0.12345" and "checksum 0.12346": the same words, and numbers that are near.
bool lines_within(const std::string& a, const std::string& b, const OutputTolerance& tolerance) {
  const auto of_a = words_in(a), of_b = words_in(b);
  return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), [&](std::string_view x, std::string_view y) {
    if (x == y) return true;
    const auto number_x = number_in_word(x), number_y = number_in_word(y);
    return number_x && number_y && apart(*number_x, *number_y, tolerance) <= tolerance.relative;
  });
}

void compare_lines(const std::vector<RoundOutput>& a, const std::vector<RoundOutput>& b, const OutputTolerance& tolerance,
                   OutputAgreement& agreement) {
  bool near = false;
  const auto of_a = stable_lines(a), of_b = stable_lines(b);
  for (std::size_t i = 0; i < std::max(of_a.size(), of_b.size()); ++i) {
    const bool in_a = i < of_a.size(), in_b = i < of_b.size();
    if ((in_a && !of_a[i]) || (in_b && !of_b[i])) {
      ++agreement.varying;
      continue;
    }
    ++agreement.lines;
    const auto line_a = in_a ? of_a[i] : std::nullopt, line_b = in_b ? of_b[i] : std::nullopt;
    if (line_a == line_b) continue;
    if (line_a && line_b && lines_within(*line_a, *line_b, tolerance)) near = true;
    else differ(agreement, fmt::format("line {}: A prints {}, B {}", i + 1, shown(line_a), shown(line_b)));
  }
  if (agreement.lines > 0 && agreement.verdict == OutputVerdict::kNotCompared)
    agreement.verdict = near ? OutputVerdict::kWithinTolerance : OutputVerdict::kSame;
}

bool is_numpy(const fs::path& file) { return file.extension() == ".npy" || file.extension() == ".npz"; }

template <class Number>
double as_it_is(Number number) {
  return static_cast<double>(number);
}

// The number of 16 bits with so many of them for the exponent: 5 of float16, 8 of bfloat16.
template <int exponent_bits>
double number_of_16_bits(std::uint16_t bits) {
  constexpr int mantissa_bits = 15 - exponent_bits, most = (1 << exponent_bits) - 1, bias = most / 2;
  const int exponent = (bits >> mantissa_bits) & most, mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = (bits & 0x8000u) != 0 ? -1 : 1;
  if (exponent == most) return mantissa != 0 ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
}

template <class Stored, double (*number_of)(Stored)>
std::vector<double> converted(const adapters::Tensor& tensor) {
  std::vector<double> numbers(tensor.data.size() / sizeof(Stored));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, tensor.data.data() + i * sizeof stored, sizeof stored);
    numbers[i] = number_of(stored);
  }
  return numbers;
}

// Nothing of an array of anything but floating-point numbers.
std::optional<std::vector<double>> floats_of(const adapters::Tensor& tensor) {
  static const std::map<std::string_view, std::vector<double> (*)(const adapters::Tensor&)> kFloats = {
      {"float64", converted<double, as_it_is<double>>},
      {"float32", converted<float, as_it_is<float>>},
      {"float16", converted<std::uint16_t, number_of_16_bits<5>>},
      {"bfloat16", converted<std::uint16_t, number_of_16_bits<8>>}};
  const auto found = kFloats.find(tensor.dtype);
  return found != kFloats.end() ? std::optional(found->second(tensor)) : std::nullopt;
}

// Relative; infinite where they are of another kind. Floating-point numbers of different precisions are of one kind: fewer bits are a change that people try.
double difference_of(const adapters::Tensor& a, const adapters::Tensor& b, const OutputTolerance& tolerance) {
  if (a.shape != b.shape) return HUGE_VAL;
  if (a.dtype == b.dtype && a.data == b.data) return 0;
  const auto of_a = floats_of(a), of_b = floats_of(b);
  if (!of_a || !of_b || of_a->size() != of_b->size()) return HUGE_VAL;
  double largest = 0;
  for (std::size_t i = 0; i < of_a->size(); ++i) {
    const double difference = apart((*of_a)[i], (*of_b)[i], tolerance);
    largest = std::isnan(difference) ? HUGE_VAL : std::max(largest, difference);
  }
  return largest;
}

double difference_of_arrays(const fs::path& a, const fs::path& b, const OutputTolerance& tolerance) {
  const auto of_a = adapters::read_numpy(a), of_b = adapters::read_numpy(b);
  if (of_a.size() != of_b.size()) return HUGE_VAL;
  double largest = 0;
  for (std::size_t i = 0; i < of_a.size(); ++i)
    largest = std::max(largest, of_a[i].name == of_b[i].name ? difference_of(of_a[i], of_b[i], tolerance) : HUGE_VAL);
  return largest;
}

void compare_file(const fs::path& a, const fs::path& b, const OutputTolerance& tolerance, OutputAgreement& agreement) {
  ++agreement.files;
  const std::string name = (a.empty() ? b : a).filename().string();
  if (a.empty() || b.empty()) return differ(agreement, fmt::format("{}: written by {} alone", name, a.empty() ? "B" : "A"));
  if (read_run_text(a) == read_run_text(b)) {
    if (agreement.verdict == OutputVerdict::kNotCompared) agreement.verdict = OutputVerdict::kSame;
    return;
  }
  const double difference = is_numpy(a) ? difference_of_arrays(a, b, tolerance) : HUGE_VAL;
  if (!(difference <= tolerance.relative))
    return differ(agreement, std::isfinite(difference) ? fmt::format("{}: numbers differ by up to {:.2g} of their value", name, difference)
                                                       : name + ": the contents differ");
  if (agreement.verdict != OutputVerdict::kDifferent) agreement.verdict = OutputVerdict::kWithinTolerance;
}

}  // namespace

OutputAgreement compare_outputs(const std::vector<RoundOutput>& a, const std::vector<RoundOutput>& b, const OutputTolerance& tolerance) {
  OutputAgreement agreement;
  if (a.empty() || b.empty()) return agreement;
  compare_lines(a, b, tolerance, agreement);
  const auto &last_a = a.back().files, &last_b = b.back().files;
  for (std::size_t i = 0; i < std::min(last_a.size(), last_b.size()); ++i)
    if (!last_a[i].empty() || !last_b[i].empty()) compare_file(last_a[i], last_b[i], tolerance, agreement);
  return agreement;
}

void keep_outputs(const fs::path& bundle, const fs::path& folder, const std::vector<std::string>& files, fs::file_time_type began) {
  std::error_code failed;
  for (const std::string& name : files) {
    const fs::path file = folder / name, copy = bundle / "outputs" / file.filename();
    const auto written = fs::last_write_time(file, failed);
    if (failed || written < began - kClockOfFiles) continue;
    fs::create_directories(copy.parent_path(), failed);
    fs::copy_file(file, copy, fs::copy_options::overwrite_existing, failed);
  }
}

RoundOutput kept_output(const fs::path& bundle, const std::vector<std::string>& files) {
  RoundOutput output;
  std::error_code ignored;
  const fs::path log = bundle / "logs" / "collector.stdout.log";
  if (fs::exists(log, ignored)) output.text = read_run_text(log);
  for (const std::string& name : files) {
    const fs::path copy = bundle / "outputs" / fs::path(name).filename();
    output.files.push_back(fs::exists(copy, ignored) ? copy : fs::path());
  }
  return output;
}

}  // namespace nl::runs
