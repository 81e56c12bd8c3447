#include "orchestrator/bundle/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "model/error.h"
#include "orchestrator/bundle/bundle.h"

namespace nl::orchestrator {

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

}  // namespace nl::orchestrator
