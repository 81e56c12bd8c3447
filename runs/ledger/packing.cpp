#include "runs/ledger/packing.h"

#include <zstd.h>

#include "model/error.h"

namespace nl::runs {
namespace {

constexpr int kLevel = 1;                              // 3 packs a tenth better and takes twice the time
constexpr unsigned long long kMostBytes = 4ull << 30;  // no run.json is; a damaged header may say anything

[[noreturn]] void throw_damaged(const std::string& where) {
  throw Error(ErrorKind::kInput, "the run.json that the ledger keeps is damaged", where, "use the bundle itself, or record it again");
}

}  // namespace

std::string packed(std::string_view text) {
  std::string bytes(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size = ZSTD_compress(bytes.data(), bytes.size(), text.data(), text.size(), kLevel);
  if (ZSTD_isError(size)) throw Error(ErrorKind::kInternal, std::string("zstd: ") + ZSTD_getErrorName(size), "ledger");
  bytes.resize(size);
  return bytes;
}

std::string unpacked(std::string_view bytes, const std::string& where) {
  const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kMostBytes) throw_damaged(where);
  std::string text(size, '\0');
  if (ZSTD_decompress(text.data(), text.size(), bytes.data(), bytes.size()) != size) throw_damaged(where);
  return text;
}

}  // namespace nl::runs
