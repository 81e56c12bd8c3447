#include "orchestrator/sampling/unwind_table.h"

#include <algorithm>
#include <array>
#include <string>

#include "orchestrator/sampling/byte_cursor.h"

// What each byte means is in the Linux Standard Base (.eh_frame, .eh_frame_hdr) and in DWARF 5, 6.4.
namespace nl::orchestrator::sampling {
namespace {

constexpr std::uint32_t kMaxDescriptionBytes = 1 << 16;
constexpr std::uint64_t kMaxEntries = 1 << 24;
constexpr std::size_t kMaxRows = 1 << 15, kMaxRemembered = 32;

// How a pointer is written: its size in the low bits, what it counts from in the high ones.
enum Encoding : std::uint8_t {
  kAddress = 0x00,
  kUnsigned = 0x01,
  kUnsigned2 = 0x02,
  kUnsigned4 = 0x03,
  kUnsigned8 = 0x04,
  kSigned = 0x09,
  kSigned2 = 0x0A,
  kSigned4 = 0x0B,
  kSigned8 = 0x0C,
  kFromHere = 0x10,
  kFromHeader = 0x30,
  kIndirect = 0x80,
  kOmitted = 0xFF,
};
constexpr std::uint8_t kFromHeaderSigned4 = kFromHeader | kSigned4;  // what every linker writes

std::optional<std::uint64_t> read_pointer(ByteCursor& from, std::uint8_t encoding, std::uint64_t own_address, std::uint64_t header) {
  const std::uint64_t here = own_address + from.at();
  std::uint64_t value = 0;
  switch (encoding & 0x0F) {
    case kAddress:
    case kUnsigned8:
    case kSigned8: value = from.fixed<std::uint64_t>(); break;
    case kUnsigned: value = from.number(); break;
    case kSigned: value = static_cast<std::uint64_t>(from.signed_number()); break;
    case kUnsigned2: value = from.fixed<std::uint16_t>(); break;
    case kUnsigned4: value = from.fixed<std::uint32_t>(); break;
    case kSigned2: value = static_cast<std::uint64_t>(std::int64_t{from.fixed<std::int16_t>()}); break;
    case kSigned4: value = static_cast<std::uint64_t>(std::int64_t{from.fixed<std::int32_t>()}); break;
    default: return std::nullopt;
  }
  switch (encoding & 0x70) {
    case 0: break;
    case kFromHere: value += here; break;
    case kFromHeader: value += header; break;
    default: return std::nullopt;
  }
  return from.ok() ? std::optional(value) : std::nullopt;
}

// The part that descriptions share (DWARF: CIE).
struct SharedPart {
  std::uint8_t encoding = kAddress;
  std::uint64_t code_step = 1;
  std::int64_t data_step = 1;
  std::uint64_t return_address = 0;
  bool signal = false, has_length = false;
  std::vector<unsigned char> program;
};

// Length and what follows it; empty: not one of these.
std::vector<unsigned char> read_record(const ElfImage& image, std::uint64_t offset) {
  std::uint32_t length = 0;
  if (!image.bytes().read(offset, length) || length < 4 || length > kMaxDescriptionBytes) return {};
  std::vector<unsigned char> record = image.bytes().some(offset + 4, length);
  return record.size() == length ? record : std::vector<unsigned char>();
}

std::optional<SharedPart> read_shared(const ElfImage& image, std::uint64_t offset) {
  const std::vector<unsigned char> record = read_record(image, offset);
  ByteCursor from(record);
  SharedPart out;
  if (record.empty() || from.fixed<std::uint32_t>() != 0) return std::nullopt;
  const auto version = from.fixed<std::uint8_t>();
  std::string letters;
  for (char letter; (letter = from.fixed<char>()) != 0;) letters += letter;
  if ((version != 1 && version != 3) || (!letters.empty() && letters[0] != 'z')) return std::nullopt;
  out.code_step = from.number();
  out.data_step = from.signed_number();
  out.return_address = version == 1 ? from.fixed<std::uint8_t>() : from.number();
  if (!letters.empty()) {
    out.has_length = true;
    const std::uint64_t length = from.number();
    const std::size_t end = from.at() + static_cast<std::size_t>(std::min<std::uint64_t>(length, record.size()));
    for (const char letter : letters.substr(1)) {
      if (letter == 'R') out.encoding = from.fixed<std::uint8_t>();
      else if (letter == 'L') from.fixed<std::uint8_t>();
      else if (letter == 'P') read_pointer(from, from.fixed<std::uint8_t>() & 0x0F, 0, 0);
      else if (letter == 'S') out.signal = true;
      else if (letter != 'B') return std::nullopt;  // B: return addresses are signed by another key
    }
    if (!from.ok() || end < from.at()) return std::nullopt;
    from.skip(end - from.at());
  }
  out.program = from.take(record.size() - from.at());
  if (!from.ok() || out.return_address >= kMaxRegisters) return std::nullopt;
  return out;
}

// Runs the instructions up to a place of the code.
class RowProgram {
 public:
  RowProgram(const SharedPart& shared, std::uint64_t start, std::uint64_t target) : shared_(shared), location_(start), target_(target) {}

