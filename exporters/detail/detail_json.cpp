#include "exporters/detail/detail_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "exporters/detail/column_writer.h"
#include "exporters/report/html/html_text.h"
#include "exporters/report/text/figure_text.h"
#include "model/words.h"

namespace nl::exporters {

// Names out of a capture may hold anything.
void ColumnWriter::text(std::string_view value) {
  separate();
  out_ += nlohmann::json(html::plain(value)).dump();
}

namespace {

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
    kernels();
    names("operators", detail_.operators);
    names("layers", detail_.layers);
    out_.column("sites", detail_.sites, [&](const DetailSite& site) { return number_of(site.place); });
    out_.column("sites_nearby", detail_.sites, [](const DetailSite& site) { return site.nearby ? 1 : 0; });
    out_.number("sample_period_ns", detail_.sample_period_ns);
    stages();
    lanes();
    devices();
    steps();
    overview();
    out_.open("windows", '[');
    for (const DetailWindow& window : detail_.windows) this->window(window);
    out_.close(']');
    texts("names", names_);  // last: what stands above adds to them
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
  void texts(const char* key, const std::vector<std::string>& list) {
    out_.open(key, '[');
    for (const std::string& text : list) out_.text(text);
    out_.close(']');
  }

  void extent(const char* key, const Dim3& dim) {
    out_.open(key, '[');
    for (const std::uint32_t each : {dim.x, dim.y, dim.z}) out_.number(each);
    out_.close(']');
  }
  void kernels() {
    out_.open("kernels", '[');
    for (const DetailKernel& kernel : detail_.kernels) {
      out_.open('{');
      out_.number("name", kernel.name);
      out_.number("short", number_of(readable_kernel_name(detail_.names[kernel.name])));
      out_.text("kind", key_of(kernel.kind));
      if (kernel.grid.x > 0) extent("grid", kernel.grid);
      if (kernel.block.x > 0) extent("block", kernel.block);
      out_.number("registers", kernel.registers);
      out_.number("shared_bytes", kernel.shared_bytes);
      out_.close('}');
    }
    out_.close(']');
  }
  void stages() {
    out_.open("stages", '[');
    for (const std::string& stage : detail_.stages) {
      out_.open('{');
      out_.number("name", number_of(stage));
      out_.close('}');
    }
    out_.close(']');
  }
  void lanes() {
    out_.open("lanes", '[');
    for (const DetailLane& lane : detail_.lanes) {
      out_.open('{');
      out_.text("kind", key_of(lane.kind));
      out_.text("title", lane.title);
      if (lane.stages) out_.flag("stages", true);
      out_.number("pid", lane.pid);
      if (lane.kind == LaneKind::kGpu) {
        out_.number("device", lane.device);
        out_.number("stream", lane.stream);
      } else {
        out_.number("tid", lane.tid);
      }
      out_.close('}');
    }
    out_.close(']');
  }
  void devices() {
    out_.open("devices", '[');
    for (const DetailDevice& device : detail_.devices) {
      out_.open('{');
      if (device.device) out_.number("device", *device.device);
      out_.number("pid", device.pid);
      out_.text("title", device.title);
      out_.close('}');
    }
    out_.close(']');
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
    out_.open("tokens", '[');
    for (const DetailStep& step : steps) step.tokens ? out_.number(*step.tokens) : out_.null();
    out_.close(']');
    out_.column("window", steps, [](const DetailStep& step) { return or_minus_one(step.window); });
    out_.number("in_all", detail_.steps_in_all);
    step_bins();
    out_.close('}');
  }
  // Of each device, each bin: a time for each step.
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

  void overview() {
    const DetailOverview& overview = detail_.overview;
    out_.open("overview", '{');
    out_.number("bucket_ns", overview.bucket_ns);
    out_.number("count", overview.count);
    out_.open("busy", '[');
    for (const auto& device : overview.busy) list(device);
    out_.close(']');
    out_.open("bins", '[');
    for (const auto& device : overview.bins) {
      out_.open('[');
      for (const auto& bin : device) list(bin);
      out_.close(']');
    }
    out_.close(']');
    sums("kernels", "kernel", overview.kernels);
    sums("operators", "operator", overview.operators);
    lane_buckets(overview.lanes);
    out_.close('}');
  }
  void list(const std::vector<Ns>& values) {
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
    out_.open("lanes", '[');
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      out_.open('{');
      out_.number("lane", i);
      bucket_steps(lanes[i]);
      out_.column("busy", lanes[i], [](const LaneBucket& bucket) { return bucket.busy_ns; });
      out_.column("name", lanes[i], [](const LaneBucket& bucket) { return bucket.name; });
      out_.column("slices", lanes[i], [](const LaneBucket& bucket) { return bucket.slices; });
      out_.close('}');
    }
    out_.close(']');
  }

  void window(const DetailWindow& window) {
    out_.open('{');
    out_.number("start", since_start(window.start_ns));
    out_.number("end", since_start(window.end_ns));
    out_.flag("whole", window.whole);
    out_.open("lanes", '[');
    for (const DetailSlices& lane : window.lanes) slices(window, lane);
    out_.close(']');
    out_.open("bins", '[');
    for (std::size_t device = 0; device < window.bins.size(); ++device) intervals(window, device);
    out_.close(']');
    out_.close('}');
  }
  void slices(const DetailWindow& window, const DetailSlices& lane) {
    const auto& rows = lane.slices;
    Ns before = window.start_ns;
    out_.open('{');
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
    out_.close('}');
  }
  // A column that no entry has is left out.
  template <class Value>
  void known(const char* key, const DetailSliceList& rows, Value value) {
    if (std::any_of(rows.begin(), rows.end(), [&](const DetailSlice& slice) { return value(slice) >= 0; })) out_.column(key, rows, value);
  }
  void intervals(const DetailWindow& window, std::size_t device) {
    const auto& rows = window.bins[device];
    Ns before = window.start_ns;
    out_.open('{');
    out_.number("device", device);
    out_.column("d", rows, [&](const DetailInterval& each) { return each.start_ns - std::exchange(before, each.end_ns); });
    out_.column("dur", rows, [](const DetailInterval& each) { return each.end_ns - each.start_ns; });
    out_.column("bin", rows, [](const DetailInterval& each) { return static_cast<int>(each.bin); });
    out_.close('}');
  }

  const Detail& detail_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  ColumnWriter out_;
};

}  // namespace

void write_detail_json(const Detail& detail, const PieceSink& sink) { DetailWriter(detail, sink).write(); }

}  // namespace nl::exporters
