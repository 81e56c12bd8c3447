#include <zlib.h>

#include <algorithm>

#include "model/error.h"
#include "parsers/byte_source.h"

namespace nl::parsers {

struct ByteSource::Impl {
  gzFile file = nullptr;
  ~Impl() {
    if (file != nullptr) gzclose(file);
  }
};

ByteSource::ByteSource(const std::filesystem::path& file) : impl_(std::make_unique<Impl>()) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(file, ignored)) impl_->file = gzopen(file.c_str(), "rb");
  if (impl_->file == nullptr) throw Error(ErrorKind::kInput, "the file cannot be read", file.string(), "check its path and permissions");
  gzbuffer(impl_->file, 1 << 18);
}

ByteSource::~ByteSource() = default;

std::size_t ByteSource::read(char* to, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const auto part = static_cast<unsigned>(std::min<std::size_t>(size - done, 1u << 30));
    const int got = gzread(impl_->file, to + done, part);
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace nl::parsers
