#include <fmt/core.h>

#include <algorithm>

#include "analysis/account/activity.h"
#include "model/words.h"
#include "query/sources.h"
#include "query/tables/stack_text.h"

namespace nl::query {

StackText::StackText(const HostSamples& host) : host_(host) {
  for (const HostFrame& frame : host.frames) {
    const std::string place = place_text(frame);
    texts_.push_back(place.empty() ? frame.function : fmt::format("{} ({})", frame.function, place));
  }
}

const std::vector<std::uint32_t>* StackText::frames_of(std::uint32_t stack) const {
  return stack < host_.stacks.size() && !host_.stacks[stack].empty() ? &host_.stacks[stack] : nullptr;
}

Value StackText::innermost(std::uint32_t stack) const {
  const auto* frames = frames_of(stack);
  return frames != nullptr && frames->back() < texts_.size() ? Value::known(texts_[frames->back()]) : Value::null();
}

const HostFrame* StackText::frame(std::uint32_t stack) const {
  const auto* frames = frames_of(stack);
  return frames != nullptr && frames->back() < host_.frames.size() ? &host_.frames[frames->back()] : nullptr;
}

std::string StackText::whole(std::uint32_t stack) const {
  std::string text;
  if (const auto* frames = frames_of(stack))
    for (const std::uint32_t frame : *frames) text += (text.empty() ? "" : "; ") + (frame < texts_.size() ? texts_[frame] : "?");
  return text;
}

namespace {

using enum ColumnType;

constexpr std::string_view kNotSampled =
    "the host was not sampled; nl-stage run --config deep samples Python, nsys profile --sample=process-tree native code";

class Stacks : public Rows {
 public:
  explicit Stacks(const Sources& sources) : host_(sources.trace->host), texts_(host_), samples_(host_.stacks.size(), 0) {
    for (const HostSample& sample : host_.samples)
      if (sample.stack < samples_.size()) ++samples_[sample.stack];
  }
  std::size_t size() const override { return host_.stacks.size(); }
  std::size_t depth(std::size_t row) const { return host_.stacks[row].size(); }
  std::uint64_t samples(std::size_t row) const { return samples_[row]; }
  const StackText& texts() const { return texts_; }
  const HostFrame* frame(std::size_t row) const { return texts_.frame(static_cast<std::uint32_t>(row)); }
  Value frames(std::size_t row) const {
    text_ = texts_.whole(static_cast<std::uint32_t>(row));
    return Value::passing(text_);
  }

 private:
  const HostSamples& host_;
  StackText texts_;
  std::vector<std::uint64_t> samples_;  // by stack
  mutable std::string text_;            // of the row that was read last
};

class Samples : public Rows {
 public:
  explicit Samples(const Sources& sources) : sources_(sources), texts_(sources.trace->host) {
    const auto by_thread = analysis::samples_by_thread(*sources.trace);
    threads_.assign(host().samples.size(), kNone);
    for (std::uint32_t thread = 0; thread < by_thread.size(); ++thread)
      for (const std::uint32_t sample : by_thread[thread]) threads_[sample] = thread;
  }
  std::size_t size() const override { return host().samples.size(); }
  const HostSamples& host() const { return sources_.trace->host; }
  const HostSample& at(std::size_t row) const { return host().samples[row]; }
  const Thread* thread(std::size_t row) const { return threads_[row] != kNone ? &sources_.trace->threads[threads_[row]] : nullptr; }
  std::uint32_t window(std::size_t row) const {
    return sources_.windows->around(*sources_.trace, threads_[row], at(row).time_ns, at(row).time_ns);
  }
  const WindowList& windows() const { return *sources_.windows; }
  const StackText& texts() const { return texts_; }

 private:
  Sources sources_;
  StackText texts_;
  std::vector<std::uint32_t> threads_;  // by sample: index into Trace::threads, or kNone
};

// Counters of a GPU over time: a row for each sample and metric.
class GpuSamples : public Rows {
 public:
  explicit GpuSamples(const Sources& sources) : all_(sources.trace->metric_series) {
    for (const MetricSeries& series : all_) {
      firsts_.push_back(size_);
      size_ += series.start_ns.size() * series.metrics.size();
      for (const std::string& metric : series.metrics) names_.push_back(SampledMetric(metric));
      first_names_.push_back(names_.size() - series.metrics.size());
    }
  }
  std::size_t size() const override { return size_; }
  struct Place {
    const MetricSeries& series;
    const SampledMetric& metric;
    std::size_t sample, column;
  };
  Place at(std::size_t row) const {
    const auto series = static_cast<std::size_t>(std::upper_bound(firsts_.begin(), firsts_.end(), row) - firsts_.begin()) - 1;
    const std::size_t metrics = all_[series].metrics.size(), inside = row - firsts_[series];
    return {all_[series], names_[first_names_[series] + inside % metrics], inside / metrics, inside % metrics};
  }

