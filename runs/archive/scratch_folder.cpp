#include "runs/archive/scratch_folder.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>

#include "model/error.h"

namespace fs = std::filesystem;

namespace nl::runs {
namespace {

[[noreturn]] void refuse_scratch(const fs::path& folder, const std::string& reason) {
  throw Error(ErrorKind::kOutput, fmt::format("cannot make the folder: {}", reason), folder.string(),
              "choose a folder that you may write to");
}

// Of /a/b/c, where only /a is there: /a/b
fs::path first_absent(const fs::path& folder) {
  std::error_code ignored;
  fs::path absent;
  for (fs::path each = folder; !each.empty() && !fs::exists(each, ignored); each = each.parent_path()) absent = each;
  return absent;
}

void remove_empty_up_to(const fs::path& last, fs::path folder) {
  std::error_code failure;
  for (; fs::remove(folder, failure) && folder != last; folder = folder.parent_path()) {
  }
}

}  // namespace

ScratchFolder::ScratchFolder(const fs::path& parent, const std::string& purpose) {
  const fs::path absolute = fs::absolute(parent).lexically_normal();
  first_made_ = first_absent(absolute);
  std::error_code failure;
  fs::create_directories(absolute, failure);
  if (failure) refuse_scratch(absolute, failure.message());
  std::string name = (absolute / fmt::format(".{}-XXXXXX", purpose)).string();
  if (::mkdtemp(name.data()) == nullptr) refuse_scratch(absolute, std::strerror(errno));
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (!first_made_.empty()) remove_empty_up_to(first_made_, path_.parent_path());
}

}  // namespace nl::runs
