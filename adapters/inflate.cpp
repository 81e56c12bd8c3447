#include <zlib.h>

#include "adapters/inflate.h"
#include "model/error.h"

namespace nl::adapters {

std::vector<std::byte> inflated(std::span<const std::byte> packed, std::size_t size) {
  std::vector<std::byte> plain(size);
  z_stream stream{};
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_out = static_cast<uInt>(size);
  const bool whole = inflateInit2(&stream, -MAX_WBITS) == Z_OK && inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  if (!whole) throw Error(ErrorKind::kInput, "a packed array is damaged");
  return plain;
}

}  // namespace nl::adapters
