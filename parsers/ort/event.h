#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "model/trace.h"
#include "parsers/json/array_file.h"

namespace nl::parsers {

// Of a node's inputs or outputs.
struct OrtTensors {
  std::string shapes;  // "[[1, 16, 64], [64]]"
  std::string dtypes;  // "[float32, int64]"
};

struct OrtEvent {
  std::string_view category, name;  // valid until the next event is read
  std::optional<std::int64_t> pid, tid;
  std::optional<Ns> start_ns, duration_ns;
  std::string_view op_name, provider;
  std::optional<std::int64_t> node_index;
  OrtTensors inputs, outputs;
  std::optional<std::uint32_t> threads;  // of the pool that the node was computed with, the calling one among them
  std::uint32_t used_threads = 0;        // of them, those that have computed so far
  std::optional<std::int64_t> stream;
  std::optional<std::int64_t> grid[3], block[3];
};

// The text of a profile as JSON. ONNX Runtime writes names as they are, so that one with a quote or a backslash makes no JSON of its line.
JsonArrayFile::Bytes ort_text(const std::filesystem::path& file);

class OrtEventReader {
 public:
  OrtEventReader();
  ~OrtEventReader();
  // False where the text is not such an event.
  bool read(const JsonArrayFile& file, OrtEvent& out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nl::parsers
