#include "orchestrator/sampling/image_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace nl::orchestrator::sampling {
namespace {

constexpr std::uint64_t kBlockBytes = 32 * 1024;
constexpr std::size_t kMaxBlocks = 256;  // 8 MiB of a file at a time
constexpr std::size_t kMaxNameBytes = 4096;

}  // namespace

std::unique_ptr<ImageBytes> ImageBytes::open(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);  // a FIFO of that name must not hold us
  struct stat about{};
  if (fd < 0) return nullptr;
  if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0)
    return std::unique_ptr<ImageBytes>(new ImageBytes(fd, static_cast<std::uint64_t>(about.st_size)));
  close(fd);
  return nullptr;
}

ImageBytes::~ImageBytes() {
  if (fd_ >= 0) close(fd_);
}

const std::vector<unsigned char>* ImageBytes::block(std::uint64_t number) const {
  if (const auto known = blocks_.find(number); known != blocks_.end()) return &known->second;
  if (blocks_.size() >= kMaxBlocks) blocks_.clear();
  std::vector<unsigned char> bytes(kBlockBytes);
  const ssize_t got = pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(number * kBlockBytes));
  if (got <= 0) return nullptr;
  bytes.resize(static_cast<std::size_t>(got));
  return &blocks_.emplace(number, std::move(bytes)).first->second;
}

bool ImageBytes::read(std::uint64_t offset, void* to, std::size_t bytes) const {
  if (offset > size_ || bytes > size_ - offset) return false;
  if (fd_ < 0) {
    std::memcpy(to, memory_.data() + offset, bytes);
    return true;
  }
  for (auto* out = static_cast<unsigned char*>(to); bytes > 0;) {
    const std::vector<unsigned char>* from = block(offset / kBlockBytes);
    const std::uint64_t at = offset % kBlockBytes;
    if (from == nullptr || at >= from->size()) return false;  // the file is shorter by now
    const std::size_t part = std::min<std::uint64_t>(bytes, from->size() - at);
    std::memcpy(out, from->data() + at, part);
    out += part;
    offset += part;
    bytes -= part;
  }
  return true;
}

std::vector<unsigned char> ImageBytes::some(std::uint64_t offset, std::size_t most) const {
  if (offset >= size_) return {};
  std::vector<unsigned char> bytes(static_cast<std::size_t>(std::min<std::uint64_t>(most, size_ - offset)));
  if (!read(offset, bytes.data(), bytes.size())) return {};
  return bytes;
}

std::string ImageBytes::text(std::uint64_t offset) const {
  const std::vector<unsigned char> bytes = some(offset, kMaxNameBytes);
  const auto end = std::find(bytes.begin(), bytes.end(), 0);
  return end == bytes.end() ? std::string() : std::string(bytes.begin(), end);
}

}  // namespace nl::orchestrator::sampling
