#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/sampling/image_bytes.h"
#include "orchestrator/sampling/machine.h"

namespace nl::orchestrator::sampling {

// A program or library as it lies on the disk. Addresses are those that its own headers use. Nothing in it is believed: what does not
// fit is as if it were not there.
class ElfImage {
 public:
  // Null: not an ELF file of this machine.
  static std::unique_ptr<ElfImage> open(std::unique_ptr<ImageBytes> bytes, const Machine& machine);

  const ImageBytes& bytes() const { return *bytes_; }
  std::optional<std::uint64_t> offset_of(std::uint64_t address) const;
  // Of executable code at an offset of the file.
  std::optional<std::uint64_t> code_address(std::uint64_t offset) const;
  // The table of unwinding (.eh_frame_hdr); empty: it has none.
  std::optional<std::uint64_t> unwind_header() const { return unwind_header_; }

  // The name of the function at an address, as the linker has it; empty: none is known.
  std::string function_at(std::uint64_t address);

 private:
  struct Segment {
    std::uint64_t address, offset, bytes;
    bool code;
  };
  struct Symbol {
    std::uint64_t address, bytes, name;  // where its name is in the file
    bool global;
  };

  explicit ElfImage(std::unique_ptr<ImageBytes> bytes) : bytes_(std::move(bytes)) {}
  bool read_segments(const Machine& machine);
  void read_symbols();

  std::unique_ptr<ImageBytes> bytes_;
  std::vector<Segment> segments_;
  std::optional<std::uint64_t> unwind_header_;
  std::optional<std::vector<Symbol>> symbols_;  // by address; empty: not read yet
};

}  // namespace nl::orchestrator::sampling
