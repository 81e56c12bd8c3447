#include "parsers/sqlite_pages/page_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include <fmt/core.h>

#include "model/error_code.h"

namespace nl::parsers::sqlite_pages {
namespace {

constexpr std::size_t kHeaderBytes = 100;
constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr std::uint32_t kLeastUsable = 480;
constexpr std::uint32_t kLockByte = 0x40000000;  // SQLite locks this byte; the page that it lies in is never used

// Where the parts of the header are.
enum HeaderByte {
  kPageBytes = 16,
  kReadVersion = 19,  // 2: a write-ahead log
  kReserved = 20,
  kPayloadFractions = 21,  // 64, 32, 32 in all files
  kChangeCounter = 24,
  kPageCount = 28,
  kSchemaFormat = 44,
  kLargestRoot = 52,  // 0: no pointer maps
  kEncoding = 56,
  kCountValidFor = 92,
};

bool lies_beside(const std::string& file, const char* ending) {
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(file + ending, failed);
  return !failed && bytes > 0;
}

}  // namespace

PageFile::Opening PageFile::open(const std::filesystem::path& file) {
  std::unique_ptr<PageFile> pages(new PageFile);
  pages->file_ = file.string();
  for (const char* ending : {"-wal", "-journal"})
    if (lies_beside(pages->file_, ending))
      return {nullptr, fmt::format("changes lie beside it, in {}{}", file.filename().string(), ending)};
  pages->descriptor_ = ::open(pages->file_.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status{};
  if (pages->descriptor_ < 0 || ::fstat(pages->descriptor_, &status) != 0) return {nullptr, "it cannot be opened"};
  const auto size_bytes = static_cast<std::uint64_t>(status.st_size);
  if (!S_ISREG(status.st_mode) || size_bytes < kHeaderBytes) return {nullptr, "it is too short"};
  if (std::string refusal = pages->read_header(size_bytes); !refusal.empty()) return {nullptr, std::move(refusal)};
  return {std::move(pages), {}};
}

PageFile::~PageFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void PageFile::read_at(std::uint64_t offset, std::size_t bytes, Byte* out) const {
  while (bytes > 0) {
    const ssize_t read = ::pread(descriptor_, out, bytes, static_cast<off_t>(offset));
    if (read < 0 && errno == EINTR) continue;
    if (read < 0)
      throw Error(ErrorKind::kInput, fmt::format("the database cannot be read at byte {}: {}", offset, std::strerror(errno)), file_,
                  "check the disk that it is on, or copy it to another one");
    if (read == 0)
      throw CodedError(ErrorCode::kCaptureDamaged,
                       fmt::format("the database became shorter while it was read: it ends before byte {}", offset), file_,
                       "wait until it is written, then read it again");
    out += read;
    offset += static_cast<std::uint64_t>(read);
    bytes -= static_cast<std::size_t>(read);
  }
}

std::string PageFile::read_header(std::uint64_t size_bytes) {
  std::array<Byte, kHeaderBytes> bytes{};
  const Byte* header = bytes.data();
  read_at(0, bytes.size(), bytes.data());
  if (std::memcmp(header, kMagic.data(), kMagic.size()) != 0) return "it is not an SQLite file";
  if (header[kReadVersion] != 1) return "it is written through a log (WAL)";
  page_bytes_ = big_endian_2(header + kPageBytes);
  if (page_bytes_ == 1) page_bytes_ = 65536;
  usable_bytes_ = page_bytes_ - header[kReserved];
  if (page_bytes_ < 512 || !std::has_single_bit(page_bytes_) || usable_bytes_ < kLeastUsable) return "its pages have an unusual size";
  if (std::memcmp(header + kPayloadFractions, "\x40\x20\x20", 3) != 0) return "its rows are divided in an unusual way";
  if (const std::uint32_t format = big_endian_4(header + kSchemaFormat); format < 1 || format > 4)
    return "its schema has an unusual format";
  const std::uint32_t encoding = big_endian_4(header + kEncoding);
  if (encoding < 1 || encoding > 3) return "its texts have an unusual encoding";
  encoding_ = static_cast<TextEncoding>(encoding);
  const std::uint64_t whole_pages = size_bytes / page_bytes_;
  // Of writers before 2010 the count is not kept.
  const bool counted =
      big_endian_4(header + kChangeCounter) == big_endian_4(header + kCountValidFor) && big_endian_4(header + kPageCount) != 0;
  const std::uint64_t pages = counted ? big_endian_4(header + kPageCount) : whole_pages;
  if (pages > whole_pages || pages == 0 || pages > UINT32_MAX - 1) return "it is cut short";
  page_count_ = static_cast<std::uint32_t>(pages);
  lock_page_ = kLockByte / page_bytes_ + 1;
  has_pointer_maps_ = big_endian_4(header + kLargestRoot) != 0;
  return {};
}

void PageFile::damaged(std::uint32_t page, std::string_view what) const {
  throw CodedError(ErrorCode::kCaptureDamaged, fmt::format("the database is damaged: page {} {}", page, what), file_,
                   "copy it again, or make it again from what it was made of");
}

}  // namespace nl::parsers::sqlite_pages