  bool run_shared() {
    if (!run(shared_.program)) return false;
    initial_ = state_;
    return true;
  }
  bool run(std::span<const unsigned char> program) {
    ByteCursor from(program);
    while (!from.at_end() && location_ <= target_)
      if (!step(from) || !from.ok()) return false;
    return true;
  }

  void give(UnwindRow& row) const {
    row.base = state_.base;
    row.offset = state_.offset;
    row.expression = state_.expression;
    for (std::size_t i = 0; i < kMaxRegisters; ++i)
      if (state_.rules[i].kind != RegisterRule::Kind::kSame) row.rules.emplace_back(static_cast<std::uint8_t>(i), state_.rules[i]);
  }

 private:
  using Kind = RegisterRule::Kind;
  struct State {
    std::uint8_t base = kNoRegister;
    std::int64_t offset = 0;
    Expression expression = {};
    std::array<RegisterRule, kMaxRegisters> rules = {};
  };

  enum Operation : std::uint8_t {
    kNop = 0x00,
    kSetLocation = 0x01,
    kAdvance1 = 0x02,
    kAdvance2 = 0x03,
    kAdvance4 = 0x04,
    kOffsetExtended = 0x05,
    kRestoreExtended = 0x06,
    kUndefined = 0x07,
    kSameValue = 0x08,
    kRegister = 0x09,
    kRemember = 0x0A,
    kRecall = 0x0B,
    kDefine = 0x0C,
    kDefineRegister = 0x0D,
    kDefineOffset = 0x0E,
    kDefineExpression = 0x0F,
    kExpression = 0x10,
    kOffsetExtendedSigned = 0x11,
    kDefineSigned = 0x12,
    kDefineOffsetSigned = 0x13,
    kValueOffset = 0x14,
    kValueOffsetSigned = 0x15,
    kValueExpression = 0x16,
    kNegateReturnState = 0x2D,  // of AArch64: from here on the return address is signed, or not any more
    kArgumentsSize = 0x2E,
    kNegativeOffset = 0x2F,
  };

  // A row of registers that we do not follow (vectors) changes nothing of what we need.
  void set(std::uint64_t number, Kind kind, std::int64_t value, Expression expression = {}) {
    if (number < kMaxRegisters) state_.rules[static_cast<std::size_t>(number)] = {kind, value, std::move(expression)};
  }
  void restore(std::uint64_t number) {
    if (number < kMaxRegisters) state_.rules[static_cast<std::size_t>(number)] = initial_.rules[static_cast<std::size_t>(number)];
  }
  void define(std::uint64_t number, std::int64_t offset) {
    state_.base = number < kMaxRegisters ? static_cast<std::uint8_t>(number) : kNoRegister;
    state_.offset = offset;
    state_.expression.clear();
  }
  std::int64_t data(std::int64_t factor) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(factor) * static_cast<std::uint64_t>(shared_.data_step));
  }
  std::int64_t data(ByteCursor& from) const { return data(static_cast<std::int64_t>(from.number())); }
  Expression block(ByteCursor& from) const { return from.take(from.number()); }
  bool advance(std::uint64_t steps) {
    location_ += steps * shared_.code_step;
    return true;
  }

  bool step(ByteCursor& from) {
    const auto code = from.fixed<std::uint8_t>();
    const std::uint8_t low = code & 0x3F;
    switch (code >> 6) {
      case 1: return advance(low);
      case 2: return set(low, Kind::kSavedAt, data(from)), true;
      case 3: return restore(low), true;
      default: return step(static_cast<Operation>(code), from);
    }
  }

  bool step(Operation operation, ByteCursor& from) {
    std::uint64_t number = 0;
    switch (operation) {
      case kNop:
      case kNegateReturnState: return true;
      case kAdvance1: return advance(from.fixed<std::uint8_t>());
      case kAdvance2: return advance(from.fixed<std::uint16_t>());
      case kAdvance4: return advance(from.fixed<std::uint32_t>());
      case kArgumentsSize: return from.number(), true;
      case kOffsetExtended: return number = from.number(), set(number, Kind::kSavedAt, data(from)), true;
      case kOffsetExtendedSigned: return number = from.number(), set(number, Kind::kSavedAt, data(from.signed_number())), true;
      case kNegativeOffset:
        return number = from.number(), set(number, Kind::kSavedAt, data(-static_cast<std::int64_t>(from.number() & 0xFFFFFFFF))), true;
      case kValueOffset: return number = from.number(), set(number, Kind::kIs, data(from)), true;
      case kValueOffsetSigned: return number = from.number(), set(number, Kind::kIs, data(from.signed_number())), true;
      case kRestoreExtended: return restore(from.number()), true;
      case kUndefined: return set(from.number(), Kind::kUndefined, 0), true;
      case kSameValue: return set(from.number(), Kind::kSame, 0), true;
      case kRegister: return number = from.number(), set(number, Kind::kInRegister, static_cast<std::int64_t>(from.number())), true;
      case kExpression: return number = from.number(), set(number, Kind::kSavedWhere, 0, block(from)), true;
      case kValueExpression: return number = from.number(), set(number, Kind::kIsExpression, 0, block(from)), true;
      case kRemember: return remember();
      case kRecall: return recall();
      case kDefine: return number = from.number(), define(number, static_cast<std::int64_t>(from.number())), true;
      case kDefineSigned: return number = from.number(), define(number, data(from.signed_number())), true;
      case kDefineRegister: return define(from.number(), state_.offset), true;
      case kDefineOffset: return state_.offset = static_cast<std::int64_t>(from.number()), true;
      case kDefineOffsetSigned: return state_.offset = data(from.signed_number()), true;
      case kDefineExpression: return define(kNoRegister, 0), state_.expression = block(from), true;
      case kSetLocation: break;
    }
    return false;  // not known, and so is what follows
  }

