#include "orchestrator/bundle/bundle.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "model/error_code.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

std::string time_word(std::chrono::system_clock::time_point time) {
  return fmt::format("{:%Y%m%d-%H%M%S}", fmt::gmtime(std::chrono::system_clock::to_time_t(time)));
}

// Only what every file system and shell takes; a name cannot leave its folder.
std::string folder_word(std::string_view text) {
  std::string out;
  for (char c : text.substr(0, 80)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
    out += plain ? c : '-';
  }
  return out.empty() || out[0] == '.' ? "run" + out : out;
}

[[noreturn]] void refuse(const std::string& what, const fs::path& where, const std::string& fix, ErrorCode code = ErrorCode::kOutput) {
  throw CodedError(code, what, where.string(), fix);
}

void make_folders(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure)
    refuse(fmt::format("cannot make the folder: {}", failure.message()), folder,
           "choose a folder that you may write to with --out DIR or artifacts.dir");
}

fs::path make_named(const fs::path& parent, const std::string& stem) {
  make_folders(parent);
  for (int number = 1; number < 10000; ++number) {
    fs::path folder = parent / (number == 1 ? stem : fmt::format("{}-{}", stem, number));
    std::error_code failure;
    if (fs::create_directory(folder, failure)) return folder;
    if (failure && failure != std::errc::file_exists)
      refuse(fmt::format("cannot make the folder: {}", failure.message()), folder,
             "choose a folder that you may write to with --out DIR or artifacts.dir");
  }
  refuse("ten thousand folders of this name exist already", parent / stem, "give another --name");
}

// Whether it was there before.
bool claim_given(const fs::path& out) {
  std::error_code failure;
  const bool exists = fs::exists(out, failure);
  if (exists && !fs::is_directory(out, failure))
    refuse("the output is a file, not a folder", out, "give --out a folder that does not exist yet", ErrorCode::kOutputExists);
  if (exists && !fs::is_empty(out, failure))
    refuse("the output folder exists and is not empty", out,
           "give --out another folder, or remove this one; nl-stage never overwrites a bundle", ErrorCode::kOutputExists);
  make_folders(out);
  return exists;
}

}  // namespace

void make_private(const fs::path& bundle) {
  constexpr auto kOthers = fs::perms::group_all | fs::perms::others_all;
  std::error_code ignored;
  fs::permissions(bundle, fs::perms::owner_all, ignored);
  for (auto at = fs::recursive_directory_iterator(bundle, ignored); at != fs::end(at); at.increment(ignored))
    if (!at->is_symlink(ignored)) fs::permissions(at->path(), kOthers, fs::perm_options::remove, ignored);
}

std::uint32_t random_bits() {
  std::uint32_t bits = 0;
  if (::getrandom(&bits, sizeof bits, 0) != sizeof bits)
    throw Error(ErrorKind::kInternal, "the kernel gives no random numbers", "getrandom", "check the sandbox that nl-stage runs in");
  return bits;
}

Bundle Bundle::create(const Request& request, std::chrono::system_clock::time_point now) {
  const std::string stem = fmt::format("{}-{}-{}", time_word(now), folder_word(request.name), folder_word(request.mode));
  Bundle bundle;
  bundle.created_at_ = utc_text(std::chrono::floor<std::chrono::seconds>(now));
  // Two machines may begin runs of one name in one second, and write them to two folders of one name.
  bundle.run_id_ = fmt::format("{}-{:08x}", stem, random_bits());
  if (request.out.empty()) {
    bundle.path_ = fs::absolute(make_named(request.parent, stem));
  } else {
    bundle.was_there_ = claim_given(request.out);
    bundle.path_ = fs::absolute(request.out);
  }
  make_private(bundle.path_);  // before anything is in it
  // Both a need and the test that this folder can be written to.
  make_folders(bundle.path_ / "logs");
  bundle.write("config.yaml", "");
  return bundle;
}

void Bundle::discard() const {
  std::error_code ignored;
  if (!was_there_) return (void)fs::remove_all(path_, ignored);
  for (const auto& entry : fs::directory_iterator(path_, ignored)) fs::remove_all(entry.path(), ignored);
}

void Bundle::write(const fs::path& relative, std::string_view text) const {
  const fs::path file = path_ / relative;
  make_folders(file.parent_path());
  write_file_whole(file, text);
}

std::string free_space_of(const fs::path& file) {
  std::error_code failure;
  const auto space = fs::space(file.parent_path(), failure);
  if (failure) return "free space unknown";
  return fmt::format("{:.1f} MiB free on its disk", static_cast<double>(space.available) / (1 << 20));
}

void write_file_whole(const fs::path& file, std::string_view text) {
  WholeFile out(file);
  out.append(text);
  out.commit();
}

WholeFile::WholeFile(std::filesystem::path file) : file_(std::move(file)), unfinished_(file_.string() + fmt::format(".{}.tmp", getpid())) {
  fd_ = open(unfinished_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd_ < 0) fail("make the file");
}

WholeFile::~WholeFile() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(unfinished_.c_str());
}

void WholeFile::append(std::string_view piece) {
  while (!piece.empty()) {
    const ssize_t written = ::write(fd_, piece.data(), piece.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail("write");
    piece.remove_prefix(static_cast<std::size_t>(written));
  }
}

void WholeFile::commit() {
  if (fsync(fd_) != 0 && errno != EINVAL && errno != EROFS) fail("write");
  if (rename(unfinished_.c_str(), file_.c_str()) != 0) fail("rename into place");
  close(fd_);
  fd_ = -1;
}

void WholeFile::fail(const char* step) const {
  const int reason = errno;
  const bool full = reason == ENOSPC || reason == EDQUOT || reason == EFBIG;
  throw Error(ErrorKind::kOutput, fmt::format("cannot {}: {}", step, std::strerror(reason)),
              full ? fmt::format("{} ({})", file_.string(), free_space_of(file_)) : file_.string(),
              full ? "free some space; what was captured so far has been kept"
                   : "choose a folder that you may write to with --out DIR or artifacts.dir");
}

fs::path results_folder(const fs::path& asked, const std::string& kind, const std::string& name) {
  if (!asked.empty()) return asked;
  const std::string time = time_word(std::chrono::system_clock::now());
  return fs::path("artifacts") / kind / (name.empty() ? time : time + "-" + name);
}

void make_results_folder(const fs::path& folder) {
  std::error_code failed;
  if (fs::exists(folder, failed) && !fs::is_empty(folder, failed))
    throw CodedError(ErrorCode::kOutputExists, "the folder of the results is not empty", folder.string(),
                     "give a new folder with --out DIR");
  fs::create_directories(folder, failed);
  if (failed)
    throw Error(ErrorKind::kOutput, "the folder of the results cannot be made: " + failed.message(), folder.string(),
                "give another folder with --out DIR");
}

}  // namespace nl::orchestrator
