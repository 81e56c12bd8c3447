#include <fmt/core.h>

#include <algorithm>

#include "exporters/report/sections/sections.h"
#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/run_text.h"
#include "model/words.h"

namespace nl::exporters::report {
namespace {

constexpr double kSmallFrame = 0.005;  // of the whole: narrower ones of one caller are drawn as one
constexpr std::size_t kDeepest = 100;
constexpr std::size_t kMostFrames = 1500;  // about 0.5 MB of a page; a graph with more is drawn with fewer narrow ones
constexpr std::size_t kLongestSource = 120;
constexpr std::size_t kSpoken = 3;  // frames of the widest path in the text for screen readers

struct FlameNode {
  std::uint32_t frame = 0;  // of HostStacks::frames
  std::uint64_t samples = 0;
  std::vector<FlameNode> callees;

  FlameNode& callee(std::uint32_t called) {
    const auto known = std::find_if(callees.begin(), callees.end(), [&](const FlameNode& each) { return each.frame == called; });
    return known != callees.end() ? *known : callees.emplace_back(FlameNode{called, 0, {}});
  }
};

FlameNode tree_of(const HostStacks& host, const std::string& stage) {
  FlameNode root;
  for (const WaitStack& stack : host.stacks) {
    if (stack.stage != stage) continue;
    root.samples += stack.samples;
    FlameNode* at = &root;
    for (std::size_t i = 0; i < stack.frames.size() && i < kDeepest; ++i) {
      if (stack.frames[i] >= host.frames.size()) break;
      at = &at->callee(stack.frames[i]);
      at->samples += stack.samples;
    }
  }
  return root;
}

class FlamePainter {
 public:
  FlamePainter(const HostStacks& host, std::uint64_t whole, double small_frame) : host_(host), whole_(whole), small_frame_(small_frame) {}

  // The widest first, the narrow ones together behind them.
  void paint(FlameNode& node, double start, std::size_t depth) {
    std::stable_sort(node.callees.begin(), node.callees.end(),
                     [](const FlameNode& a, const FlameNode& b) { return a.samples > b.samples; });
    std::uint64_t small = 0, small_samples = 0;
    for (FlameNode& callee : node.callees) {
      const double width = share(callee.samples);
      if (width < small_frame_) {
        ++small;
        small_samples += callee.samples;
        continue;
      }
      frames.push_back(frame_of(callee, start, depth));
      paint(callee, start, depth + 1);
      start += width;
    }
    if (small > 0)
      frames.push_back(
          {start, share(small_samples), depth, "", fmt::format("{}: {}", plural(small, "narrow frame"), amount(small_samples)), "w-small"});
  }

  std::vector<FlameChart::Frame> frames;

 private:
  double share(std::uint64_t samples) const { return static_cast<double>(samples) / static_cast<double>(whole_); }
  std::string amount(std::uint64_t samples) const {
    return fmt::format("{}, {} of the wait", plural(samples, "sample"), share_text(share(samples)));
  }
  FlameChart::Frame frame_of(const FlameNode& node, double start, std::size_t depth) const {
    const StackFrame& of = host_.frames[node.frame];
    const std::string source = of.frame.source.empty() ? "" : fmt::format(" · {}", cut(of.frame.source, kLongestSource));
    return {start,
            share(node.samples),
            depth,
            of.frame.function,
            fmt::format("{}: {} · {}{}", frame_text(of.frame), amount(node.samples), host_work_text(of.kind), source),
            work_colour(of.kind)};
  }

  const HostStacks& host_;
  std::uint64_t whole_;
  double small_frame_;
};

std::vector<FlameChart::Frame> painted(const HostStacks& host, FlameNode& root, std::uint64_t whole) {
  for (double small = kSmallFrame;; small *= 2) {
    FlamePainter painter(host, whole, small);
    painter.paint(root, 0, 0);
    if (painter.frames.size() <= kMostFrames || small > 1) return std::move(painter.frames);
  }
}

// The innermost frames of the widest path: where most of the time goes.
std::string spoken(const Run& run, const StageEntry& stage, const FlameNode& root) {
  std::vector<std::string> path;
  for (const FlameNode* at = &root; !at->callees.empty();) {
    at = &at->callees.front();
    path.push_back(frame_text(run.host->frames[at->frame].frame));
  }
  if (path.size() > kSpoken) path.erase(path.begin(), path.end() - static_cast<std::ptrdiff_t>(kSpoken));
  return fmt::format(
      "Flame graph of the wait for launches of {}, {}. Its widest path ends in {}. The tables below have its lines and functions.",
      stage_title(run, stage.name), plural(root.samples, "sample"), join(path, ", "));
}

}  // namespace

FlameChart flame_graph(const Run& run, const StageEntry& stage) {
  FlameChart chart;
  if (!run.host || !stage.host_code) return chart;
  FlameNode root = tree_of(*run.host, stage.name);
  if (root.callees.empty() || root.samples == 0) return chart;
  // Stacks that were not kept leave a gap at the right.
  chart.frames = painted(*run.host, root, std::max(root.samples, stage.host_code->samples));
  chart.label = spoken(run, stage, root);
  return chart;
}

}  // namespace nl::exporters::report
