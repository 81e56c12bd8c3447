#include "exporters/detail/detail_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "exporters/report/html/html.h"
#include "exporters/report/text/told_apart_names.h"
#include "model/words.h"

namespace nl::exporters {
namespace {

// JSON without spaces, mostly lists of whole numbers: {"start":[1,2,3]}. Given away piece by piece, so that a long text is
// never held whole.
class ColumnWriter {
 public:
  explicit ColumnWriter(PieceSink sink) : sink_(std::move(sink)) {}

  void open(std::string_view key, char bracket) {
    name(key);
    open(bracket);
  }
  void open(char bracket) {
    separate();
    out_ += bracket;
    first_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    first_ = false;
  }
  template <std::integral Number>
  void number(Number value) {
    separate();
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    out_.append(digits, end);
  }
  void null() {
    separate();
    out_ += "null";
  }
  void flag(std::string_view key, bool value) {
    name(key);
    separate();
    out_ += value ? "true" : "false";
  }
  // Names out of a capture may hold anything.
  void text(std::string_view value) {
    separate();
    out_ += nlohmann::json(html::plain(value)).dump();
  }
  template <std::integral Number>
  void number(std::string_view key, Number value) {
    name(key);
    number(value);
  }
  void text(std::string_view key, std::string_view value) {
    name(key);
    text(value);
  }
  // Each row as one item, which write(row) puts.
  template <class Rows, class Write>
  void list(std::string_view key, const Rows& rows, Write write) {
    open(key, '[');
    for (const auto& row : rows) write(row);
    close(']');
  }
  // Each row as an object, whose members write(row) puts.
  template <class Rows, class Write>
  void objects(std::string_view key, const Rows& rows, Write write) {
    list(key, rows, [&](const auto& row) {
      open('{');
      write(row);
      close('}');
    });
  }
  // value(row) is a whole number
  template <class Rows, class Value>
  void column(std::string_view key, const Rows& rows, Value value) {
    list(key, rows, [&](const auto& row) { number(value(row)); });
  }
  void finish() {
    sink_(out_);
    out_.clear();
  }

 private:
  void name(std::string_view key) {
    text(key);
    out_ += ':';
    first_ = true;
  }
  void separate() {
    if (!first_) out_ += ',';
    first_ = false;
    if (out_.size() >= kPieceBytes) finish();
  }

  static constexpr std::size_t kPieceBytes = 1 << 16;
  PieceSink sink_;
  std::string out_;
  bool first_ = true;
};

std::int64_t or_minus_one(std::uint32_t index) { return index == kNone ? -1 : static_cast<std::int64_t>(index); }

class DetailWriter {
 public:
  DetailWriter(const Detail& detail, const PieceSink& sink) : detail_(detail), names_(detail.names), out_(sink) {}

  void write() {
    out_.open('{');
    out_.number("format", kDetailFormat);
    out_.number("start_ns", detail_.start_ns);
    out_.number("end_ns", detail_.end_ns);
    if (detail_.timeline_only) out_.flag("timeline_only", true);
    if (detail_.lanes_left_out > 0) out_.number("lanes_left_out", detail_.lanes_left_out);
    if (detail_.slices_left_out > 0) out_.number("slices_left_out", detail_.slices_left_out);
    out_.list("kinds", kKeys<KernelClass>, [&](std::string_view key) { out_.text(key); });
    kernels();
    names("operators", detail_.operators);
    names("layers", detail_.layers);
    out_.column("sites", detail_.sites, [&](const DetailSite& site) { return number_of(site.place); });
    out_.column("sites_nearby", detail_.sites, [](const DetailSite& site) { return site.nearby ? 1 : 0; });
    out_.number("sample_period_ns", detail_.sample_period_ns);
    stages();
    lanes();
    devices();
    if (detail_.unit_stage != kNone) out_.number("unit", detail_.unit_stage);
    steps();
    if (!detail_.gaps.empty()) gaps();
    if (!detail_.samples.threads.empty()) samples();
    overview();
    out_.objects("windows", detail_.windows, [&](const DetailWindow& each) { window(each); });
    out_.list("names", names_, [&](const std::string& name) { out_.text(name); });  // last: what stands above adds to them
    out_.close('}');
    out_.finish();
  }

