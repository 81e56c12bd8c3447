#include "orchestrator/sampling/sampled_processes.h"

#include <cxxabi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>

#include "model/function_name.h"
#include "orchestrator/sampling/stack_sampler.h"

namespace nl::orchestrator::sampling {
namespace {

constexpr std::size_t kMaxProcesses = 4096, kMaxStacks = 200'000, kMaxFiles = 256, kMaxText = 400;
constexpr const char* kNoSymbol = "(no symbol)";  // as the reader of nsys' samples has it

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string demangled(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? text.get() : symbol;
}

std::string escaped_field(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kMaxText)) {
    if (c == '\\') out += "\\\\";
    else if (c == '\t') out += "\\t";
    else if (c == '\n') out += "\\n";
    else out += c;
  }
  return out;
}

}  // namespace

// Also a program with Python inside: which of the two its time is of, native stacks do not say.
bool is_python(std::string_view file) {
  const std::string_view name = last_part(file);
  return name.starts_with("python") || name.starts_with("libpython") || name.starts_with("pypy") || name.starts_with("libpypy");
}

void SampledProcesses::take(const PerfRecord& record) {
  switch (record.type) {
    case PERF_RECORD_SAMPLE: return sample(record);
    case PERF_RECORD_MMAP2:
      if (const auto mapped = map_of(record)) map(*mapped);
      return;
    case PERF_RECORD_FORK:
      if (const auto task = task_of(record)) start(*task);
      return;
    case PERF_RECORD_EXIT:
      if (const auto task = task_of(record); task && task->pid == task->tid)
        if (const auto found = processes_.find(task->pid); found != processes_.end()) found->second.ended = true;
      return;
    case PERF_RECORD_COMM:
      if (const auto pid = executed_by(record)) {
        if (Process* process = process_of(*pid)) {
          process->space = {};
          process->python = false;
        }
      }
      return;
    case PERF_RECORD_LOST: lost_ += lost_in(record); return;
    default: return;
  }
}

// Null: there are too many. A script may start thousands.
SampledProcesses::Process* SampledProcesses::process_of(std::uint32_t pid) {
  if (const auto known = processes_.find(pid); known != processes_.end()) return &known->second;
  if (processes_.size() >= kMaxProcesses)
    std::erase_if(processes_, [](const auto& each) { return each.second.ended && each.second.samples.empty(); });
  return processes_.size() < kMaxProcesses ? &processes_[pid] : nullptr;
}

void SampledProcesses::map(const MapRecord& record) {
  Process* process = process_of(record.pid);
  if (process == nullptr) return;
  const std::uint32_t image = images_.number_of(record.file);
  process->space.map({record.start, record.start + record.bytes, record.file_offset, image});
  process->python |= is_python(record.file);
  if (std::find(process->images.begin(), process->images.end(), image) == process->images.end()) process->images.push_back(image);
}

// A thread shares what its process has. A child begins with a copy.
void SampledProcesses::start(const TaskRecord& record) {
  if (record.pid == record.parent) return;
  Process* child = process_of(record.pid);
  const auto parent = processes_.find(record.parent);
  if (child == nullptr || parent == processes_.end()) return;
  child->space = parent->second.space;
  child->python = parent->second.python;
  child->images = parent->second.images;
  child->ended = false;
}

void SampledProcesses::sample(const PerfRecord& record) {
  const auto sample = sample_of(record, machine_.numbers.size());
  const auto process = sample ? processes_.find(sample->pid) : processes_.end();
  if (process == processes_.end()) return void(++lost_);
  if (process->second.python) return;
  if (seen_++ % keep_one_in_ != 0) return void(++lost_);
  const Registers registers = registers_of(machine_, sample->registers);
  const StackBytes stack{registers.value[machine_.stack_pointer], sample->stack};
  auto places = unwind(machine_, process->second.space, images_, registers, stack);
  if (places.empty()) return void(++lost_);
  const std::uint32_t number = stack_of(std::move(places));
  if (number == UINT32_MAX) return void(++lost_);
  keep(process->second, {static_cast<std::int64_t>(record.time_ns), sample->tid, number});
}

std::uint32_t SampledProcesses::stack_of(std::vector<CodePlace> places) {
  if (const auto known = numbers_.find(places); known != numbers_.end()) return known->second;
  if (stacks_.size() >= kMaxStacks) return UINT32_MAX;
  const auto [added, _] = numbers_.emplace(std::move(places), static_cast<std::uint32_t>(stacks_.size()));
  stacks_.push_back(&added->first);
  return added->second;
}

