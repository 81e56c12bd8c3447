#include "cli/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "model/error.h"
#include "model/visible_text.h"

namespace nl::cli {
namespace {

thread_local KeptOutput* kept_output = nullptr;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// "dumb" knows no sequences, the console of Linux no links.
bool takes_sequences(std::FILE* stream) { return is_terminal(stream) && variable("TERM") != "dumb" && !variable("TERM").empty(); }
bool takes_links(std::FILE* stream) { return takes_sequences(stream) && variable("TERM") != "linux"; }
bool takes_colours(std::FILE* stream) { return takes_sequences(stream) && variable("NO_COLOR").empty(); }

void write_bytes(std::string_view bytes, std::FILE* stream) {
  if (kept_output != nullptr) (stream == stdout ? kept_output->out : kept_output->err) += bytes;
  else std::fwrite(bytes.data(), 1, bytes.size(), stream);
}

constexpr std::array<std::string_view, 4> kBegin = {"", "\x1b[31m", "\x1b[33m", "\x1b[32m"};
constexpr std::string_view kEnd = "\x1b[0m";

// file:///a%20b: what a terminal takes as an address
std::string file_address(const std::filesystem::path& file) {
  std::string out = "file://";
  for (const unsigned char c : std::filesystem::absolute(file).lexically_normal().string())
    out += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '-' && c <= '9') || c == '_' || c == '~'
               ? std::string(1, static_cast<char>(c))
               : fmt::format("%{:02X}", c);
  return out;
}

}  // namespace

KeptOutput::KeptOutput() { kept_output = this; }
KeptOutput::~KeptOutput() { kept_output = nullptr; }

bool is_terminal(std::FILE* stream) { return kept_output == nullptr && isatty(fileno(stream)) != 0; }

std::size_t line_width(std::FILE* stream) {
  if (!is_terminal(stream)) return 0;
  winsize size{};
  if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

void write_text(std::string_view text, std::FILE* stream, Colour colour) {
  const bool coloured = colour != Colour::kNone && takes_colours(stream);
  if (coloured) write_bytes(kBegin[static_cast<std::size_t>(colour)], stream);
  write_bytes(visible(text), stream);
  if (coloured) write_bytes(kEnd, stream);
}

void write_data(std::string_view data) {
  const std::string shown = is_terminal(stdout) ? visible(data) : std::string(data);
  write_bytes(shown, stdout);
  finish_output();
}

void finish_output() {
  if (kept_output != nullptr) return;
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;  // the stream keeps in mind that an earlier write failed, not why
  if (flushed && std::ferror(stdout) == 0) return;
  throw Error(ErrorKind::kOutput,
              flushed || errno == 0 ? "standard output cannot be written"
                                    : fmt::format("standard output cannot be written: {}", std::strerror(errno)),
              {}, "check the free space of its target");
}

void write_sentence(std::string_view text, std::size_t begin, std::size_t indent, std::FILE* stream) {
  write_text(wrapped(visible(text), line_width(stream), begin, indent), stream);
}

void write_lines(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    write_paragraph(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void write_answer(bool is_data, std::string_view answer) { is_data ? write_data(answer) : write_text(answer); }

void write_path(const std::filesystem::path& file) {
  const bool link = takes_links(stdout);
  if (link) write_bytes("\x1b]8;;" + file_address(file) + "\x1b\\", stdout);
  write_text(file.string());
  if (link) write_bytes("\x1b]8;;\x1b\\", stdout);
}

}  // namespace nl::cli
