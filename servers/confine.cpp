#include "servers/confine.h"

#include <algorithm>
#include <system_error>

#include "model/error.h"

namespace nl::servers {
namespace fs = std::filesystem;

fs::path within_root(const fs::path& root, const std::string& path) {
  std::error_code failed;
  const fs::path inside = fs::weakly_canonical(root, failed);
  const fs::path place = failed ? fs::path() : fs::weakly_canonical(inside / path, failed);
  if (path.find('\0') != std::string::npos || failed)
    throw Error(ErrorKind::kUsage, "the path cannot be resolved", path, "name a file or folder below " + root.string());
  // "/data/run" does not lie in "/data/r": parts are compared, not letters.
  const auto [end, rest] = std::mismatch(inside.begin(), inside.end(), place.begin(), place.end());
  if (end != inside.end())
    throw Error(ErrorKind::kUsage, "the path lies outside the folder that this server may read", path,
                "name a place below " + inside.string() + ", or start the server with another --root");
  return place;
}

}  // namespace nl::servers
