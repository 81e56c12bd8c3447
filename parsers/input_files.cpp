#include "parsers/input_files.h"

#include <algorithm>
#include <fstream>

#include <zlib.h>

#include "model/error_code.h"

namespace fs = std::filesystem;

namespace nl::parsers {
namespace {

constexpr std::size_t kHeadBytes = std::size_t{1} << 20;  // a program may print much before ncu prints its table

std::string head_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw CodedError(ErrorCode::kNoSuchFile, "the file cannot be read", path.string(), "check its permissions");
  std::string bytes(kHeadBytes, '\0');
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(stream.gcount()));
  return bytes;
}

std::string unpacked_head(const fs::path& path) {
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

FileHead::FileHead(const fs::path& file) : path(file), bytes(head_of(file)) {
  text = starts_with(kGzipMagic) ? unpacked_head(file) : bytes;
}

char FileHead::json_opening() const {
  std::string_view rest = text;
  if (rest.substr(0, 3) == "\xef\xbb\xbf") rest.remove_prefix(3);
  const std::size_t first = rest.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return 0;
  return rest[first] == '{' || rest[first] == '[' ? rest[first] : '\0';
}

void ByteSource::Close::operator()(gzFile_s* file) const { gzclose(file); }

ByteSource::ByteSource(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_directory(file, ignored)) file_.reset(gzopen(file.c_str(), "rb"));
  if (file_ == nullptr)
    throw CodedError(ErrorCode::kNoSuchFile, "the file cannot be read", file.string(), "check its path and permissions");
  gzbuffer(file_.get(), 1 << 18);
}

std::size_t ByteSource::read(char* to, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const auto part = static_cast<unsigned>(std::min<std::size_t>(size - done, 1u << 30));
    const int got = gzread(file_.get(), to + done, part);
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::vector<fs::path> process_files(const fs::path& folder, std::string_view prefix, std::string_view suffix, std::uintmax_t max_bytes) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(suffix) && entry.file_size(failed) <= max_bytes) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace nl::parsers
