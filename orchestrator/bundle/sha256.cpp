#include "orchestrator/bundle/sha256.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>

#include "model/error.h"
#include "orchestrator/bundle/sha256_constants.h"

namespace nl::orchestrator {
namespace {

std::uint32_t load_be(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

Sha256::Compress best_compress() {
  static const Sha256::Compress best =
      Sha256::compress_native() != nullptr ? Sha256::compress_native() : &Sha256::compress_portable;
  return best;
}

}  // namespace

void Sha256::compress_portable(std::uint32_t* state, const std::uint8_t* blocks, std::size_t count) {
  using std::rotr;
  for (; count > 0; --count, blocks += 64) {
    std::uint32_t w[64];
    for (int i = 0; i < 16; ++i) w[i] = load_be(blocks + 4 * i);
    for (int i = 16; i < 64; ++i) {
      std::uint32_t s0 = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
      std::uint32_t s1 = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    std::uint32_t v[8];
    std::copy(state, state + 8, v);
    for (int i = 0; i < 64; ++i) {
      std::uint32_t s1 = rotr(v[4], 6) ^ rotr(v[4], 11) ^ rotr(v[4], 25);
      std::uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
      std::uint32_t t1 = v[7] + s1 + choice + kSha256Rounds[i] + w[i];
      std::uint32_t s0 = rotr(v[0], 2) ^ rotr(v[0], 13) ^ rotr(v[0], 22);
      std::uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
      std::copy_backward(v, v + 7, v + 8);
      v[4] += t1;
      v[0] = t1 + s0 + majority;
    }
    for (int i = 0; i < 8; ++i) state[i] += v[i];
  }
}

Sha256::Sha256() : Sha256(best_compress()) {}

Sha256::Sha256(Compress compress)
    : compress_(compress), state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19},
      pending_{} {}

void Sha256::update(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const std::uint8_t*>(data);
  total_bytes_ += size;
  if (pending_size_ > 0) {
    std::size_t take = std::min(size, pending_.size() - pending_size_);
    std::memcpy(pending_.data() + pending_size_, bytes, take);
    pending_size_ += take;
    bytes += take;
    size -= take;
    if (pending_size_ < pending_.size()) return;
    compress_(state_.data(), pending_.data(), 1);
    pending_size_ = 0;
  }
  compress_(state_.data(), bytes, size / 64);
  bytes += size / 64 * 64;
  pending_size_ = size % 64;
  if (pending_size_ > 0) std::memcpy(pending_.data(), bytes, pending_size_);
}

std::string Sha256::hex() {
  const std::uint64_t bits = total_bytes_ * 8;
  const std::uint8_t one = 0x80, zero = 0;
  update(&one, 1);
  while (pending_size_ != 56) update(&zero, 1);
  std::uint8_t length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<std::uint8_t>(bits >> (56 - 8 * i));
  update(length, sizeof length);
  std::string out;
  for (std::uint32_t word : state_) out += fmt::format("{:08x}", word);
  return out;
}

std::string sha256_hex(std::string_view text) {
  Sha256 hash;
  hash.update(text.data(), text.size());
  return hash.hex();
}

std::string sha256_file(const std::filesystem::path& file) {
  int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw Error(ErrorKind::kInput, fmt::format("cannot read: {}", std::strerror(errno)), file.string());
  posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  constexpr std::size_t kChunk = 1 << 20;
  auto buffer = std::make_unique<char[]>(kChunk);
  Sha256 hash;
  ssize_t got = 0;
  while ((got = read(fd, buffer.get(), kChunk)) > 0) hash.update(buffer.get(), static_cast<std::size_t>(got));
  int failure = errno;
  close(fd);
  if (got < 0) throw Error(ErrorKind::kInput, fmt::format("cannot read: {}", std::strerror(failure)), file.string());
  return hash.hex();
}

}  // namespace nl::orchestrator
