#include "parsers/file_head.h"

#include <fstream>

#include "model/error.h"
#include "parsers/byte_source.h"

namespace nl::parsers {
namespace {

constexpr std::size_t kHeadBytes = std::size_t{1} << 20;  // a program may print much before ncu prints its table

std::string head_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw Error(ErrorKind::kInput, "the file cannot be read", path.string(), "check its permissions");
  std::string bytes(kHeadBytes, '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(stream.gcount()));
  return bytes;
}

std::string unpacked_head(const std::filesystem::path& path) {
  try {
    ByteSource source(path);
    std::string text(kHeadBytes, '\0');
    text.resize(source.read(text.data(), text.size()));
    return text;
  } catch (const Error&) {  // damaged: no format knows it
    return {};
  }
}

}  // namespace

FileHead::FileHead(const std::filesystem::path& file) : path(file), bytes(head_of(file)) {
  text = starts_with(kGzipMagic) ? unpacked_head(file) : bytes;
}

char FileHead::json_opening() const {
  std::string_view rest = text;
  if (rest.substr(0, 3) == "\xef\xbb\xbf") rest.remove_prefix(3);
  const std::size_t first = rest.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return 0;
  return rest[first] == '{' || rest[first] == '[' ? rest[first] : '\0';
}

}  // namespace nl::parsers