 private:
  Ns since_start(Ns time_ns) const { return time_ns - detail_.start_ns; }

  std::uint32_t number_of(const std::string& name) {
    if (numbers_.empty())
      for (std::uint32_t i = 0; i < names_.size(); ++i) numbers_.try_emplace(names_[i], i);
    const auto [found, added] = numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (added) names_.push_back(name);
    return found->second;
  }
  void names(const char* key, const std::vector<std::string>& list) {
    out_.column(key, list, [&](const std::string& name) { return number_of(name); });
  }
  void extent(const char* key, const Dim3& dim) {
    out_.column(key, std::array{dim.x, dim.y, dim.z}, [](std::uint32_t each) { return each; });
  }
  void kernels() {
    std::vector<std::string> full;
    for (const DetailKernel& kernel : detail_.kernels) full.push_back(detail_.names[kernel.name]);
    const std::vector<std::string> readable = told_apart_kernel_names(full);
    std::size_t place = 0;
    out_.objects("kernels", detail_.kernels, [&](const DetailKernel& kernel) {
      out_.number("name", kernel.name);
      out_.number("short", number_of(readable[place++]));
      out_.text("kind", key_of(kernel.kind));
      if (kernel.grid.x > 0) extent("grid", kernel.grid);
      if (kernel.block.x > 0) extent("block", kernel.block);
      out_.number("registers", kernel.registers);
      out_.number("shared_bytes", kernel.shared_bytes);
    });
  }
  void stages() {
    out_.objects("stages", detail_.stages, [&](const std::string& stage) { out_.number("name", number_of(stage)); });
  }
  void lanes() {
    out_.objects("lanes", detail_.lanes, [&](const DetailLane& lane) {
      out_.text("kind", key_of(lane.kind));
      out_.text("title", lane.title);
      if (lane.stages) out_.flag("stages", true);
      if (lane.bands) out_.flag("bands", true);
      out_.number("pid", lane.pid);
      if (lane.kind == LaneKind::kGpu) {
        out_.number("device", lane.device);
        out_.number("stream", lane.stream);
      } else {
        out_.number("tid", lane.tid);
      }
    });
  }
  void devices() {
    out_.objects("devices", detail_.devices, [&](const DetailDevice& device) {
      if (device.device) out_.number("device", *device.device);
      out_.number("pid", device.pid);
      out_.text("title", device.title);
    });
  }

  void steps() {
    out_.open("steps", '{');
    const auto& steps = detail_.steps;
    out_.column("stage", steps, [](const DetailStep& step) { return step.stage; });
    out_.column("start", steps, [&](const DetailStep& step) { return since_start(step.start_ns); });
    out_.column("wall", steps, [](const DetailStep& step) { return step.wall_ns; });
    out_.column("iteration", steps, [](const DetailStep& step) { return or_minus_one(step.iteration); });
    out_.column("position", steps, [](const DetailStep& step) { return step.position; });
    out_.column("warmup", steps, [](const DetailStep& step) { return step.warmup ? 1 : 0; });
    out_.list("tokens", steps, [&](const DetailStep& step) { step.tokens ? out_.number(*step.tokens) : out_.null(); });
    out_.column("window", steps, [](const DetailStep& step) { return or_minus_one(step.window); });
    out_.number("in_all", detail_.steps_in_all);
    step_bins();
    out_.close('}');
  }
  // For each device and bin: a time for each step.
  void step_bins() {
    out_.open("bins", '[');
    for (std::uint32_t device = 0; device < detail_.devices.size(); ++device) {
      out_.open('[');
      for (std::size_t bin = 0; bin < nl::kBudgetBins; ++bin) {
        out_.open('[');
        for (const DetailStep& step : detail_.steps) {
          const auto found = std::find_if(step.bins.begin(), step.bins.end(), [&](const auto& each) { return each.first == device; });
          out_.number(found == step.bins.end() ? Ns{0} : found->second[bin]);
        }
        out_.close(']');
      }
      out_.close(']');
    }
    out_.close(']');
  }

