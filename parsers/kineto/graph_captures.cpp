#include "parsers/kineto/graph_captures.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <utility>

#include "model/cuda_calls.h"
#include "parsers/json/array_file.h"
#include "parsers/kineto/event.h"
#include "parsers/registry.h"

namespace fs = std::filesystem;

namespace nl::parsers {
namespace {

std::optional<std::uint64_t> number_at(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() ? std::optional(value) : std::nullopt;
}

// "capture_32_FULL": around all that is captured for a batch of 32
struct Announced {
  Ns start_ns = 0, end_ns = 0;
  std::uint64_t size = 0;
  std::string mode;
};

std::optional<Announced> announced(const KinetoEvent& event) {
  constexpr std::string_view kCapture = "capture_";
  if (!event.name.starts_with(kCapture)) return std::nullopt;
  const std::string_view rest = event.name.substr(kCapture.size());
  const std::size_t bar = rest.find('_');
  const auto size = number_at(rest);
  if (!size || bar == std::string_view::npos) return std::nullopt;
  return Announced{*event.start_ns, *event.start_ns + *event.duration_ns, *size, std::string(rest.substr(bar + 1))};
}

// "bs_32_rank0.json.gz"; SGLang's batch may be another one than the name says, so it is asked only where nothing else tells
std::optional<std::uint64_t> size_in_name(std::string_view file) {
  const std::size_t at = file.find("bs_");
  return at == std::string_view::npos ? std::nullopt : number_at(file.substr(at + 3));
}

// "nn.Module: Qwen3DecoderLayer_3" → "Qwen3DecoderLayer": the number counts the objects of a class, in the order of their first calls.
// "## Call CompiledFxGraph fxk… ##" is what torch.compile has made of modules: a piece of the model. Empty: no module.
std::string module_class(const KinetoEvent& event) {
  constexpr std::string_view kModule = "nn.Module: ", kCompiled = "CompiledFxGraph";
  std::string_view name = event.name;
  if (event.category == "user_annotation" && name.starts_with("## Call ") && name.find(kCompiled) != name.npos)
    return std::string(kCompiled);
  if (event.category != "python_function" || !name.starts_with(kModule)) return {};
  name.remove_prefix(kModule.size());
  const std::size_t bar = name.rfind('_');
  return std::string(bar != name.npos && number_at(name.substr(bar + 1)) ? name.substr(0, bar) : name);
}

// A module by its place: the classes around it, with numbers where one of them is called several times inside another.
class ModulePaths {
 public:
  explicit ModulePaths(std::vector<CaptureRange>& ranges) : ranges_(ranges) {}

  void name_all() {
    find_parents();
    for (const Call& call : calls_) ++counts_[{call.parent, ranges_[call.range].name}];
    for (Call& call : calls_) call.path = path_of(call);
    for (const Call& call : calls_) ranges_[call.range].name = call.path + "|" + ranges_[call.range].name;
  }

 private:
  static constexpr std::size_t kRoot = static_cast<std::size_t>(-1);
  struct Call {
    std::size_t range = 0, parent = kRoot;
    std::string path;
  };
  using Key = std::pair<std::size_t, std::string>;  // parent, class

  void find_parents() {
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::size_t>> open;  // by thread, innermost last
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
      if (ranges_[i].kind != CaptureRange::Kind::kModule) continue;
      auto& around = open[{ranges_[i].pid, ranges_[i].tid}];
      while (!around.empty() && ranges_[calls_[around.back()].range].end_ns <= ranges_[i].start_ns) around.pop_back();
      calls_.push_back({i, around.empty() ? kRoot : around.back(), {}});
      around.push_back(calls_.size() - 1);
    }
  }

  // Models of several batch sizes have no number: they are one.
  std::string path_of(const Call& call) {
    const Key key(call.parent, ranges_[call.range].name);
    if (call.parent == kRoot) return key.second;
    const std::string path = calls_[call.parent].path + "." + key.second;
    return counts_[key] == 1 ? path : path + "." + std::to_string(numbers_[key]++);
  }

  std::vector<CaptureRange>& ranges_;
  std::vector<Call> calls_;  // parents come first
  std::map<Key, std::uint64_t> counts_, numbers_;
};

struct LaunchCall {
  Ns start_ns = 0;
  CapturedNode node;
};

class CaptureReader {
 public:
  explicit CaptureReader(const fs::path& file) : file_(file, "traceEvents") { out_.file = file.filename().string(); }

  GraphCaptures read() {
    KinetoEventReader reader;
    KinetoEvent event;
    while (file_.next())
      if (reader.read(file_, event) && event.phase == "X" && event.pid && event.tid && event.start_ns && event.duration_ns &&
          *event.duration_ns >= 0)
        read_event(event);
    collect_graphs();
    collect_batches();
    keep_ranges();
    return std::move(out_);
  }

 private:
  using Place = std::pair<std::int64_t, std::int64_t>;  // process and thread

