#include "parsers/columns/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>

#include "model/error_code.h"

namespace nl::parsers::columns {

MappedFile::MappedFile(const std::filesystem::path& file, std::string kind) : name_(file.string()), kind_(std::move(kind)) {
  const int descriptor = ::open(name_.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status{};
  const bool regular = descriptor >= 0 && ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  const auto size = static_cast<std::size_t>(regular ? status.st_size : 0);
  void* mapped = size > 0 ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0) : MAP_FAILED;
  if (descriptor >= 0) ::close(descriptor);
  if (!regular) throw CodedError(ErrorCode::kNoSuchFile, "the file cannot be read", name_, "check its path and permissions");
  if (size == 0) damaged("it is empty (0 bytes)");
  if (mapped == MAP_FAILED) throw Error(ErrorKind::kInput, "the file cannot be mapped", name_, "check the limits of memory (ulimit -v)");
  bytes_ = {static_cast<const char*>(mapped), size};
}

MappedFile::~MappedFile() { ::munmap(const_cast<char*>(bytes_.data()), bytes_.size()); }

std::string_view MappedFile::part(std::uint64_t at, std::uint64_t size, std::string_view what) const {
  if (at > bytes_.size() || size > bytes_.size() - at)
    damaged(fmt::format("{} has bytes {} to {}, and the file ends at {}", what, at, at + size, bytes_.size()));
  return bytes_.substr(at, size);
}

void MappedFile::damaged(std::string_view what) const {
  throw CodedError(ErrorCode::kCaptureDamaged, fmt::format("the {} is damaged: {}", kind_, what), name_,
                   "copy it again, or make it again from what it was made of");
}

void MappedFile::refused(std::string_view what) const {
  throw CodedError(ErrorCode::kUnknownFormat, fmt::format("the {} cannot be read: {}", kind_, what), name_,
                   "export the report again, as SQLite: nsys export --type sqlite --output FILE.sqlite REPORT.nsys-rep");
}

}  // namespace nl::parsers::columns