  void gaps() {
    const auto& gaps = detail_.gaps;
    const auto column = [&](const char* key, auto value) {
      out_.column(key, gaps, [&](const DetailGap& each) { return value(each.gap); });
    };
    const auto work = [&](const std::string& name) { return name.empty() ? std::int64_t{-1} : static_cast<std::int64_t>(number_of(name)); };
    out_.open("gaps", '{');
    out_.column("stage", gaps, [](const DetailGap& each) { return each.stage; });
    out_.column("of_windows", gaps, [](const DetailGap& each) { return each.of_windows; });
    column("kind", [](const StageGap& gap) { return static_cast<int>(gap.kind); });
    column("before", [&](const StageGap& gap) { return work(gap.before); });
    column("after", [&](const StageGap& gap) { return work(gap.after); });
    column("at_edge", [](const StageGap& gap) { return gap.at_edge ? 1 : 0; });
    column("count", [](const StageGap& gap) { return gap.count; });
    column("windows", [](const StageGap& gap) { return gap.windows; });
    column("mean", [](const StageGap& gap) { return std::llround(gap.mean_ns); });
    column("total", [](const StageGap& gap) { return gap.budget.wall_ns; });
    column("permille", [](const StageGap& gap) { return std::llround(1000 * gap.wall_share); });
    column("samples", [](const StageGap& gap) { return gap.host ? gap.host->samples : 0; });
    column("host_samples", [](const StageGap& gap) { return samples_of(gap); });
    column("host", [&](const StageGap& gap) { return gap.host ? work(blame_text(*gap.host)) : std::int64_t{-1}; });
    out_.close('}');
  }
  static std::uint64_t samples_of(const StageGap& gap) {
    if (!gap.host) return 0;
    return gap.host->function ? gap.host->function_samples : gap.host->kind_samples;
  }

  void samples() {
    const DetailSamples& samples = detail_.samples;
    out_.open("samples", '{');
    out_.text("sampler", key_of(samples.sampler));
    out_.number("every", samples.every);
    out_.number("in_all", samples.in_all);
    out_.column("function", samples.frames, [&](const DetailFrame& frame) { return number_of(frame.function); });
    out_.column("file", samples.frames, [&](const DetailFrame& frame) { return number_of(frame.file); });
    out_.column("line", samples.frames, [](const DetailFrame& frame) { return frame.line; });
    std::uint32_t node = 0;
    out_.column("up", samples.nodes, [&](const DetailStackNode& each) {
      const std::uint32_t own = node++;
      return each.parent == kNone ? 0 : own - each.parent;
    });
    out_.column("frame", samples.nodes, [](const DetailStackNode& each) { return each.frame; });
    out_.column("node", samples.stacks, [](const DetailStack& stack) { return stack.node; });
    out_.column("named", samples.stacks, [](const DetailStack& stack) { return stack.named; });
    out_.objects("threads", samples.threads, [&](const DetailThreadSamples& thread) {
      out_.number("pid", thread.pid);
      out_.number("tid", thread.tid);
      out_.text("title", thread.title);
      Ns before = detail_.start_ns;
      out_.column("d", thread.samples, [&](const auto& sample) { return sample.first - std::exchange(before, sample.first); });
      out_.column("stack", thread.samples, [](const auto& sample) { return sample.second; });
    });
    out_.close('}');
  }

