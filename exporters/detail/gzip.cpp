#include <zlib.h>

#include <array>

#include "exporters/detail/detail_json.h"
#include "model/error.h"

namespace nl::exporters {
namespace {

constexpr int kGzip = 16 + MAX_WBITS;
constexpr int kLevel = 4;                          // a third of the default's time, for 5 % more bytes
constexpr std::size_t kMostUnpacked = 256u << 20;  // far more than is ever written: a file that claims more was not written by nl-stage

class Deflate {
 public:
  Deflate() {
    if (deflateInit2(&stream_, kLevel, Z_DEFLATED, kGzip, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
      throw Error(ErrorKind::kInternal, "zlib cannot begin to pack");
  }
  ~Deflate() { deflateEnd(&stream_); }
  Deflate(const Deflate&) = delete;
  Deflate& operator=(const Deflate&) = delete;

  void add(std::string_view bytes) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    run(Z_NO_FLUSH);
  }
  std::string finish() {
    run(Z_FINISH);
    return std::move(packed_);
  }

 private:
  void run(int flush) {
    std::array<char, 1 << 15> piece;
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(piece.data());
      stream_.avail_out = piece.size();
      if (deflate(&stream_, flush) == Z_STREAM_ERROR) throw Error(ErrorKind::kInternal, "zlib cannot pack the detail of the report");
      packed_.append(piece.data(), piece.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

  std::string packed_;
  z_stream stream_ = {};
};

class Inflate {
 public:
  explicit Inflate(std::string_view bytes) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    good_ = inflateInit2(&stream_, kGzip) == Z_OK;
  }
  ~Inflate() { inflateEnd(&stream_); }
  Inflate(const Inflate&) = delete;
  Inflate& operator=(const Inflate&) = delete;

  // The first bytes, once all were unpacked and their checksum is right; nothing where not.
  std::string beginning() {
    std::string first;
    std::array<char, 1 << 16> piece;
    int result = Z_OK;
    while (good_ && result == Z_OK && stream_.total_out <= kMostUnpacked) {
      stream_.next_out = reinterpret_cast<Bytef*>(piece.data());
      stream_.avail_out = piece.size();
      result = inflate(&stream_, Z_NO_FLUSH);
      if (first.empty()) first.assign(piece.data(), piece.size() - stream_.avail_out);
    }
    return result == Z_STREAM_END && stream_.avail_in == 0 ? first : std::string();
  }

 private:
  z_stream stream_ = {};
  bool good_ = false;
};

}  // namespace

std::string detail_file(const Detail& detail) {
  Deflate packer;
  write_detail_json(detail, [&](std::string_view piece) { packer.add(piece); });
  return packer.finish();
}

bool is_detail_file(std::string_view bytes) {
  const std::string first = "{\"format\":" + std::to_string(kDetailFormat) + ",";
  return bytes.size() < kMostUnpacked && Inflate(bytes).beginning().starts_with(first);
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t at) { return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0u; };
    const unsigned three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (const int shift : {18, 12, 6, 0}) out += kLetters[three >> shift & 63];
  }
  for (std::size_t i = 0; i < (3 - bytes.size() % 3) % 3; ++i) out[out.size() - 1 - i] = '=';
  return out;
}

}  // namespace nl::exporters
