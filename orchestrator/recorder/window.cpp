#include "orchestrator/recorder/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>

#include "model/error.h"
#include "orchestrator/config/units.h"

namespace fs = std::filesystem;

namespace nl::orchestrator {
namespace {

constexpr std::array<std::string_view, 3> kOpenings = {"mark", "collective", "time"};  // in the order of WindowOpening

// "50ms" in ns. A number without a unit is no time.
std::optional<Ns> duration_in(std::string_view text) {
  if (text.empty() || std::isalpha(static_cast<unsigned char>(text.back())) == 0) return std::nullopt;
  const std::optional<double> seconds = seconds_in(text);
  return seconds && *seconds > 0 ? std::optional(static_cast<Ns>(*seconds * 1e9)) : std::nullopt;
}

}  // namespace

SlowStep slow_step_of(const std::string& condition) {
  std::string text;
  std::copy_if(condition.begin(), condition.end(), std::back_inserter(text), [](char c) { return c != ' '; });
  constexpr std::string_view kStep = "step>", kMedian = "*median";
  if (text.starts_with(kStep)) {
    text.erase(0, kStep.size());
    if (const auto time_ns = duration_in(text)) return {0, *time_ns};
    double factor = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), factor);
    if (failure == std::errc() && std::string_view(end) == kMedian && factor >= 1 && factor <= 1e6) return {factor, 0};
  }
  throw Error(ErrorKind::kUsage, fmt::format("'{}' is no condition on a step", condition), "--when",
              "say 'step > 3*median' or 'step > 50ms'");
}

std::string_view words_of(WindowOpening opening) { return kOpenings[static_cast<std::size_t>(opening)]; }

std::vector<fs::path> Window::files() const {
  std::vector<fs::path> all;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".nltrace") all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  return all;
}

std::uint64_t Window::steps() const {
  std::uint64_t most = 0;
  for (const WindowProcess& each : processes) most = std::max(most, each.steps);
  return most;
}

std::uint64_t Window::launches() const {
  std::uint64_t sum = 0;
  for (const WindowProcess& each : processes) sum += each.launches;
  return sum;
}

std::vector<Remark> remarks_on(const Window& window) {
  Ns longest_ns = 0;
  bool by_step = false, ended = false;
  for (const WindowProcess& each : window.processes) {
    if (each.opened_ns && each.closed_ns) longest_ns = std::max(longest_ns, *each.closed_ns - *each.opened_ns);
    by_step = by_step || (each.has_steps && each.opened_ns);
    ended = ended || each.steps + each.idle_steps > 0;
  }
  const std::uint64_t launches = window.launches();
  if (!by_step || ended || launches == 0) return {};
  return {{Code::kNoStepEnded,
           {fmt::format("{} {}", launches, launches == 1 ? "launch" : "launches"),
            fmt::format("{:.0f}", static_cast<double>(longest_ns) / 1e6)},
           window.folder.filename().string()}};
}

std::string window_json(const Window& window, const WindowRequest& request) {
  using nlohmann::ordered_json;
  const auto known = [](const auto& value) { return value ? ordered_json(*value) : ordered_json(); };
  ordered_json processes = ordered_json::array();
  for (const WindowProcess& each : window.processes)
    processes.push_back({{"pid", each.pid},
                         {"name", each.name},
                         {"has_steps", each.has_steps},
                         {"gpu_recorded", each.gpu},
                         {"first_step", known(each.first_step)},
                         {"first_collective", known(each.first_collective)},
                         {"steps", each.steps},
                         {"idle_steps", each.idle_steps},
                         {"launches", each.launches},
                         {"opened_monotonic_ns", known(each.opened_ns)},
                         {"closed_monotonic_ns", known(each.closed_ns)},
                         {"trouble", each.trouble.empty() ? ordered_json() : ordered_json(each.trouble)}});
  const ordered_json json = {{"window", window.id},
                             {"opened_by", words_of(window.opening)},
                             {"asked",
                              {{"steps", request.steps},
                               {"most_ns", request.most_ns},
                               {"min_batch", request.min_batch},
                               {"slow_factor", request.when ? request.when->factor : 0},
                               {"slow_ns", request.when ? request.when->longer_than_ns : 0}}},
                             {"stopped", window.stopped},
                             {"processes", processes}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace nl::orchestrator