  void overview() {
    const DetailOverview& overview = detail_.overview;
    out_.open("overview", '{');
    out_.number("bucket_ns", overview.bucket_ns);
    out_.number("count", overview.count);
    out_.list("busy", overview.busy, [&](const std::vector<Ns>& device) { numbers(device); });
    out_.list("bins", overview.bins, [&](const auto& device) {
      out_.open('[');
      for (const auto& bin : device) numbers(bin);
      out_.close(']');
    });
    sums("kernels", "kernel", overview.kernels);
    sums("operators", "operator", overview.operators);
    lane_buckets(overview.lanes);
    out_.close('}');
  }
  void numbers(const std::vector<Ns>& values) {
    out_.open('[');
    for (const Ns value : values) out_.number(value);
    out_.close(']');
  }
  template <class Rows>
  void bucket_steps(const Rows& rows) {
    std::uint32_t before = 0;
    out_.column("bucket", rows, [&](const auto& row) { return row.bucket - std::exchange(before, row.bucket); });
  }
  void sums(const char* key, const char* what, const BucketSums& sums) {
    out_.open(key, '{');
    out_.number("scale", sums.scale);
    bucket_steps(sums.sums);
    out_.column(what, sums.sums, [](const BucketSum& sum) { return sum.what; });
    if (detail_.devices.size() > 1) out_.column("device", sums.sums, [](const BucketSum& sum) { return sum.device; });
    out_.column("ns", sums.sums, [](const BucketSum& sum) { return sum.time_ns; });
    out_.column("calls", sums.sums, [](const BucketSum& sum) { return sum.calls; });
    out_.close('}');
  }
  void lane_buckets(const std::vector<std::vector<LaneBucket>>& lanes) {
    std::size_t number = 0;
    out_.objects("lanes", lanes, [&](const std::vector<LaneBucket>& lane) {
      const bool gpu = detail_.lanes[number].kind == LaneKind::kGpu;
      out_.number("lane", number++);
      bucket_steps(lane);
      out_.column("busy", lane, [](const LaneBucket& bucket) { return bucket.busy_ns; });
      out_.column("name", lane, [](const LaneBucket& bucket) { return bucket.name; });
      out_.column("slices", lane, [](const LaneBucket& bucket) { return bucket.slices; });
      if (gpu) out_.column("kind", lane, [](const LaneBucket& bucket) { return static_cast<int>(bucket.kind); });
    });
  }

  void window(const DetailWindow& window) {
    out_.number("start", since_start(window.start_ns));
    out_.number("end", since_start(window.end_ns));
    out_.flag("whole", window.whole);
    out_.objects("lanes", window.lanes, [&](const DetailSlices& lane) { slices(window, lane); });
    std::size_t device = 0;
    out_.objects("bins", window.bins, [&](const auto& rows) { intervals(window, device++, rows); });
  }
  void slices(const DetailWindow& window, const DetailSlices& lane) {
    const auto& rows = lane.slices;
    Ns before = window.start_ns;
    out_.number("lane", lane.lane);
    out_.column("d", rows, [&](const DetailSlice& slice) { return slice.start_ns - std::exchange(before, slice.start_ns); });
    out_.column("dur", rows, [](const DetailSlice& slice) { return slice.duration_ns; });
    if (detail_.lanes[lane.lane].kind == LaneKind::kGpu) {
      out_.column("kernel", rows, [](const DetailSlice& slice) {
        return slice.kernel != kNone ? static_cast<std::int64_t>(slice.kernel) : ~static_cast<std::int64_t>(slice.name);
      });
      known("launch", rows, [](const DetailSlice& slice) {
        return slice.launch_lane == kNone ? std::int64_t{-1} : static_cast<std::int64_t>(slice.launch_lane) << 24 | slice.launch_slice;
      });
    } else {
      out_.column("name", rows, [](const DetailSlice& slice) { return slice.name; });
    }
    known("operator", rows, [](const DetailSlice& slice) { return or_minus_one(slice.operator_); });
    known("layer", rows, [](const DetailSlice& slice) { return or_minus_one(slice.layer); });
    known("site", rows, [](const DetailSlice& slice) { return or_minus_one(slice.site); });
    if (std::any_of(rows.begin(), rows.end(), [](const DetailSlice& slice) { return slice.merged > 1; }))
      out_.column("merged", rows, [](const DetailSlice& slice) { return slice.merged; });
  }
  // A column that no entry has is left out.
  template <class Value>
  void known(const char* key, const DetailSliceList& rows, Value value) {
    if (std::any_of(rows.begin(), rows.end(), [&](const DetailSlice& slice) { return value(slice) >= 0; })) out_.column(key, rows, value);
  }
  void intervals(const DetailWindow& window, std::size_t device, const std::vector<DetailInterval>& rows) {
    Ns before = window.start_ns;
    out_.number("device", device);
    out_.column("d", rows, [&](const DetailInterval& each) { return each.start_ns - std::exchange(before, each.end_ns); });
    out_.column("dur", rows, [](const DetailInterval& each) { return each.end_ns - each.start_ns; });
    out_.column("bin", rows, [](const DetailInterval& each) { return static_cast<int>(each.bin); });
  }

  const Detail& detail_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  ColumnWriter out_;
};

}  // namespace

void write_detail_json(const Detail& detail, const PieceSink& sink) { DetailWriter(detail, sink).write(); }

}  // namespace nl::exporters
