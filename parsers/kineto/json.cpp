#include "parsers/kineto/json.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/cuda_calls.h"
#include "model/error_code.h"
#include "model/trace.h"
#include "parsers/json/array_file.h"
#include "parsers/kineto/event.h"
#include "parsers/kineto/messages.h"
#include "parsers/registry.h"
#include "parsers/trace_places.h"

namespace nl::parsers {
namespace {

// Joins the GPU's work to the calls that launched it, once all events were read: in the file the kernel stands
// before its call. Until join() the field `api` of work holds its correlation id.
class KinetoLinks {
 public:
  explicit KinetoLinks(Trace& trace) : trace_(trace) {}

  void add_call(Ns start_ns, Ns duration_ns, std::uint32_t thread, StringId name, std::optional<std::int64_t> correlation_id) {
    const auto [found, added] = stats_.try_emplace(name.value, trace_.api_stats.size());
    if (added) trace_.api_stats.push_back({name, {}});
    trace_.api_stats[found->second].durations.add(duration_ns);
    ApiCall call;
    call.start_ns = start_ns;
    call.duration_ns = static_cast<std::uint64_t>(duration_ns) & kMaxPackedDurationNs;
    call.thread = thread & 0xFFFFF;
    call.name = name;
    call.correlation = correlation(correlation_id);
    trace_.api_calls.push_back(call);
  }

  static std::uint32_t correlation(std::optional<std::int64_t> id) {
    return id && *id > 0 && *id < std::int64_t{kNone} ? static_cast<std::uint32_t>(*id) : kNone;
  }

  // Sorts the calls, keeps those that launched work or waited for it, and links.
  void join() {
    keep_calls();
    const auto process = [&](const ApiCall& call) { return trace_.threads[call.thread].process; };
    for (std::uint32_t i = 0; i < trace_.api_calls.size(); ++i) {
      const ApiCall& call = trace_.api_calls[i];
      if (call.correlation == kNone) continue;
      const auto [found, added] = calls_.try_emplace(call.correlation, i);
      if (added || found->second == kNone || process(trace_.api_calls[found->second]) == process(call)) continue;
      found->second = kNone;  // traces of several processes in one file, and a kernel does not say whose it is
      ++ambiguous_;
    }
    for (Kernel& kernel : trace_.kernels) {
      kernel.api = kernel.api == kNone ? kNone : call_of(kernel.api);
      kernel.in_graph = of_graph(kernel.api);
    }
    for (MemOp& op : trace_.mem_ops) {
      op.api = op.api == kNone ? kNone : call_of(op.api);
      op.in_graph = of_graph(op.api);
    }
    if (ambiguous_ > 0) trace_.stats.rows_damaged[{Code::kSharedCorrelation}] += ambiguous_;
  }

 private:
  void keep_calls() {
    std::unordered_set<std::uint32_t> launched;
    for (const Kernel& kernel : trace_.kernels) launched.insert(kernel.api);
    for (const MemOp& op : trace_.mem_ops) launched.insert(op.api);
    launched.erase(kNone);
    std::erase_if(trace_.api_calls, [&](const ApiCall& call) {
      if (launched.contains(call.correlation) || !cuda_call(trace_.strings[call.name]).launches) return false;
      if (static_cast<Ns>(call.duration_ns) >= kLongCallNs) trace_.other_calls.push_back(call);
      return true;
    });
    for (std::vector<ApiCall>* calls : {&trace_.api_calls, &trace_.other_calls})
      std::sort(calls->begin(), calls->end(), [](const ApiCall& a, const ApiCall& b) {
        return std::tuple(a.thread, a.start_ns, a.correlation) < std::tuple(b.thread, b.start_ns, b.correlation);
      });
  }

  std::uint32_t call_of(std::uint32_t correlation_id) const {
    const auto found = calls_.find(correlation_id);
    return found == calls_.end() ? kNone : found->second;
  }

  bool of_graph(std::uint32_t api) const { return api != kNone && cuda_call(trace_.strings[trace_.api_calls[api].name]).graph; }

