#include "exporters/report/sections/host_text.h"

#include <fmt/core.h>

#include <string_view>

#include "model/words.h"

namespace nl::exporters::report {
namespace {

std::string_view without_folders(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string_view::npos) return path;
  if (path.substr(slash + 1) != "__init__.py" || slash == 0) return path.substr(slash + 1);
  const std::size_t folder = path.find_last_of('/', slash - 1);
  return folder == std::string_view::npos ? path : path.substr(folder + 1);
}

}  // namespace

bool enough_samples(const StageEntry& stage) { return stage.host_code && stage.host_code->samples >= kMinHostSamples; }

std::string place_text(const HostFrame& frame) {
  const std::string file(without_folders(frame.file));
  return frame.line == 0 || file.empty() ? file : fmt::format("{}:{}", file, frame.line);
}

std::string frame_text(const HostFrame& frame) {
  const std::string place = place_text(frame), function = frame.function.empty() ? "(no name)" : frame.function;
  return place.empty() ? function : fmt::format("{} ({})", function, place);
}

std::string work_colour(HostWork kind) { return "w-" + std::string(key_of(kind)); }

}  // namespace nl::exporters::report