void SampledProcesses::keep(Process& process, const Sample& sample) {
  process.samples.push_back(sample);
  if (++kept_ >= most_) thin_out();
}

// A long run keeps samples of all of its time rather than many of its beginning.
void SampledProcesses::thin_out() {
  keep_one_in_ *= 2;
  for (auto& [pid, process] : processes_) {
    std::vector<Sample>& samples = process.samples;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < samples.size(); i += 2) samples[kept++] = samples[i];
    lost_ += samples.size() - kept;
    kept_ -= samples.size() - kept;
    samples.resize(kept);
  }
}

SampledProcesses::Name SampledProcesses::name_of(const CodePlace& place) {
  if (const auto known = names_.find(place); known != names_.end()) return known->second;
  Image& image = images_[place.image];
  const std::string symbol = image.elf ? image.elf->function_at(place.address) : "";
  Name name{symbol.empty() ? kNoSymbol : plain_function_name(demangled(symbol)), place.image};
  return names_.emplace(place, std::move(name)).first->second;
}

bool SampledProcesses::is_wanted(const Process& process, const std::vector<std::string>& only_with) const {
  return only_with.empty() || std::any_of(process.images.begin(), process.images.end(), [&](std::uint32_t image) {
           const std::string_view name = last_part(images_.file_of(image));
           return std::any_of(only_with.begin(), only_with.end(), [&](const std::string& start) { return name.starts_with(start); });
         });
}

// The lines of docs/marks.md. Frames of one function are one frame, so several stacks may become one.
std::string SampledProcesses::text_of(const Process& process, int hertz) {
  std::string text = fmt::format("nl-stage stacks\t1\nsampler\tperf\nperiod\t{}\n", 1'000'000'000 / hertz);
  auto out = std::back_inserter(text);
  std::map<Name, std::size_t> frames;
  std::map<std::vector<std::size_t>, std::size_t> stacks;
  std::map<std::uint32_t, std::size_t> numbers;
  for (const Sample& sample : process.samples) {
    const auto [number, first] = numbers.try_emplace(sample.stack, 0);
    if (first) {
      std::vector<std::size_t> stack;
      for (auto place = stacks_[sample.stack]->rbegin(); place != stacks_[sample.stack]->rend(); ++place) {
        const Name name = name_of(*place);
        const auto [frame, added] = frames.try_emplace(name, frames.size());
        if (added)
          fmt::format_to(out, "f\t{}\t0\t{}\t{}\t\t0\t\n", frame->second, escaped_field(name.function),
                         escaped_field(images_.file_of(name.image)));
        stack.push_back(frame->second);
      }
      const auto [known, added] = stacks.try_emplace(stack, stacks.size());
      if (added) fmt::format_to(out, "k\t{}\t{}\n", known->second, fmt::join(stack, ","));
      number->second = known->second;
    }
    fmt::format_to(out, "s\t{}\t{}\t{}\n", sample.time_ns, sample.tid, number->second);
  }
  return text;
}

std::vector<std::pair<std::uint32_t, std::string>> SampledProcesses::texts(const std::vector<std::string>& only_with, int hertz,
                                                                           std::int64_t end_ns, std::int64_t cost_ns) {
  std::vector<std::pair<std::uint32_t, const Process*>> wanted;
  for (const auto& [pid, process] : processes_)
    if (!process.samples.empty() && is_wanted(process, only_with)) wanted.emplace_back(pid, &process);
  std::stable_sort(wanted.begin(), wanted.end(),
                   [](const auto& a, const auto& b) { return a.second->samples.size() > b.second->samples.size(); });
  if (wanted.size() > kMaxFiles) wanted.resize(kMaxFiles);
  std::vector<std::pair<std::uint32_t, std::string>> out;
  for (const auto& [pid, process] : wanted) {
    // The records do not say whose samples were lost: the process with the most has them.
    const std::uint64_t lost = out.empty() ? lost_ : 0;
    out.emplace_back(pid, text_of(*process, hertz) + fmt::format("c\t{}\t{}\t{}\t{}\n", end_ns, cost_ns, process->samples.size(), lost));
  }
  return out;
}

}  // namespace nl::orchestrator::sampling
