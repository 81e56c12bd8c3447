#pragma once

#include <cstddef>
#include <string>

#include "analysis/figures/operators/catalogue.h"
#include "model/run.h"
#include "model/trace.h"

namespace nl::analysis {

struct OperatorOptions {
  std::size_t max_entries = 500;
  std::size_t top_kernels = 5;
  std::size_t top_shapes = 5;
};

// What is known of operators and layers. Each member goes to the member of Run with the same name.
struct OperatorFigures {
  std::vector<OperatorTable> operators;
  std::string operators_note;
  std::vector<OperatorStep> operator_steps;
  std::vector<LayerEntry> layers;
  std::string layers_note;
  std::vector<Remark> notes;  // on what was recorded beside the capture
  DamagedRows rows_damaged;   // in it
};

// The operators of the trace's ranges, a table for each source that is there: PyTorch's own ranges (nsys, or
// a Kineto trace), ONNX Runtime's nodes, and the workload's NVTX ranges (the domain LLM.ops; else whatever is neither
// stage nor layer). Work belongs to the ranges around the call that launched it, on that call's thread; a node of a CUDA graph
// also to those in which it was captured, which are inside.
void add_operators(const Trace& trace, const OperatorOptions& options, OperatorFigures& figures);

// The same for ranges that are already in a catalogue and tallied.
OperatorTable operator_table(const Trace& trace, RangeSource source, const Catalogue& catalogue, const RangeTally& tally,
                             const OperatorOptions& options);

// Whether PyTorch's own operators are among the ranges.
bool has_torch_operators(const Trace& trace);

// The operators of another trace, beside those of the capture: `file` says where they are from. Touches nothing else.
void add_operator_table_from(const Trace& other, const std::string& source, const std::string& file, OperatorFigures& figures,
                             const OperatorOptions& options = {});

// Operators that are added up and listed already; their types follow from their names.
void add_operator_records(const OperatorRecords& records, OperatorFigures& figures);

}  // namespace nl::analysis
