#include "parsers/stacks/stack_file.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string_view>
#include <unordered_map>

#include "parsers/stacks/stacks.h"

namespace nl::parsers {
namespace {

constexpr std::uintmax_t kMaxStackBytes = 256u << 20;  // eight times what the sampler writes at most

template <class Number>
bool read_stack_number(std::string_view text, Number& number) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && stop == text.data() + text.size() && !text.empty();
}

// "a\\tb" → "a<TAB>b"
std::string unescaped_field(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char next = text[++i];
    out += next == 't' ? '\t' : next == 'n' ? '\n' : next;
  }
  return out;
}

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::uint32_t pid_in_name(const std::filesystem::path& file) {
  const std::string name = file.stem().string();
  std::uint32_t pid = 0;
  const std::size_t dash = name.rfind('-');
  if (dash == std::string::npos || !read_stack_number(std::string_view(name).substr(dash + 1), pid)) return 0;
  return pid;
}

class StackReader {
 public:
  explicit StackReader(StackFile& out) : out_(out) {}

  //   nl-stage stacks  1
  //   sampler  perf
  //   period  10309278
  //   f  0  245  Qwen3Attention.forward  /site/modeling_qwen3.py  transformers.models.qwen3.modeling_qwen3  227  query = self.q_proj(x)
  //   k  0  3,2,0
  //   s  81234567890  4711  0
  //   g  81234567890  81234667890  4711  2
  //   c  81234567890  120000  970  0
  void read(std::string_view text) {
    if (!text.starts_with(kStacksMagic)) return damage(Code::kUnknownRecord);
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      if (end == std::string_view::npos) return damage(Code::kRecordCut);
      read_line(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
  }

 private:
  void read_line(std::string_view line) {
    if (line.empty()) return;
    fields_ = split_at(line, '\t');
    const std::string_view kind = fields_[0];
    if (kind == "f") read_frame();
    else if (kind == "k") read_stack();
    else if (kind == "s") read_sample();
    else if (kind == "g") read_collection();
    else if (kind == "c") read_cost();
    else if (kind == "period") return;  // what was asked for: the samples say what became of it
    else if (kind == "sampler") read_sampler();
    else if (kind == "nl-stage stacks") begin();
    else damage(Code::kUnknownRecord);
  }

  // A program that starts another in its own place goes on in the same file.
  void begin() {
    frames_.clear();
    stacks_.clear();
  }

  // Of native stacks; a file of Python's has no such line.
  void read_sampler() {
    if (fields_.size() == 2 && fields_[1] == "perf") out_.sampler = HostSampler::kPerf;
    else damage(Code::kUnknownRecord);
  }

  template <class Number>
  bool number(std::size_t field, Number& value) {
    return field < fields_.size() && read_stack_number(fields_[field], value);
  }

  // No machine runs for a century; with what is left, sums and differences of times stay within 64 bits.
  bool time(std::size_t field, Ns& value) {
    constexpr Ns kCentury = Ns{100} * 365 * 86'400 * 1'000'000'000;
    return number(field, value) && value >= 0 && value <= kCentury;
  }

  void read_frame() {
    std::uint64_t id = 0;
    HostFrame frame;
    if (fields_.size() < 8 || !number(1, id) || !number(2, frame.line) || !number(6, frame.first_line))
      return damage(Code::kImpossibleNumber);
    frame.function = unescaped_field(fields_[3]);
    frame.file = unescaped_field(fields_[4]);
    frame.module = unescaped_field(fields_[5]);
    frame.source = unescaped_field(fields_[7]);
    frames_[id] = static_cast<std::uint32_t>(out_.host.frames.size());
    out_.host.frames.push_back(std::move(frame));
  }

  void read_stack() {
    std::uint64_t id = 0;
    if (fields_.size() < 3 || !number(1, id)) return damage(Code::kImpossibleNumber);
    std::vector<std::uint32_t> stack;
    for (const std::string_view text : split_at(fields_[2], ',')) {
      std::uint64_t frame = 0;
      if (!read_stack_number(text, frame)) return damage(Code::kImpossibleNumber);
      const auto found = frames_.find(frame);
      if (found == frames_.end()) return damage(Code::kUndefined, {"stack", "frame"});
      stack.push_back(found->second);
    }
    stacks_[id] = static_cast<std::uint32_t>(out_.host.stacks.size());
    out_.host.stacks.push_back(std::move(stack));
  }

  void read_sample() {
    HostSample sample;
    std::uint64_t stack = 0;
    if (!time(1, sample.time_ns) || !number(2, sample.tid) || !number(3, stack)) return damage(Code::kImpossibleTime, {"sample"});
    const auto found = stacks_.find(stack);
    if (found == stacks_.end()) return damage(Code::kUndefined, {"sample", "stack"});
    sample.pid = out_.pid;
    sample.stack = found->second;
    see(sample.time_ns);
    out_.host.samples.push_back(sample);
  }

  void read_collection() {
    GarbageCollection garbage;
    if (!time(1, garbage.start_ns) || !time(2, garbage.end_ns) || !number(3, garbage.tid) || !number(4, garbage.generation))
      return damage(Code::kImpossibleTime, {"garbage collection"});
    if (garbage.end_ns < garbage.start_ns) return damage(Code::kEndsBeforeStart, {"garbage collection"});
    garbage.pid = out_.pid;
    see(garbage.start_ns);
    out_.host.collections.push_back(garbage);
  }

  void read_cost() {
    StackFile::Cost cost;
    if (!time(1, cost.time_ns) || !number(2, cost.cost_ns) || !number(4, cost.lost)) return damage(Code::kImpossibleTime, {"cost"});
    see(cost.time_ns);
    out_.cost = cost;
  }

  void see(Ns time_ns) { out_.first_ns = std::min(out_.first_ns.value_or(time_ns), time_ns); }
  void damage(Code code, std::vector<std::string> details = {}) { ++out_.damaged[{code, std::move(details)}]; }

  StackFile& out_;
  std::vector<std::string_view> fields_;
  std::unordered_map<std::uint64_t, std::uint32_t> frames_, stacks_;  // the file's ids → indices
};

}  // namespace

StackFile read_stack_file(const std::filesystem::path& file) {
  StackFile out;
  out.pid = pid_in_name(file);
  std::error_code failed;
  if (std::filesystem::file_size(file, failed) > kMaxStackBytes || failed) {
    ++out.damaged[{Code::kUnknownRecord, {}}];
    return out;
  }
  std::ifstream in(file, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  if (!text.empty()) StackReader(out).read(text);
  return out;
}

}  // namespace nl::parsers
