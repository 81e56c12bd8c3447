#include "model/time.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace nl {

std::string utc_text(std::chrono::system_clock::time_point time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto rest = std::chrono::floor<std::chrono::milliseconds>(time - seconds).count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}{}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)),
                     rest == 0 ? "" : fmt::format(".{:03}", rest));
}

}  // namespace nl