 private:
  const std::vector<MetricSeries>& all_;
  std::vector<std::size_t> firsts_, first_names_;  // by series
  std::vector<SampledMetric> names_;
  std::size_t size_ = 0;
};

Value of_frame(const HostFrame* frame, std::string HostFrame::* text) {
  return frame != nullptr ? Value::known(frame->*text) : Value::null();
}

Value line_of(const HostFrame* frame) { return frame != nullptr && frame->line != 0 ? Value::count(frame->line) : Value::null(); }

template <class Source>
std::unique_ptr<Rows> opened(const Sources& sources) {
  return std::make_unique<Source>(sources);
}

}  // namespace

Table stacks_table() {
  Table table{"stacks",
              "a stack of the host that was sampled, each once",
              {column<Stacks>("id", kInteger, "", "number of the stack", [](const Stacks&, std::size_t row) { return Value::count(row); }),
               column<Stacks>("samples", kInteger, "", "how many samples of the capture have it",
                              [](const Stacks& all, std::size_t row) { return Value::count(all.samples(row)); }),
               column<Stacks>("depth", kInteger, "", "how many frames it has",
                              [](const Stacks& all, std::size_t row) { return Value::count(all.depth(row)); }),
               column<Stacks>("function", kText, "", "the innermost function",
                              [](const Stacks& all, std::size_t row) { return of_frame(all.frame(row), &HostFrame::function); }),
               column<Stacks>("file", kText, "", "its file, or the library of a native function",
                              [](const Stacks& all, std::size_t row) { return of_frame(all.frame(row), &HostFrame::file); }),
               column<Stacks>("line", kInteger, "", "its line; NULL: native",
                              [](const Stacks& all, std::size_t row) { return line_of(all.frame(row)); }),
               column<Stacks>("source", kText, "", "the text of that line, where it is known",
                              [](const Stacks& all, std::size_t row) { return of_frame(all.frame(row), &HostFrame::source); }),
               column<Stacks>("frames", kText, "", "all frames, the outermost first",
                              [](const Stacks& all, std::size_t row) { return all.frames(row); })},
              kTrace,
              1000,
              opened<Stacks>,
              kNotSampled};
  table.columns.back().passing = true;
  return table;
}

Table samples_table() {
  return {"samples",
          "one moment at which a thread of the host was looked at",
          {column<Samples>("time_ns", kInteger, "ns", "when, since the start of the capture",
                           [](const Samples& all, std::size_t row) { return Value::of(all.at(row).time_ns); }),
           column<Samples>("pid", kInteger, "", "number of its process",
                           [](const Samples& all, std::size_t row) { return Value::count(all.at(row).pid); }),
           column<Samples>("tid", kInteger, "", "number of its thread",
                           [](const Samples& all, std::size_t row) { return Value::count(all.at(row).tid); }),
           column<Samples>("thread", kText, "", "name of the thread",
                           [](const Samples& all, std::size_t row) {
                             const Thread* thread = all.thread(row);
                             return thread != nullptr ? Value::known(thread->name) : Value::null();
                           }),
           column<Samples>("stack", kInteger, "", "stacks.id",
                           [](const Samples& all, std::size_t row) { return Value::count(all.at(row).stack); }),
           column<Samples>("code", kText, "", "its innermost frame: function (file:line)",
                           [](const Samples& all, std::size_t row) { return all.texts().innermost(all.at(row).stack); }),
           column<Samples>("stage", kText, "", "the innermost stage of the thread then",
                           [](const Samples& all, std::size_t row) {
                             const std::uint32_t window = all.window(row);
                             return window != kNone ? Value::of(std::string_view(all.windows().stage_of(window))) : Value::null();
                           }),
           column<Samples>("window", kInteger, "", "windows.id",
                           [](const Samples& all, std::size_t row) {
                             const std::uint32_t window = all.window(row);
                             return window != kNone ? Value::count(window) : Value::null();
                           })},
          kTrace,
          1e4,
          opened<Samples>,
          kNotSampled};
}

Table gpu_samples_table() {
  return {
      "gpu_samples",
      "a counter of a GPU at one moment, where it was sampled over time",
      {column<GpuSamples>("time_ns", kInteger, "ns", "when the sample began, since the start of the capture",
                          [](const GpuSamples& all, std::size_t row) {
                            const auto at = all.at(row);
                            return Value::of(at.series.start_ns[at.sample]);
                          }),
       column<GpuSamples>("duration_ns", kInteger, "ns", "how long it took",
                          [](const GpuSamples& all, std::size_t row) {
                            const auto at = all.at(row);
                            return at.sample < at.series.duration_ns.size() ? Value::count(at.series.duration_ns[at.sample])
                                                                            : Value::null();
                          }),
       column<GpuSamples>("gpu", kInteger, "", "number of the GPU",
                          [](const GpuSamples& all, std::size_t row) { return Value::of(std::int64_t{all.at(row).series.device}); }),
       column<GpuSamples>("metric", kText, "", "as ncu names it",
                          [](const GpuSamples& all, std::size_t row) { return Value::of(std::string_view(all.at(row).metric.name)); }),
       column<GpuSamples>("unit", kText, "", "of the value",
                          [](const GpuSamples& all, std::size_t row) { return Value::known(key_of(unit_of(all.at(row).metric.name))); }),
       column<GpuSamples>("value", kReal, "", "what was measured, in that unit; a counter as a rate",
                          [](const GpuSamples& all, std::size_t row) {
                            const auto at = all.at(row);
                            return Value::known(at.metric.value(at.series, at.sample, at.column));
                          })},
      kTrace,
      1e5,
      opened<GpuSamples>,
      "no counters were sampled over time; nl-stage run --config sampling samples them"};
}

}  // namespace nl::query