  Trace& trace_;
  std::unordered_map<std::uint32_t, std::size_t> stats_;    // name → api_stats
  std::unordered_map<std::uint32_t, std::uint32_t> calls_;  // correlation → api_calls; kNone: several processes use it
  std::uint64_t ambiguous_ = 0;
};

constexpr const char* kEvents = "traceEvents";

enum class Category { kOther, kOperator, kAnnotation, kCall, kKernel, kCopy, kSet };

// The spelling changed in 2022: "Kernel" became "kernel", "Runtime" "cuda_runtime".
Category category_of(std::string_view name) {
  if (name == "cpu_op" || name == "Operator") return Category::kOperator;
  if (name == "user_annotation") return Category::kAnnotation;
  if (name == "cuda_runtime" || name == "cuda_driver" || name == "Runtime") return Category::kCall;
  if (name == "kernel" || name == "Kernel") return Category::kKernel;
  if (name == "gpu_memcpy" || name == "Memcpy") return Category::kCopy;
  if (name == "gpu_memset" || name == "Memset") return Category::kSet;
  return Category::kOther;
}

// "Memcpy HtoD (Pageable -> Device)"
void describe_copy(std::string_view name, MemOp& op) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (has("HtoD")) op.kind = MemOpKind::kHostToDevice;
  else if (has("DtoH")) op.kind = MemOpKind::kDeviceToHost;
  else if (has("DtoD")) op.kind = MemOpKind::kDeviceToDevice;
  else if (has("PtoP")) op.kind = MemOpKind::kPeerToPeer;
  else if (has("HtoH")) op.kind = MemOpKind::kHostToHost;
  const auto memory = [](std::string_view text) -> std::uint8_t {
    if (text.find("Pageable") != std::string_view::npos) return 1;
    if (text.find("Pinned") != std::string_view::npos) return 2;
    return text.find("Device") != std::string_view::npos ? 3 : 0;
  };
  const std::size_t arrow = name.find("->");
  if (arrow == std::string_view::npos) return;
  op.src_kind = memory(name.substr(0, arrow));
  op.dst_kind = memory(name.substr(arrow));
}

class KinetoReader {
 public:
  explicit KinetoReader(const std::filesystem::path& file) : where_(file.string()), file_(file, kEvents) {
    trace_.stats.source_format = SourceFormat::kKineto;
    operators_ = trace_.strings.intern(kTorchDomain);
  }

  Trace read() {
    KinetoEventReader reader;
    KinetoEvent event;
    auto& read = trace_.stats.rows_read[kEvents];
    while (file_.next()) {
      ++read;
      if (reader.read(file_, event)) read_event(event);
      else damaged(Code::kNotJson);
    }
    refuse_unusable();
    if (file_.passed_over() > 0) trace_.stats.rows_damaged[{Code::kNoObject}] = file_.passed_over();
    finish();
    return std::move(trace_);
  }

 private:
  void read_event(const KinetoEvent& event) {
    if (event.phase == "M") return read_metadata(event);
    const Category category = event.phase == "X" ? category_of(event.category) : Category::kOther;
    if (category == Category::kOther) {
      const std::string_view name = event.category.empty() ? std::string_view("no category") : event.category;
      auto known = left_out_.find(name);
      if (known == left_out_.end()) known = left_out_.emplace(std::string(name), 0).first;
      ++known->second;
      return;
    }
    if (const auto code = damage_of(event.start_ns, event.duration_ns)) return damaged(*code, {"event"});
    first_ns_ = std::min(first_ns_, *event.start_ns);
    last_ns_ = std::max(last_ns_, *event.start_ns + *event.duration_ns);
    ++trace_.stats.rows_read[std::string(event.category)];
    switch (category) {
      case Category::kOperator: return add_range(event, operators_);
      case Category::kAnnotation: return add_range(event, StringId());
      case Category::kCall: return add_call(event);
      case Category::kKernel: return add_kernel(event);
      case Category::kCopy: return add_mem_op(event, false);
      case Category::kSet: return add_mem_op(event, true);
      case Category::kOther: return;
    }
  }

  void read_metadata(const KinetoEvent& event) {
    if (!event.pid || event.args_name.empty()) return;
    if (event.name == "process_name") places_.name(*event.pid, std::nullopt, event.args_name);
    if (event.name == "thread_name" && event.tid) places_.name(*event.pid, event.tid, event.args_name);
  }

