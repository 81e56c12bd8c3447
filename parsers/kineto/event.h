#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "model/trace.h"
#include "parsers/json/array_file.h"

namespace nl::parsers {

// One event of a Chrome trace as torch.profiler (Kineto) writes it, before it is given a meaning.
struct KinetoEvent {
  std::string_view phase, category, name;  // valid until the next event is read
  std::optional<std::int64_t> pid, tid;    // empty: text, such as "Spans"
  std::optional<Ns> start_ns, duration_ns;
  std::optional<std::int64_t> device, context, stream, correlation, bytes, registers, shared_bytes;
  std::optional<Dim3> grid, block;
  std::string_view input_dims;  // as it stands there: [[32000, 1024], [1, 256], []]
  std::string input_types;  // "[bfloat16, -, int64]": a - stands for what is not a tensor, and is left out at the end; empty: none is known
  std::string_view args_name;              // of process_name and thread_name
  std::string_view collective, data_type;  // of a kernel of NCCL: "_allgather_base", "BFloat16"
  std::optional<std::int64_t> in_elements, out_elements, group_size;
  std::string_view kernel;  // that a call launches, as ROCm's traces have it
};

// The name of an operator's or an annotation's range, with the shapes of an operator's arguments: "aten::mm, sizes = [[2, 4], [4, 8]]".
std::string range_name_of(const KinetoEvent& event);

class KinetoEventReader {
 public:
  KinetoEventReader();
  ~KinetoEventReader();
  // False where the text is not such an event.
  bool read(const JsonArrayFile& file, KinetoEvent& out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// What stands beside the events: devices, the time that their times count from.
struct KinetoDocument {
  std::vector<Device> devices;
  std::optional<std::int64_t> base_time_ns;
  std::string schema_version;
  RankFacts rank;
};
KinetoDocument read_kineto_document(const std::string& document);

}  // namespace nl::parsers
