#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/run.h"

// How figures and names are worded in every report. A missing value is shown as such: a dash in tables, never a zero.
namespace nl::exporters {

inline constexpr const char* kNoValue = "—";
inline constexpr const char* kNotCaptured = "not captured";

std::string share_text(const std::optional<double>& share);        // "61.5 %", or a dash
std::string utilisation_text(const std::optional<double>& share);  // MFU, MBU: "61.5 %", "0.0046 %": small is not none
std::string signed_percent(double share);                          // "+3.2 %", "−4.1 %"; "0.0 %" of what rounds to it
std::string percent_text(const std::optional<double>& percent);    // "61.5" of a column of percents, or a dash
std::string time_text(double ns);                                  // "1.23 ms"
std::string optional_time_text(const std::optional<Ns>& ns);       // or a dash
std::string ms_text(double ns);                                    // "4.119", milliseconds
std::string exact_ms_text(double ns);                              // "4.118945", for scripts
std::string us_text(double ns);                                    // "4118.95", microseconds
std::string count_text(std::uint64_t count);                       // "12,345"
std::string plural(std::uint64_t count, const std::string& one, const std::string& several = {});  // "1 kernel", "2 kernels"
std::string flops_text(const std::optional<double>& flops);                                        // "48.3 GFLOP", or a dash
std::string flops_rate_text(const std::optional<double>& rate);                                    // "9.82 TFLOP/s"
std::string bytes_text(const std::optional<double>& bytes);                                        // "240 MB", powers of ten
std::string bytes_rate_text(const std::optional<double>& rate);                                    // "4.80 TB/s"
std::string figure_text(const std::optional<double>& value,
                        const char* unit = "");                // three significant digits: "1.23", "456"
std::string tokens_text(const std::optional<double>& tokens);  // "8", "12.5", or a dash
std::string mean_text(const TimeSummary& time);                // "4.119 ms ± 0.030": without the spread where there is one value only

// For people who never saw a profiler.
std::string rough_time(double ns);      // "4.9 ms": two digits
std::string rough_count(double count);  // "205", "52,000": three digits
std::string rough_share(double share);  // "81 %"

std::string metric_text(std::string_view metric, double value);  // "12.3 %", "1.20 GB/s", "1.98 GHz"

// The figures that the functions above put into words on this thread, as long as it lives: a check holds them against run.json.
struct ToldFigure {
  double value = 0;  // shares from 0 to 1, times in nanoseconds
  std::string text;
};
class FigureLog {
 public:
  FigureLog();
  ~FigureLog();
  FigureLog(const FigureLog&) = delete;
  FigureLog& operator=(const FigureLog&) = delete;
  const std::vector<ToldFigure>& told() const { return told_; }
  static std::string note(double value, std::string text);  // returns the text

 private:
  std::vector<ToldFigure> told_;
  FigureLog* before_;
};

double round_up(double value);                           // the next of 1, 2, 5, 10 … that holds it: where an axis ends
std::optional<double> ratio(double part, double whole);  // nothing where the whole is not above zero
inline std::optional<double> part_of(Ns part, Ns whole) { return ratio(static_cast<double>(part), static_cast<double>(whole)); }
std::string join(const std::vector<std::string>& words, const char* between = ", ");
std::string join_and(const std::vector<std::string>& words);  // "a, b and c"
std::string uncapitalised(std::string text);                  // as it stands inside a sentence; a word of capitals stays: "GPU"
std::string sentence(std::string text);                       // with a capital and a full stop; empty stays empty
std::string cut(std::string_view text, std::size_t bytes);    // at most so many of it, no character cut in two

// The arguments as a shell would take them: python3 run.py '--prompt=it'\''s'
std::string shell_text(const std::vector<std::string>& words);

// A name without its template and call arguments.
std::string short_kernel_name(std::string_view name);
// What it does, in few words: "elementwise add (bf16)", "gemm 128×64 (bf16, tensor cores)".
std::string readable_kernel_name(std::string_view name);

}  // namespace nl::exporters
