#include "parsers/columns/unpack.h"

#include <algorithm>
#include <cstring>

#include <zlib.h>
#include <zstd.h>

namespace nl::parsers::columns {
namespace {

// Where what is unpacked goes. Nothing is written beyond its end, and nothing before its beginning is repeated.
class Target {
 public:
  Target(char* begin, std::size_t size) : begin_(begin), at_(begin), end_(begin + size) {}

  bool is_full() const { return at_ == end_; }
  bool copy(std::string_view bytes) {
    if (bytes.size() > room()) return false;
    if (!bytes.empty()) std::memcpy(at_, bytes.data(), bytes.size());
    at_ += bytes.size();
    return true;
  }
  // Bytes that were written `distance` before; those that it writes itself may be among them.
  bool repeat(std::size_t distance, std::size_t size) {
    if (distance == 0 || distance > static_cast<std::size_t>(at_ - begin_) || size > room()) return false;
    const char* before = at_ - distance;
    if (distance >= size) std::memcpy(at_, before, size);
    else
      for (std::size_t i = 0; i < size; ++i) at_[i] = before[i];
    at_ += size;
    return true;
  }

 private:
  std::size_t room() const { return static_cast<std::size_t>(end_ - at_); }
  char *begin_, *at_, *end_;
};

class Source {
 public:
  explicit Source(std::string_view bytes) : rest_(bytes) {}

  bool is_empty() const { return rest_.empty(); }
  std::size_t size() const { return rest_.size(); }
  // A number of some bytes, the lowest first.
  bool number(std::size_t bytes, std::size_t& value) {
    if (bytes > rest_.size()) return false;
    value = 0;
    for (std::size_t i = bytes; i > 0; --i) value = value << 8 | static_cast<unsigned char>(rest_[i - 1]);
    rest_.remove_prefix(bytes);
    return true;
  }
  bool take(std::size_t bytes, std::string_view& taken) {
    if (bytes > rest_.size()) return false;
    taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return true;
  }

 private:
  std::string_view rest_;
};

// A varint with the size, then elements: the low two bits of the first byte say whether bytes follow, or from where some are repeated.
bool unpack_snappy(Source source, std::size_t size, Target target) {
  std::size_t told = 0, byte = 0x80;
  for (int shift = 0; (byte & 0x80) != 0; shift += 7) {
    if (shift > 28 || !source.number(1, byte)) return false;
    told |= (byte & 0x7F) << shift;
  }
  if (told != size) return false;
  for (std::size_t tag = 0; source.number(1, tag);) {
    const std::size_t kind = tag & 3;
    std::size_t length = tag >> 2, distance = 0;
    if (kind == 0) {
      std::string_view bytes;
      if (length >= 60 && !source.number(length - 59, length)) return false;
      if (!source.take(length + 1, bytes) || !target.copy(bytes)) return false;
      continue;
    }
    if (!source.number(kind == 3 ? 4 : kind, distance)) return false;
    if (kind == 1) {
      distance |= tag >> 5 << 8;
      length = (length & 7) + 3;
    }
    if (!target.repeat(distance, length + 1)) return false;
  }
  return target.is_full();
}

// What the four bits do not hold stands in the bytes behind them, the last of which is not 255.
bool lz4_length(Source& source, std::size_t& length) {
  if (length != 15) return true;
  for (std::size_t byte = 255; byte == 255;) {
    if (!source.number(1, byte)) return false;
    length += byte;
  }
  return true;
}

// Sequences of bytes and what to repeat behind them; the last one has only bytes.
bool unpack_lz4_block(Source source, Target& target) {
  for (std::size_t token = 0; source.number(1, token);) {
    std::size_t bytes = token >> 4, length = token & 15, distance = 0;
    std::string_view taken;
    if (!lz4_length(source, bytes) || !source.take(bytes, taken) || !target.copy(taken)) return false;
    if (source.is_empty()) return true;
    if (!source.number(2, distance) || !lz4_length(source, length) || !target.repeat(distance, length + 4)) return false;
  }
  return false;
}

// Magic, flags, block sizes, then blocks, each behind its size; a size of 0 ends them. Digests are passed over.
bool unpack_lz4_frame(Source source, Target target) {
  constexpr std::size_t kMagic = 0x184D2204, kStored = 0x80000000;
  std::size_t magic = 0, flags = 0, ignored = 0, size = 0;
  if (!source.number(4, magic) || magic != kMagic || !source.number(1, flags) || flags >> 6 != 1) return false;
  const bool has_block_digests = flags & 0x10, has_size = flags & 0x08, has_dictionary = flags & 0x01;
  if (has_dictionary || !source.number(has_size ? 10 : 2, ignored)) return false;  // with block sizes and the digest of the header
  while (source.number(4, size)) {
    if (size == 0) return target.is_full();
    std::string_view block;
    if (!source.take(size & ~kStored, block)) return false;
    if ((size & kStored) != 0 ? !target.copy(block) : !unpack_lz4_block(Source(block), target)) return false;
    if (has_block_digests && !source.number(4, ignored)) return false;
  }
  return false;
}

bool unpack_gzip(std::string_view packed, char* out, std::size_t size) {
  z_stream stream{};
  constexpr int kGzipOrZlib = 15 + 32;
  if (packed.size() > UINT32_MAX || size > UINT32_MAX || inflateInit2(&stream, kGzipOrZlib) != Z_OK) return false;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out);
  stream.avail_out = static_cast<uInt>(size);
  const int status = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  return status == Z_STREAM_END && stream.total_out == size;
}

bool unpack_zstd(std::string_view packed, char* out, std::size_t size) {
  return ZSTD_decompress(out, size, packed.data(), packed.size()) == size;
}

// Memory is not taken on the word of a damaged file.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

bool plausible(Codec codec, std::string_view packed, std::uint64_t size) {
  constexpr std::uint64_t kMostOfLz = 256, kMostOfGzip = 1100, kSmall = 64;
  if (size > kMostBytes) return false;
  switch (codec) {
    case Codec::kZstd: {
      const unsigned long long told = ZSTD_getFrameContentSize(packed.data(), packed.size());
      return told == size || told == ZSTD_CONTENTSIZE_UNKNOWN;
    }
    case Codec::kGzip: return size <= packed.size() * kMostOfGzip + kSmall;
    default: return size <= packed.size() * kMostOfLz + kSmall;
  }
}

bool unpack(Codec codec, std::string_view packed, char* out, std::size_t size) {
  Target target(out, size);
  switch (codec) {
    case Codec::kSnappy: return unpack_snappy(Source(packed), size, target);
    case Codec::kLz4Block: return unpack_lz4_block(Source(packed), target) && target.is_full();
    case Codec::kLz4Frame: return unpack_lz4_frame(Source(packed), target);
    case Codec::kGzip: return unpack_gzip(packed, out, size);
    case Codec::kZstd: return unpack_zstd(packed, out, size);
    case Codec::kNone: break;
  }
  return false;
}

}  // namespace

std::optional<Bytes> unpacked(Codec codec, std::string_view packed, std::uint64_t size) {
  if (codec == Codec::kNone) return size == packed.size() ? std::optional<Bytes>({nullptr, packed}) : std::nullopt;
  if (!plausible(codec, packed, size)) return std::nullopt;
  const std::shared_ptr<char[]> out(new char[size + 1]);  // not filled with zeros first
  if (!unpack(codec, packed, out.get(), size)) return std::nullopt;
  return Bytes{out, {out.get(), size}};
}

}  // namespace nl::parsers::columns
