#include "orchestrator/bundle/sha256.h"

#include <algorithm>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "model/error.h"

namespace nl::orchestrator {
namespace {

class File {
 public:
  explicit File(const std::filesystem::path& path) : path_(path), fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) refuse();
    posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
  }
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::size_t read_some(char* buffer, std::size_t size) {
    ssize_t got = 0;
    do got = ::read(fd_, buffer, size);
    while (got < 0 && errno == EINTR);
    if (got < 0) refuse();
    return static_cast<std::size_t>(got);
  }

 private:
  [[noreturn]] void refuse() const { throw Error(ErrorKind::kInput, fmt::format("cannot read: {}", std::strerror(errno)), path_.string()); }

  std::filesystem::path path_;
  int fd_;
};

}  // namespace

Sha256::Sha256(const Libcrypto& library) : library_(&library), context_(library.begin(), library.release), whole_(context_ != nullptr) {}

void Sha256::add(std::string_view piece) { whole_ = whole_ && library_->update(context_.get(), piece.data(), piece.size()); }

std::string Sha256::hex(const std::string& of_what) {
  std::array<unsigned char, kSha256Bytes> digest;
  if (!whole_ || !library_->finish(context_.get(), digest.data()))
    throw Error(ErrorKind::kInternal, "libcrypto refuses SHA-256", of_what, "check the configuration of OpenSSL on this machine");
  std::string hex;
  for (const unsigned char byte : digest) hex += fmt::format("{:02x}", byte);
  return hex;
}

std::string sha256_file(const std::filesystem::path& path, const std::function<void()>& meanwhile) {
  File file(path);
  const Libcrypto* library = libcrypto();
  if (library == nullptr) return {};
  Sha256 digest(*library);
  constexpr std::size_t kChunk = 1 << 17;  // each processor may hash a file
  const auto buffer = std::make_unique<char[]>(kChunk);
  while (const std::size_t got = file.read_some(buffer.get(), kChunk)) {
    digest.add({buffer.get(), got});
    if (meanwhile) meanwhile();
  }
  return digest.hex(path.string());
}

std::string sha256_text(std::string_view text) {
  const Libcrypto* library = libcrypto();
  if (library == nullptr) return {};
  Sha256 digest(*library);
  digest.add(text);
  return digest.hex("a listing");
}

std::string sha256_listing(const std::filesystem::path& folder, const std::vector<std::string>& files,
                           const std::function<void()>& meanwhile) {
  std::string listing;
  for (const std::string& file : files) {
    const std::string digest = sha256_file(folder / file, meanwhile);
    listing += digest.empty() ? "" : fmt::format("{}  {}\n", digest, file);
  }
  return listing.empty() && !files.empty() ? std::string() : sha256_text(listing);
}

std::string sha256_capture(const std::filesystem::path& path) {
  if (!std::filesystem::is_directory(path)) return sha256_file(path);
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path))
    if (entry.is_regular_file()) files.push_back("./" + entry.path().filename().string());
  std::sort(files.begin(), files.end());
  return sha256_listing(path, files);
}

}  // namespace nl::orchestrator
