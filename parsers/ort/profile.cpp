#include "parsers/ort/profile.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "model/error_code.h"
#include "parsers/json/array_file.h"
#include "parsers/ort/nodes.h"
#include "parsers/registry.h"
#include "parsers/trace_places.h"

namespace nl::parsers {
namespace {

constexpr std::string_view kNodeEnd = "_kernel_time";

Dim3 dimensions(const std::optional<std::int64_t> (&axes)[3]) {
  const auto axis = [](const std::optional<std::int64_t>& size) {
    return size && *size > 0 && *size <= 0xFFFFFFFF ? static_cast<std::uint32_t>(*size) : 1u;
  };
  return {axis(axes[0]), axis(axes[1]), axis(axes[2])};
}

MemOpKind kind_of_copy(std::string_view name) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (has("HostToDevice")) return MemOpKind::kHostToDevice;
  if (has("DeviceToHost")) return MemOpKind::kDeviceToHost;
  if (has("DeviceToDevice")) return MemOpKind::kDeviceToDevice;
  return MemOpKind::kOther;
}

class OrtReader {
 public:
  explicit OrtReader(const std::filesystem::path& file) : where_(file.string()), file_(ort_text(file), where_, "") {
    trace_.stats.source_format = SourceFormat::kOnnxRuntime;
    nodes_ = trace_.strings.intern(kOnnxRuntimeDomain);
    session_ = trace_.strings.intern(kOnnxRuntimeSessionDomain);
    launch_ = trace_.strings.intern("(node of onnxruntime)");
  }

  Trace read() {
    OrtEventReader reader;
    OrtEvent event;
    std::uint64_t read = 0;
    for (; file_.next(); ++read) {
      if (reader.read(file_, event)) read_event(event);
      else damaged(Code::kNotJson);
    }
    const auto& rows = trace_.stats.rows_read;
    if (read > 0 && rows.empty())
      throw CodedError(ErrorCode::kUnknownFormat, "the file is no profile of ONNX Runtime", fmt::format("{}, {} events read", where_, read),
                       "give the file that a session with enable_profiling wrote; a torch.profiler trace goes to --kineto");
    finish();
    return std::move(trace_);
  }

 private:
  void read_event(const OrtEvent& event) {
    const bool node = event.category == "Node", kernel = event.category == "Kernel";
    if (!node && !kernel && event.category != "Session") {
      ++left_out_;
      return;
    }
    if (const auto code = damage_of(event.start_ns, event.duration_ns)) return damaged(*code, {"event"});
    if (!kernel && (!event.pid || !event.tid)) return damaged(Code::kNoThread, {"event"});
    trace_.duration_ns = std::max(trace_.duration_ns, *event.start_ns + *event.duration_ns);
    ++trace_.stats.rows_read[std::string(event.category)];
    if (node) return add_node(event);
    if (kernel) return add_work(event);
    add_range(event, session_, event.name);
    records_.add_session_event(event);
  }

  void add_node(const OrtEvent& event) {
    if (!event.name.ends_with(kNodeEnd)) {
      ++left_out_;  // X_fence_before, X_fence_after
      return;
    }
    const std::string_view node = event.name.substr(0, event.name.size() - kNodeEnd.size());
    std::string name(event.op_name.empty() ? node : event.op_name);
    if (!event.inputs.shapes.empty()) name += ", sizes = " + event.inputs.shapes;
    add_range(event, nodes_, name);
    records_.add_node(event, node);
    last_node_ = static_cast<std::uint32_t>(trace_.ranges.size() - 1);
    last_node_call_ = kNone;
    if (!event.provider.empty()) ++providers_[std::string(event.provider)];
  }

  void add_range(const OrtEvent& event, StringId domain, std::string_view name) {
    Range range;
    range.start_ns = *event.start_ns;
    range.end_ns = range.start_ns + *event.duration_ns;
    range.domain = domain;
    range.name = trace_.strings.intern(name);
    range.thread = places_.thread(*event.pid, *event.tid);
    trace_.ranges.push_back(range);
  }

  // {"cat" : "Kernel","pid" :-1,"tid" :-1,"dur" :4,"ts" :6771333,"ph" : "X","name" :"BinaryElementWiseKernel",
  //  "args" : {"op_name" : "Add","stream" : "13","block_x" : "256","grid_x" : "1", …}}
  void add_work(const OrtEvent& event) {
    const std::uint32_t place = places_.queue(0, 0, event.stream.value_or(0));
    records_.add_gpu_time(*event.duration_ns);
    if (place >= 1u << 19) return damaged(Code::kTooManyPlaces, {"kernel", "streams"});
    if (event.name.starts_with("Memcpy") || event.name.starts_with("Memset")) return add_copy(event, place);
    KernelShape shape;
    shape.name = shape.short_name = trace_.strings.intern(event.name);
    shape.grid = dimensions(event.grid);
    shape.block = dimensions(event.block);
    Kernel kernel;
    kernel.start_ns = *event.start_ns;
    kernel.duration_ns = static_cast<std::uint64_t>(*event.duration_ns) & kMaxPackedDurationNs;
    kernel.queue = place & 0x7FFFF;
    kernel.shape = places_.shape(shape);
    kernel.api = launching_call();
    trace_.kernels.push_back(kernel);
  }