  void add_range(const KinetoEvent& event, StringId domain) {
    if (!event.pid || !event.tid) return damaged(Code::kNoThread, {"range"});
    Range range;
    range.start_ns = *event.start_ns;
    range.end_ns = range.start_ns + *event.duration_ns;
    range.domain = domain;
    range.thread = places_.thread(*event.pid, *event.tid);
    range.name = trace_.strings.intern(range_name_of(event));
    if (!event.input_types.empty()) types_.emplace(range.name.value, event.input_types);
    trace_.ranges.push_back(range);
  }

  void add_call(const KinetoEvent& event) {
    if (!event.pid || !event.tid) return damaged(Code::kNoThread, {"API call"});
    const std::uint32_t place = places_.thread(*event.pid, *event.tid);
    if (place >= 1u << 20) return damaged(Code::kTooManyPlaces, {"API call", "threads"});
    links_.add_call(*event.start_ns, *event.duration_ns, place, trace_.strings.intern(event.name), event.correlation);
  }

  void add_kernel(const KinetoEvent& event) {
    const std::uint32_t place = queue(event);
    if (place >= 1u << 19) return damaged(Code::kTooManyPlaces, {"kernel", "streams"});
    KernelShape shape;
    shape.name = trace_.strings.intern(event.name);
    shape.short_name = shape.name;
    shape.grid = event.grid.value_or(Dim3{});
    shape.block = event.block.value_or(Dim3{});
    shape.registers_per_thread = static_cast<std::uint32_t>(event.registers.value_or(0));
    shape.dynamic_shared_bytes = static_cast<std::uint32_t>(event.shared_bytes.value_or(0));
    Kernel kernel;
    kernel.start_ns = *event.start_ns;
    kernel.duration_ns = static_cast<std::uint64_t>(*event.duration_ns) & kMaxPackedDurationNs;
    kernel.queue = place & 0x7FFFF;
    kernel.shape = places_.shape(shape);
    kernel.api = links_.correlation(event.correlation);
    if (const auto message = message_of(event, static_cast<std::uint32_t>(trace_.kernels.size()))) trace_.messages.push_back(*message);
    trace_.kernels.push_back(kernel);
  }

