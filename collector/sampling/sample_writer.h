#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "collector/gpu/log.h"
#include "collector/trace_format.h"

namespace nl::collector {

// Rows of samples, as many as fit into a record of the trace at a time.
class SampleWriter {
 public:
  SampleWriter(std::uint32_t set, std::size_t metrics, bool lost)
      : set_(set), metrics_(metrics), row_bytes_(trace_format::kSampleBytes + metrics * sizeof(float)), lost_(lost) {}
  SampleWriter(const SampleWriter&) = delete;
  SampleWriter& operator=(const SampleWriter&) = delete;
  ~SampleWriter() { flush(); }
  void add(std::int64_t start_ns, std::uint32_t duration_ns, const double* values) {
    if (used_ + row_bytes_ + 8 > sizeof buffer_) flush();
    char* at = buffer_ + used_;
    std::memcpy(at, &start_ns, sizeof start_ns);
    std::memcpy(at + 8, &duration_ns, sizeof duration_ns);
    for (std::size_t i = 0; i < metrics_; ++i) {
      auto value = static_cast<float>(values[i]);
      std::memcpy(at + trace_format::kSampleBytes + i * sizeof value, &value, sizeof value);
    }
    used_ += row_bytes_;
    ++count_;
  }

 private:
  void flush() {
    if (count_ == 0) return;
    std::size_t bytes = (used_ + 7) & ~std::size_t{7};
    std::memset(buffer_ + used_, 0, bytes - used_);
    trace_format::Samples record{{trace_format::Kind::kSamples, static_cast<std::uint16_t>(bytes), set_}, count_, lost_};
    std::memcpy(buffer_, &record, sizeof record);
    GpuLog().append(buffer_, bytes);
    used_ = sizeof(trace_format::Samples);
    count_ = 0;
    lost_ = false;
  }
  std::uint32_t set_, count_ = 0;
  std::size_t metrics_, row_bytes_, used_ = sizeof(trace_format::Samples);
  bool lost_;
  alignas(8) char buffer_[16 * 1024];
};

}  // namespace nl::collector
