#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/trace/api_kind.h"
#include "query/sources.h"

namespace nl::query {

// Everything of the trace that has a time, one row each: the tables of the trace one after the other.
class Slices : public Rows {
 public:
  enum class Part : std::uint8_t { kKernel, kMemOp, kGraph, kApiCall, kOtherCall, kOsCall, kRange, kMark };
  static constexpr std::size_t kParts = 8;
  struct Place {
    Part part = Part::kKernel;
    std::size_t index = 0;
  };

  explicit Slices(const Sources& sources);

  std::size_t size() const override { return first_[kParts]; }
  Span rows_of_kind(std::string_view kind) const override;
  bool shares_span(std::string_view kind) const override { return kind == "copy" || kind == "set"; }
  Place place_of(std::size_t row) const {
    std::size_t part = 0;
    while (row >= first_[part + 1]) ++part;
    return {static_cast<Part>(part), row - first_[part]};
  }
  std::size_t row_of(Part part, std::size_t index) const { return first_[static_cast<std::size_t>(part)] + index; }

  const Kernel* kernel_at(std::size_t row) const { return row < first_[1] ? &trace().kernels[row] : nullptr; }
  const MemOp* mem_op_at(std::size_t row) const {
    return row >= first_[1] && row < first_[2] ? &trace().mem_ops[row - first_[1]] : nullptr;
  }
  const ApiCall* call_at(std::size_t row) const;  // of CUDA
  const Range* range_at(std::size_t row) const;
  std::uint32_t launch_of(std::size_t row) const;   // index into Trace::api_calls, of GPU work; kNone
  const Queue* queue_of(std::size_t row) const;     // of GPU work; null: none, or not known
  std::uint32_t thread_of(std::size_t row) const;   // index into Trace::threads, of what is no GPU work; kNone
  std::uint32_t process_of(std::size_t row) const;  // index into Trace::processes, or kNone
  std::uint32_t window_of(std::size_t row) const;   // of the WindowList, or kNone
  Ns start_ns(std::size_t row) const;
  Ns end_ns(std::size_t row) const;
  std::string_view kind(std::size_t row) const;
  std::string_view name(std::size_t row) const;
  std::string_view short_name(std::size_t row) const;
  KernelClass class_of(const Kernel& kernel) const;
  CallKind kind_of(const ApiCall& call) const { return kinds_.of(call).kind; }

  const Trace& trace() const { return *sources_.trace; }
  const Sources& sources() const { return sources_; }

 private:
  Sources sources_;
  std::array<std::size_t, kParts + 1> first_ = {};
  // Looked up once for each name. One query reads a table at a time.
  mutable std::vector<std::optional<KernelClass>> classes_;  // by shape
  mutable analysis::ApiKinds kinds_;
};

}  // namespace nl::query