  void add_mem_op(const KinetoEvent& event, bool set) {
    MemOp op;
    op.start_ns = *event.start_ns;
    op.end_ns = op.start_ns + *event.duration_ns;
    op.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, event.bytes.value_or(0)));
    op.queue = queue(event);
    op.api = links_.correlation(event.correlation);
    op.label = trace_.strings.intern(event.name).value;
    if (set) op.kind = MemOpKind::kMemset;
    else describe_copy(event.name, op);
    trace_.mem_ops.push_back(op);
  }

  std::uint32_t queue(const KinetoEvent& event) {
    return places_.queue(event.device.value_or(event.pid.value_or(0)), event.context.value_or(0),
                         event.stream.value_or(event.tid.value_or(0)));
  }

  void damaged(Code code, std::vector<std::string> details = {}) { ++trace_.stats.rows_damaged[{code, std::move(details)}]; }

  void refuse_unusable() const {
    const auto& read = trace_.stats.rows_read;
    const std::uint64_t events = read.at(kEvents);
    if (file_.cut_off())
      throw CodedError(ErrorCode::kCaptureDamaged, fmt::format("the trace is cut off after {} events", events),
                       fmt::format("{}, byte {} of {}", where_, file_.offset(), file_.size_read()),
                       "torch.profiler was stopped while it wrote: export the trace again and let it finish");
    if (read.size() == 1 && !left_out_.empty())
      throw CodedError(ErrorCode::kUnknownFormat,
                       fmt::format("none of the {} events is an operator, a kernel or a CUDA call of torch.profiler", events), where_,
                       left_out_.count("Node") > 0 ? "a profile of ONNX Runtime goes to --ort"
                                                   : "trace with activities CPU and CUDA, in a PyTorch that was built with Kineto");
  }

  void finish() {
    list_types();
    describe(read_kineto_document(file_.document_without_array()));
    links_.join();
    shift_times();
    places_.finish();
    trace_.has_range_data = true;
    trace_.has_api_data = !trace_.api_stats.empty();
    // A trace of the CPU alone has no CUDA calls either.
    trace_.has_kernel_data = trace_.has_api_data || !trace_.kernels.empty() || !trace_.mem_ops.empty();
    trace_.has_mem_data = trace_.has_kernel_data;
    if (!trace_.ranges.empty()) {
      const auto latest =
          std::max_element(trace_.ranges.begin(), trace_.ranges.end(), [](const Range& a, const Range& b) { return a.end_ns < b.end_ns; });
      trace_.last_range_event_ns = latest->end_ns;
    }
  }

  void list_types() {
    constexpr std::string_view kSizes = ", sizes = ";
    for (const auto& [name, types] : types_) {
      const std::string& text = trace_.strings[StringId{name}];
      const std::size_t sizes = text.rfind(kSizes);
      if (sizes != std::string::npos) trace_.dtypes.push_back({text.substr(0, sizes), text.substr(sizes + kSizes.size()), types});
    }
  }

  void shift_times() {
    if (first_ns_ > last_ns_) return;
    for (Range& range : trace_.ranges) {
      range.start_ns -= first_ns_;
      range.end_ns -= first_ns_;
    }
    for (Kernel& kernel : trace_.kernels) kernel.start_ns -= first_ns_;
    for (std::vector<ApiCall>* calls : {&trace_.api_calls, &trace_.other_calls})
      for (ApiCall& call : *calls) call.start_ns -= first_ns_;
    for (MemOp& op : trace_.mem_ops) {
      op.start_ns -= first_ns_;
      op.end_ns -= first_ns_;
    }
    trace_.duration_ns = last_ns_ - first_ns_;
  }

  void describe(const KinetoDocument& document) {
    trace_.devices = document.devices;
    trace_.rank = document.rank;
    trace_.stats.schema_version = document.schema_version;
    constexpr Ns kYear2000 = 946684800'000000000;
    if (first_ns_ <= last_ns_) {
      if (document.base_time_ns) trace_.utc_start_ns = *document.base_time_ns + first_ns_;
      else if (first_ns_ > kYear2000) trace_.utc_start_ns = first_ns_;  // before 2024 times were UTC themselves
    }
    for (const auto& [category, count] : left_out_)
      trace_.stats.notes.push_back({Code::kEventsLeftOut, {std::to_string(count), "of the category " + category}});
  }

  std::string where_;
  JsonArrayFile file_;
  Trace trace_;
  TracePlaces places_{trace_};
  KinetoLinks links_{trace_};
  StringId operators_;
  std::set<std::pair<std::uint32_t, std::string>> types_;  // of a range's name: an operator with its shapes
  std::map<std::string, std::uint64_t, std::less<>> left_out_;
  Ns first_ns_ = std::numeric_limits<Ns>::max(), last_ns_ = std::numeric_limits<Ns>::min();
};

// A Chrome trace with events of categories that only torch.profiler writes. "Kernel" is left out: before 2022 Kineto wrote
// it, ONNX Runtime does today.
bool is_kineto_trace(const FileHead& head) {
  return head.json_opening() != 0 && any_event<KinetoEventReader, KinetoEvent>(head, kEvents, [](const KinetoEvent& event) {
           for (const char* own :
                {"cpu_op", "Operator", "user_annotation", "cuda_runtime", "cuda_driver", "kernel", "gpu_memcpy", "gpu_memset"})
             if (event.category == own) return true;
           return false;
         });
}

}  // namespace

Trace read_kineto_json(const std::filesystem::path& file) { return KinetoReader(file).read(); }

extern const Format kKinetoFormat = {
    .name = "kineto",
    .help = "trace of torch.profiler: the capture, or beside --nsys its operators; several: one of each rank of a run",
    .known_as = "a torch.profiler JSON",
    .gives = Gives::kTimeline,
    .by_rank = true,
    .is_own = is_kineto_trace,
    .read = [](const Files& files) -> Reading { return read_kineto_json(files[0]); }};

}  // namespace nl::parsers
