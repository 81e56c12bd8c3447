#include <fmt/core.h>

#include <cstdio>
#include <string_view>

#include "model/error.h"
#include "parsers/json/byte_source.h"

namespace nl::parsers {

struct ByteSource::Impl {
  std::FILE* file = nullptr;
  ~Impl() {
    if (file != nullptr) std::fclose(file);
  }
};

ByteSource::ByteSource(const std::filesystem::path& file) : impl_(std::make_unique<Impl>()) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(file, ignored)) impl_->file = std::fopen(file.c_str(), "rb");
  if (impl_->file == nullptr)
    throw Error(ErrorKind::kInput, "the file cannot be read", file.string(), "check its path and permissions");
  char magic[2] = {};
  const std::size_t got = std::fread(magic, 1, sizeof magic, impl_->file);
  if (std::string_view(magic, got) == "\x1f\x8b")
    throw Error(ErrorKind::kInput, "the file is packed with gzip, and this nl-stage was built without zlib", file.string(),
                fmt::format("unpack it first: gunzip -k {}", file.filename().string()));
  std::rewind(impl_->file);
}

ByteSource::~ByteSource() = default;

std::size_t ByteSource::read(char* to, std::size_t size) { return std::fread(to, 1, size, impl_->file); }

}  // namespace nl::parsers