  void read_event(const KinetoEvent& event) {
    if (event.category == "cuda_runtime" || event.category == "cuda_driver") return read_call(event);
    using Kind = CaptureRange::Kind;
    const bool annotation = event.category == "user_annotation";
    if (annotation)
      if (auto batch = announced(event)) announced_.push_back(std::move(*batch));
    const std::string module = module_class(event);
    if (module.empty() && !annotation && event.category != "cpu_op") return;
    const Kind kind = !module.empty() ? Kind::kModule : annotation ? Kind::kAnnotation : Kind::kOperator;
    out_.ranges.push_back({*event.start_ns, *event.start_ns + *event.duration_ns, *event.pid, *event.tid,
                           kind == Kind::kModule ? module : range_name_of(event), kind});
  }

  void read_call(const KinetoEvent& event) {
    const Place place(*event.pid, *event.tid);
    const std::string_view name = event.name;
    if (name.find("StreamBeginCapture") != name.npos) begins_[place].push_back(*event.start_ns + *event.duration_ns);
    if (name.find("StreamEndCapture") != name.npos) ends_[place].push_back(*event.start_ns);
    const bool copies = name.find("Memcpy") != name.npos || name.find("Memset") != name.npos;
    if (!copies && cuda_call(name).kind != CallKind::kKernelLaunch) return;
    calls_[place].push_back({*event.start_ns, {*event.start_ns, std::string(event.kernel), copies}});
  }

  // A beginning without an end is a capture that was cut off, or given up.
  void collect_graphs() {
    for (auto& [place, begins] : begins_) {
      std::vector<Ns>& ends = ends_[place];
      std::vector<LaunchCall>& calls = calls_[place];
      std::sort(begins.begin(), begins.end());
      std::sort(ends.begin(), ends.end());
      std::sort(calls.begin(), calls.end(), [](const LaunchCall& a, const LaunchCall& b) { return a.start_ns < b.start_ns; });
      for (std::size_t i = 0; i < begins.size(); ++i) {
        const auto end = std::lower_bound(ends.begin(), ends.end(), begins[i]);
        if (end == ends.end() || (i + 1 < begins.size() && *end > begins[i + 1])) continue;
        CapturedGraph graph{begins[i], *end, place.first, place.second, {}};
        for (const LaunchCall& call : calls)
          if (call.start_ns >= graph.begin_ns && call.start_ns < graph.end_ns) graph.nodes.push_back(call.node);
        graphs_.push_back(std::move(graph));
      }
    }
    std::sort(graphs_.begin(), graphs_.end(), [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
  }

  void collect_batches() {
    std::map<std::tuple<Ns, std::int64_t>, std::size_t> places;  // what announces them, thread → batch
    for (CapturedGraph& graph : graphs_) {
      const auto found = std::find_if(announced_.begin(), announced_.end(), [&](const Announced& each) {
        return each.start_ns <= graph.begin_ns && graph.end_ns <= each.end_ns;
      });
      const bool told = found != announced_.end();
      const auto [at, added] = places.try_emplace({told ? found->start_ns : 0, graph.tid}, out_.batches.size());
      if (added) out_.batches.push_back({told ? found->size : size_in_name(out_.file), told ? found->mode : std::string(), {}});
      out_.batches[at->second].graphs.push_back(std::move(graph));
    }
  }

  // Those around a graph or inside one.
  void keep_ranges() {
    std::erase_if(out_.ranges, [&](const CaptureRange& range) {
      for (const CapturedBatch& batch : out_.batches)
        for (const CapturedGraph& graph : batch.graphs)
          if (graph.tid == range.tid && graph.pid == range.pid && range.start_ns < graph.end_ns && range.end_ns > graph.begin_ns)
            return false;
      return true;
    });
    std::sort(out_.ranges.begin(), out_.ranges.end(), [](const CaptureRange& a, const CaptureRange& b) {
      return std::tuple(a.start_ns, -a.end_ns) < std::tuple(b.start_ns, -b.end_ns);
    });
    ModulePaths(out_.ranges).name_all();
  }

  JsonArrayFile file_;
  GraphCaptures out_;
  std::vector<Announced> announced_;
  std::map<Place, std::vector<Ns>> begins_, ends_;
  std::map<Place, std::vector<LaunchCall>> calls_;
  std::vector<CapturedGraph> graphs_;
};

bool is_trace(const fs::path& file) {
  const std::string name = file.filename().string();
  return name != "execution_details.json" && (name.ends_with(".json") || name.ends_with(".json.gz"));
}

}  // namespace

GraphCaptures read_graph_captures(const fs::path& file) { return CaptureReader(file).read(); }

std::vector<fs::path> graph_capture_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const char* name : {"capture_traces", "graph_capture_profile"})
    for (const auto& entry : fs::directory_iterator(folder / name, ignored))
      if (entry.is_regular_file(ignored) && is_trace(entry.path())) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// A trace like any other of torch.profiler, so that only the flag, or the folder that it lies in, says what it is for.
extern const Format kGraphCapturesFormat = {
    .name = kGraphCapturesName,
    .help = "traces that an engine made while it captured its CUDA graphs (capture_traces/, graph_capture_profile/), beside --kineto",
    .gives = Gives::kGraphCaptures,
    .together = true};

}  // namespace nl::parsers