  bool remember() {
    if (remembered_.size() >= kMaxRemembered) return false;
    remembered_.push_back(state_);
    return true;
  }
  bool recall() {
    if (remembered_.empty()) return false;
    state_ = std::move(remembered_.back());
    remembered_.pop_back();
    return true;
  }

  const SharedPart& shared_;
  std::uint64_t location_, target_;
  State state_, initial_;
  std::vector<State> remembered_;
};

}  // namespace

UnwindTable::UnwindTable(const ElfImage& image) : image_(image) {
  const auto header = image.unwind_header();
  const auto offset = header ? image.offset_of(*header) : std::nullopt;
  if (!offset) return;
  // version, the encodings of the pointer to .eh_frame, of the count and of the table; then the two
  const std::vector<unsigned char> bytes = image.bytes().some(*offset, 32);
  ByteCursor from(bytes);
  const auto version = from.fixed<std::uint8_t>(), pointer = from.fixed<std::uint8_t>(), count = from.fixed<std::uint8_t>(),
             table = from.fixed<std::uint8_t>();
  if (version != 1 || count == kOmitted || table != kFromHeaderSigned4) return;
  if (!read_pointer(from, pointer, *header, *header)) return;
  const auto entries = read_pointer(from, count, *header, *header);
  if (!entries || *entries > kMaxEntries) return;
  header_ = *header;
  entries_ = *offset + from.at();
  count_ = *entries;
}

// Entries are pairs of 32 bits, relative to the header, by the address where the function begins.
std::optional<std::uint64_t> UnwindTable::description_of(std::uint64_t address) const {
  std::uint64_t low = 0, high = count_;  // the last entry that begins at the address or before it
  std::int32_t entry[2] = {};
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (!image_.bytes().read(entries_ + 8 * middle, entry)) return std::nullopt;
    const std::uint64_t begin = header_ + static_cast<std::uint64_t>(std::int64_t{entry[0]});
    if (begin <= address) low = middle + 1;
    else high = middle;
  }
  if (low == 0 || !image_.bytes().read(entries_ + 8 * (low - 1), entry)) return std::nullopt;
  return header_ + static_cast<std::uint64_t>(std::int64_t{entry[1]});
}

std::optional<UnwindRow> UnwindTable::read_row(std::uint64_t address) const {
  const auto description = description_of(address);
  const auto offset = description ? image_.offset_of(*description) : std::nullopt;
  if (!offset) return std::nullopt;
  const std::vector<unsigned char> record = read_record(image_, *offset);
  if (record.empty()) return std::nullopt;
  ByteCursor from(record);
  const std::uint64_t back = from.fixed<std::uint32_t>();
  if (back == 0 || back > *offset + 4) return std::nullopt;
  const auto shared = read_shared(image_, *offset + 4 - back);
  if (!shared || (shared->encoding & kIndirect) != 0) return std::nullopt;
  const auto begin = read_pointer(from, shared->encoding, *description + 4, header_);
  const auto length = read_pointer(from, shared->encoding & 0x0F, 0, 0);
  if (!begin || !length || address < *begin || address - *begin >= *length) return std::nullopt;
  if (shared->has_length) from.skip(from.number());
  UnwindRow row{.function = *begin, .return_address = static_cast<std::uint8_t>(shared->return_address), .signal = shared->signal};
  RowProgram program(*shared, *begin, address);
  const std::vector<unsigned char> instructions = from.take(record.size() - from.at());
  if (!from.ok() || !program.run_shared() || !program.run(instructions)) return std::nullopt;
  program.give(row);
  return row;
}

const UnwindRow* UnwindTable::row_at(std::uint64_t address) {
  if (count_ == 0) return nullptr;
  if (rows_.size() >= kMaxRows && !rows_.contains(address)) rows_.clear();
  const auto [found, added] = rows_.try_emplace(address);
  if (added) found->second = read_row(address);
  return found->second ? &*found->second : nullptr;
}

}  // namespace nl::orchestrator::sampling
