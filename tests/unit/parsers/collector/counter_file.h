#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "collector/trace_format.h"
#include "tests/unit/parsers/collector/trace_header.h"

// A file of the collector with counters, samples and stalls in it, record by record.
namespace nl::test {

class CounterFile {
 public:
  explicit CounterFile(std::uint32_t pid = 100, std::int64_t monotonic_ns = 1000) { append(trace_header(pid, monotonic_ns)); }

  template <typename Record>
  CounterFile& add(trace_format::Kind kind, Record record, std::uint32_t id, const std::string& tail = {}) {
    record.head = {kind, static_cast<std::uint16_t>((sizeof record + tail.size() + 7) / 8 * 8), id};
    append(record);
    bytes += tail;
    bytes.resize((bytes.size() + 7) / 8 * 8);
    ends.push_back(bytes.size());
    return *this;
  }
  // All that follows is of this thread, until the next; 0 is the GPU half.
  CounterFile& thread(std::uint32_t tid) {
    if (begun_) bytes.resize((bytes.size() / trace_format::kChunkBytes + 1) * trace_format::kChunkBytes);
    begun_ = true;
    return add(trace_format::Kind::kThreadStart, trace_format::ThreadStart{{}, sequence_++, tid, 0, "name"}, 0);
  }
  CounterFile& text(trace_format::Kind kind, std::uint32_t id, const std::string& text) {
    return add(kind, trace_format::String{{}, static_cast<std::uint32_t>(text.size()), 0}, id, text);
  }
  CounterFile& string(std::uint32_t id, const std::string& words) { return text(trace_format::Kind::kString, id, words); }
  CounterFile& name(std::uint32_t id, const std::string& words) { return text(trace_format::Kind::kGpuName, id, words); }
  CounterFile& note(const std::string& words, trace_format::NoteCode code = trace_format::NoteCode::kEarlier) {
    return text(trace_format::Kind::kNote, static_cast<std::uint32_t>(code), words);
  }
  CounterFile& push(std::uint32_t name, std::int64_t time_ns, std::uint32_t domain = 0) {
    return add(trace_format::Kind::kPush, trace_format::Event{{}, time_ns, domain, 0}, name);
  }
  CounterFile& pop(std::int64_t time_ns, std::uint32_t domain = 0) {
    return add(trace_format::Kind::kPop, trace_format::Pop{{}, time_ns}, domain);
  }
  CounterFile& set(std::uint32_t id, trace_format::MetricUse use, const std::vector<std::string>& metrics, std::uint32_t passes = 1,
                   std::uint32_t device = 0, std::uint64_t interval_ns = 500) {
    std::string names;
    for (const auto& metric : metrics) names += metric + "\n";
    return add(
        trace_format::Kind::kMetricSet,
        trace_format::MetricSet{
            {}, use, device, interval_ns, static_cast<std::uint32_t>(metrics.size()), static_cast<std::uint32_t>(names.size()), passes, 0},
        id, names);
  }
  CounterFile& window(std::uint32_t set, std::uint32_t domain, std::uint32_t name, std::uint32_t first, const std::vector<double>& values,
                      std::int64_t start_ns = 2000, std::int64_t end_ns = 3000, std::uint32_t windows = 1, std::uint32_t device = 0) {
    return add(trace_format::Kind::kStageCounters,
               trace_format::StageCounters{{}, start_ns, end_ns, domain, name, 7, first, windows, device}, set, packed(values));
  }
  CounterFile& kernel(std::uint32_t set, std::uint32_t name, std::int64_t time_ns, const std::vector<double>& values,
                      std::uint32_t grid = 4, std::uint32_t tid = 7, std::uint32_t device = 0) {
    return add(trace_format::Kind::kKernelCounters,
               trace_format::KernelCounters{{}, time_ns, name, tid, device, 1, {grid, 1, 1}, {32, 1, 1}}, set, packed(values));
  }
  struct Row {
    std::int64_t start_ns;
    std::uint32_t duration_ns;
    std::vector<float> values;
  };
  CounterFile& samples(std::uint32_t set, const std::vector<Row>& rows, bool lost = false) {
    std::string tail;
    for (const Row& row : rows) {
      put(tail, row.start_ns);
      put(tail, row.duration_ns);
      tail += packed(row.values);
    }
    return add(trace_format::Kind::kSamples, trace_format::Samples{{}, static_cast<std::uint32_t>(rows.size()), lost}, set, tail);
  }
  CounterFile& stalls(std::uint32_t function, const std::vector<trace_format::StallCount>& counts, std::uint32_t device = 0) {
    return add(trace_format::Kind::kStalls, trace_format::Stalls{{}, static_cast<std::uint32_t>(counts.size()), device}, function,
               packed(counts));
  }

  // The file as the collector leaves it: its chunks are whole, and counted in the header.
  std::string whole() const {
    std::string file = padded(bytes);
    const auto chunks = static_cast<std::uint32_t>(file.size() / trace_format::kChunkBytes);
    std::memcpy(file.data() + offsetof(trace_format::FileHeader, chunks), &chunks, sizeof chunks);
    return file;
  }

  // The records alone, to be added to a file that ends with a chunk.
  std::string chunk() const { return padded(bytes.substr(sizeof(trace_format::FileHeader))); }

  std::string bytes;
  std::vector<std::size_t> ends;  // of the records

 private:
  static std::string padded(std::string file) {
    file.resize((file.size() + trace_format::kChunkBytes - 1) / trace_format::kChunkBytes * trace_format::kChunkBytes);
    return file;
  }
  template <typename T>
  static void put(std::string& to, const T& value) {
    to.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <typename T>
  static std::string packed(const std::vector<T>& values) {
    std::string out;
    for (const T& value : values) put(out, value);
    return out;
  }
  template <typename T>
  void append(const T& value) {
    put(bytes, value);
  }

  bool begun_ = false;
  std::uint64_t sequence_ = 0;
};

}  // namespace nl::test