  // The profile has no calls: the node itself stands for the one that launched its kernels.
  std::uint32_t launching_call() {
    if (last_node_ == kNone) return kNone;
    const Range& node = trace_.ranges[last_node_];
    if (node.thread >= 1u << 20) return kNone;
    if (last_node_call_ == kNone) {
      ApiCall call;
      call.start_ns = node.start_ns;
      call.duration_ns = static_cast<std::uint64_t>(node.end_ns - node.start_ns) & kMaxPackedDurationNs;
      call.thread = node.thread & 0xFFFFF;
      call.name = launch_;
      last_node_call_ = static_cast<std::uint32_t>(trace_.api_calls.size());
      trace_.api_calls.push_back(call);
    }
    return last_node_call_;
  }

  void add_copy(const OrtEvent& event, std::uint32_t place) {
    MemOp op;
    op.start_ns = *event.start_ns;
    op.end_ns = op.start_ns + *event.duration_ns;
    op.queue = place;
    op.api = launching_call();
    op.label = trace_.strings.intern(event.name).value;
    op.kind = event.name.starts_with("Memset") ? MemOpKind::kMemset : kind_of_copy(event.name);
    trace_.mem_ops.push_back(op);
  }

  void sort_calls() {
    auto& calls = trace_.api_calls;
    std::vector<std::uint32_t> order(calls.size()), place(calls.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return calls[a].thread != calls[b].thread ? calls[a].thread < calls[b].thread : calls[a].start_ns < calls[b].start_ns;
    });
    std::vector<ApiCall> sorted;
    sorted.reserve(calls.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      place[order[i]] = i;
      sorted.push_back(calls[order[i]]);
    }
    calls = std::move(sorted);
    for (Kernel& kernel : trace_.kernels) kernel.api = kernel.api == kNone ? kNone : place[kernel.api];
    for (MemOp& op : trace_.mem_ops) op.api = op.api == kNone ? kNone : place[op.api];
  }

  void finish() {
    sort_calls();
    trace_.has_range_data = true;
    trace_.has_kernel_data = trace_.has_mem_data = !trace_.kernels.empty() || !trace_.mem_ops.empty();
    places_.finish();
    trace_.session = std::move(records_).session();
    auto& notes = trace_.stats.notes;
    for (const auto& [provider, nodes] : providers_) notes.push_back({Code::kNodesByProvider, {std::to_string(nodes), provider}});
    if (left_out_ > 0) notes.push_back({Code::kEventsLeftOut, {std::to_string(left_out_), "(fences and others)"}});
    if (file_.cut_off()) notes.push_back({Code::kProfileCutShort, {std::to_string(file_.size_read())}});
    if (file_.passed_over() > 0) trace_.stats.rows_damaged[{Code::kNoObject}] = file_.passed_over();
  }

  void damaged(Code code, std::vector<std::string> details = {}) { ++trace_.stats.rows_damaged[{code, std::move(details)}]; }

  std::string where_;
  JsonArrayFile file_;
  Trace trace_;
  TracePlaces places_{trace_};
  StringId nodes_, session_, launch_;
  OrtNodes records_;
  std::map<std::string, std::uint64_t> providers_;
  std::uint32_t last_node_ = kNone;       // its range
  std::uint32_t last_node_call_ = kNone;  // made once work follows it
  std::uint64_t left_out_ = 0;
};

bool is_ort_profile(const FileHead& head) {
  return head.json_opening() == '[' && any_event<OrtEventReader, OrtEvent>(head, "", [](const OrtEvent& event) {
           return event.category == "Session" || event.category == "Node";
         });
}

// A session that has nothing to say yet is none to import.
Trace read_imported(const std::filesystem::path& file) {
  Trace trace = read_ort_profile(file);
  if (trace.stats.rows_read.empty())
    throw Error(ErrorKind::kInput, "the profile of ONNX Runtime has no events", file.string(),
                "let the session end, or call its end_profiling(), then give the file again");
  return trace;
}

}  // namespace

Trace read_ort_profile(const std::filesystem::path& file) { return OrtReader(file).read(); }

extern const Format kOrtFormat = {.name = "ort",
                                  .help = "profile of ONNX Runtime: operators",
                                  .source = "onnxruntime",
                                  .known_as = "an ONNX Runtime JSON",
                                  .gives = Gives::kTimeline,
                                  .is_own = is_ort_profile,
                                  .read = [](const Files& files) -> Reading { return read_imported(files[0]); }};

}  // namespace nl::parsers
