#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <exception>
#include <utility>

#include "model/error_code.h"
#include "orchestrator/bundle/bundle.h"
#include "runs/archive/tar.h"

namespace fs = std::filesystem;

namespace nl::runs {
namespace {

constexpr std::size_t kBlockBytes = 1 << 20;

// Names are bytes, in any locale: a name outside ASCII comes back as it was.
constexpr const char* kRawNames = "hdrcharset=BINARY";

using Archive = std::unique_ptr<archive, int (*)(archive*)>;
using Entry = std::unique_ptr<archive_entry, void (*)(archive_entry*)>;

std::string reason_of(archive* handle) {
  const char* text = archive_error_string(handle);
  return text ? text : "no reason is given";
}

TarEntryKind kind_of(archive_entry* entry) {
  if (archive_entry_hardlink(entry) != nullptr || archive_entry_hardlink_w(entry) != nullptr) return TarEntryKind::kHardLink;
  switch (archive_entry_filetype(entry)) {
    case AE_IFREG: return TarEntryKind::kFile;
    case AE_IFLNK: return TarEntryKind::kSymbolicLink;
    case AE_IFDIR: return TarEntryKind::kFolder;
    default: return TarEntryKind::kDevice;  // pipes and sockets, too
  }
}

}  // namespace

struct TarWriter::State {
  explicit State(const fs::path& path) : path(path), file(path) {}

  // libarchive is C: what is thrown waits until it has returned.
  static la_ssize_t put(archive*, void* self, const void* data, std::size_t size) {
    auto& state = *static_cast<State*>(self);
    try {
      state.file.append({static_cast<const char*>(data), size});
      return static_cast<la_ssize_t>(size);
    } catch (...) {
      state.failure = std::current_exception();
      return -1;
    }
  }

  void check(la_ssize_t result) {
    if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
    if (result < ARCHIVE_WARN)
      throw Error(ErrorKind::kOutput, fmt::format("the archive cannot be written: {}", reason_of(handle.get())), path.string());
  }

  fs::path path;
  WholeFile file;
  std::exception_ptr failure;
  Archive handle{archive_write_new(), archive_write_free};  // goes first: it may still write
};

TarWriter::TarWriter(const fs::path& file) : state_(std::make_unique<State>(file)) {
  archive* handle = state_->handle.get();
  state_->check(archive_write_set_format_pax_restricted(handle));
  state_->check(archive_write_set_options(handle, kRawNames));
  state_->check(archive_write_add_filter_zstd(handle));
  archive_write_set_filter_option(handle, "zstd", "threads", "0");  // as many as there are processors; older ones know no threads
  state_->check(archive_write_set_bytes_in_last_block(handle, 1));
  state_->check(archive_write_open(handle, state_.get(), nullptr, State::put, nullptr));
}

TarWriter::~TarWriter() = default;

void TarWriter::begin_file(const std::string& path, std::uint64_t size_bytes) {
  const Entry entry(archive_entry_new(), archive_entry_free);
  archive_entry_copy_pathname(entry.get(), path.c_str());
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(size_bytes));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  state_->check(archive_write_header(state_->handle.get(), entry.get()));
}

void TarWriter::append(std::string_view piece) {
  const la_ssize_t written = archive_write_data(state_->handle.get(), piece.data(), piece.size());
  state_->check(written);
  if (static_cast<std::size_t>(written) != piece.size())
    throw Error(ErrorKind::kInternal, "a file of the archive is longer than its header says", state_->path.string());
}

void TarWriter::commit() {
  state_->check(archive_write_close(state_->handle.get()));
  state_->file.commit();
}

struct TarReader::State {
  explicit State(const fs::path& path) : path(path) {}

  [[noreturn]] void fail() const {
    throw CodedError(
        ErrorCode::kArchiveDamaged, fmt::format("the archive is damaged, cut short, or none of nl-stage's: {}", reason_of(handle.get())),
        last.empty() ? path.string() : fmt::format("{}, at or after {}", path.string(), last), "copy it again from where it was made");
  }

  fs::path path;
  std::string last;  // the entry that is read, for messages
  Archive handle{archive_read_new(), archive_read_free};
};

// Only what TarWriter makes is enabled: each further format is a further parser of hostile bytes.
TarReader::TarReader(const fs::path& file) : state_(std::make_unique<State>(file)) {
  archive* handle = state_->handle.get();
  archive_read_support_filter_zstd(handle);
  archive_read_support_format_tar(handle);
  if (archive_read_open_filename(handle, file.c_str(), kBlockBytes) != ARCHIVE_OK) state_->fail();
}

TarReader::~TarReader() = default;

std::optional<TarEntry> TarReader::next() {
  archive_entry* entry = nullptr;
  const int result = archive_read_next_header(state_->handle.get(), &entry);
  if (result == ARCHIVE_EOF) return std::nullopt;
  if (result != ARCHIVE_OK) state_->fail();
  const char* path = archive_entry_pathname(entry);
  if (path == nullptr) state_->fail();
  state_->last = path;
  return TarEntry{kind_of(entry), path, static_cast<std::uint64_t>(archive_entry_size(entry))};
}

std::size_t TarReader::read(char* buffer, std::size_t size) {
  const la_ssize_t got = archive_read_data(state_->handle.get(), buffer, size);
  if (got < 0) state_->fail();
  return static_cast<std::size_t>(got);
}

}  // namespace nl::runs
