#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "orchestrator/sampling/elf_image.h"

namespace nl::orchestrator::sampling {

using Expression = std::vector<unsigned char>;  // DWARF's operations

// How the caller's value of a register is found.
struct RegisterRule {
  enum class Kind : std::uint8_t {
    kSame,
    kUndefined,
    kSavedAt,       // in memory at the frame's address plus `number`
    kIs,            // the frame's address plus `number`
    kInRegister,    // `number`
    kSavedWhere,    // in memory at what the expression gives
    kIsExpression,  // what the expression gives
  };
  Kind kind = Kind::kSame;
  std::int64_t number = 0;
  Expression expression = {};
};

// What is true at one place of the code.
struct UnwindRow {
  std::uint64_t function = 0;  // where its function begins
  // The frame's address (DWARF: CFA): a register plus an offset, or what the expression gives.
  std::uint8_t base = kNoRegister;
  std::int64_t offset = 0;
  Expression expression = {};
  std::vector<std::pair<std::uint8_t, RegisterRule>> rules = {};  // the others are as they were
  std::uint8_t return_address = 0;                                // its register
  bool signal = false;                                            // the kernel made this frame: its caller did not call
};

// The table of unwinding that compilers put into every program and library (.eh_frame with .eh_frame_hdr), also into those without frame
// pointers and without debug information.
class UnwindTable {
 public:
  explicit UnwindTable(const ElfImage& image);

  // Null: the table says nothing of that place, or says it in a way that is not known here.
  const UnwindRow* row_at(std::uint64_t address);

 private:
  std::optional<std::uint64_t> description_of(std::uint64_t address) const;
  std::optional<UnwindRow> read_row(std::uint64_t address) const;

  const ElfImage& image_;
  std::uint64_t header_ = 0, entries_ = 0, count_ = 0;  // the address, the offset of the first entry, and how many there are
  std::unordered_map<std::uint64_t, std::optional<UnwindRow>> rows_;
};

}  // namespace nl::orchestrator::sampling
