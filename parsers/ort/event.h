#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "model/trace.h"
#include "parsers/json/array_file.h"

namespace nl::parsers {

struct OrtEvent {
  std::string_view category, name;          // valid until the next event is read
  std::optional<std::int64_t> pid, tid;
  std::optional<Ns> start_ns, duration_ns;
  std::string_view op_name, provider;
  std::string input_shapes;                 // "[[1, 16, 64], [64]]"
  std::optional<std::int64_t> stream;
  std::optional<std::int64_t> grid[3], block[3];
};

class OrtEventReader {
 public:
  OrtEventReader();
  ~OrtEventReader();
  // False where the text is no such event.
  bool read(const JsonArrayFile& file, OrtEvent& out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace nl::parsers
