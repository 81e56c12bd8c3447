#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

// All that nl-stage prints goes through here. Names out of a capture may hold control characters, which must not reach a terminal.
namespace nl::cli {

// While one lives, all that its thread prints is kept here instead: a server's threads answer several callers.
class KeptOutput {
 public:
  KeptOutput();
  ~KeptOutput();
  KeptOutput(const KeptOutput&) = delete;
  KeptOutput& operator=(const KeptOutput&) = delete;

  std::string out, err;
};

bool is_terminal(std::FILE* stream);

// The width of the terminal at this stream; 0: it is not a terminal, and lines may have any length.
std::size_t line_width(std::FILE* stream = stdout);

enum class Colour { kNone, kRed, kYellow, kGreen };

// Text for people, with control characters made visible, wherever it goes.
void write_text(std::string_view text, std::FILE* stream = stdout, Colour colour = Colour::kNone);

// JSON, CSV, HTML: byte by byte, unless it is shown on a terminal. Throws Error(kOutput) where it cannot be written.
void write_data(std::string_view data);

// Called at the end, so that what was printed has arrived. Throws the same Error where it has not.
void finish_output();

void write_answer(bool is_data, std::string_view answer);  // one of the two

template <class... Values>
void write_out(fmt::format_string<Values...> format, Values&&... values) {
  write_text(fmt::format(format, std::forward<Values>(values)...));
}

template <class... Values>
void write_err(fmt::format_string<Values...> format, Values&&... values) {
  write_text(fmt::format(format, std::forward<Values>(values)...), stderr);
}

// A sentence that begins in place `begin` of its line, broken to fit the terminal; further lines begin in place `indent`. No line end follows.
void write_sentence(std::string_view text, std::size_t begin = 0, std::size_t indent = 0, std::FILE* stream = stdout);

inline void write_paragraph(std::string_view text) {
  write_sentence(text);
  write_text("\n");
}

// Lines, each as a sentence of its own. A table that was made to fit stays as it is.
void write_lines(std::string_view text);

// Writes the path; on a terminal that supports links, as a link.
void write_path(const std::filesystem::path& file);

}  // namespace nl::cli
