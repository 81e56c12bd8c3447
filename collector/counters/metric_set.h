#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "collector/gpu/log.h"

namespace nl::collector {

// Which of CUPTI's calls for counters failed, and with what.
struct CounterTrouble {
  cupti::Result result = cupti::kSuccess;
  const char* where = "";
  explicit operator bool() const { return result != cupti::kSuccess; }
};

// What is lost when one of these calls fails: in words, and the code, which depends on what CUPTI says.
struct Loss {
  const char* words;
  NoteCode failed, denied, busy;
};
inline constexpr Loss kNoCounters{trace_format::kCountersNotMeasured, NoteCode::kCountersFailed, NoteCode::kCountersDenied,
                                  NoteCode::kCountersBusy};
inline constexpr Loss kNoActivity{trace_format::kActivityNotSampled, NoteCode::kActivityFailed, NoteCode::kActivityDenied,
                                  NoteCode::kActivityFailed};
inline constexpr Loss kNoStalls{trace_format::kStallsNotSampled, NoteCode::kStallsFailed, NoteCode::kStallsDenied, NoteCode::kStallsFailed};
inline constexpr Loss kNoMoreCounters{"counters are no longer measured", NoteCode::kOther, NoteCode::kOther, NoteCode::kOther};
inline constexpr Loss kNoMoreActivity{"activity is sampled no longer", NoteCode::kOther, NoteCode::kOther, NoteCode::kOther};

// "counters are not measured: the driver lets only administrators …": what failed, and what the user can do.
void note_trouble(const CuptiLibrary& library, const Loss& loss, const CounterTrouble& trouble);

// Memory that CUPTI fills. It is mapped, not taken from the program's allocator, and kept until the process ends.
class Image {
 public:
  bool create(std::size_t bytes);
  std::uint8_t* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Metrics by ncu's names, as CUPTI's host side knows them for one chip: which the chip has, how many passes they
// need, what the raw counters mean.
class MetricSet {
 public:
  static constexpr std::size_t kMaxMetrics = 96;

  static bool offered(const cupti::ProfilerApi& api);  // CUDA 12.6 and later

  // "a,b\nc": the names are kept; false where there are none.
  bool choose(const char* list);
  // Leaves out what the chip does not have and, where one pass is asked for, what does not fit into it.
  cupti::Result prepare(const cupti::ProfilerApi& api, cupti::ProfilerType type, const char* chip, const std::uint8_t* availability,
                        bool one_pass);
  cupti::Result evaluate(const Image& image, std::size_t range, double* values) const;

  std::size_t size() const { return count_; }
  const char** names() { return names_; }
  const Image& config() const { return config_; }
  std::size_t passes() const { return passes_; }
  const char* left_out() const { return left_out_; }  // "a, b"; empty: none

  // Writes the set into the trace and returns the number by which values refer to it.
  std::uint32_t write(trace_format::MetricUse use, std::uint32_t device, std::uint64_t interval_ns = 0) const;

 private:
  struct Plan {
    void* host = nullptr;
    std::size_t bytes = 0, passes = 0;
    Image config;
  };
  cupti::Result plan(const char** names, std::size_t count, Plan& plan) const;
  void drop(const Plan& plan) const;
  bool fits(const Plan& plan) const { return plan.passes == 1 || !one_pass_; }
  void leave_out(std::size_t index);

  const cupti::ProfilerApi* api_ = nullptr;
  cupti::ProfilerType type_ = cupti::kRangeProfiler;
  const char* chip_ = nullptr;
  const std::uint8_t* availability_ = nullptr;
  bool one_pass_ = true;
  char text_[8192] = {};
  const char* names_[kMaxMetrics] = {};
  std::size_t count_ = 0;
  char left_out_[1024] = {};
  void* host_ = nullptr;
  Image config_;
  std::size_t passes_ = 0;
};

// A record with the values of a set behind it.
template <typename Record>
void append_with_values(GpuLog& log, trace_format::Kind kind, std::uint32_t set, Record record, const double* values, std::size_t count) {
  alignas(8) char buffer[sizeof(Record) + MetricSet::kMaxMetrics * sizeof(double)];
  std::size_t bytes = sizeof record + count * sizeof *values;
  record.head = {kind, static_cast<std::uint16_t>(bytes), set};
  std::memcpy(buffer, &record, sizeof record);
  std::memcpy(buffer + sizeof record, values, count * sizeof *values);
  log.append(buffer, bytes);
}

}  // namespace nl::collector
