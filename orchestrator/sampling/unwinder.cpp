#include "orchestrator/sampling/unwinder.h"

#include <cstring>
#include <optional>

#include "orchestrator/sampling/byte_cursor.h"

namespace nl::orchestrator::sampling {
namespace {

constexpr std::size_t kMaxOperations = 256, kMaxValues = 32;

// The few operations of DWARF that unwinding tables use: those of the procedure linkage table and of the C library's signal frames.
class ExpressionValue {
 public:
  ExpressionValue(const Machine& machine, const Registers& registers, const StackBytes& stack)
      : machine_(machine), registers_(registers), stack_(stack) {}

  std::optional<std::uint64_t> of(const Expression& expression, std::optional<std::uint64_t> first) {
    if (first) values_.push_back(*first);
    ByteCursor from(expression);
    for (std::size_t i = 0; !from.at_end(); ++i)
      if (i >= kMaxOperations || values_.size() >= kMaxValues || !step(from) || !from.ok()) return std::nullopt;
    return values_.empty() ? std::nullopt : std::optional(values_.back());
  }

 private:
  enum Operation : std::uint8_t {
    kDereference = 0x06,
    kConstant1 = 0x08,
    kConstant1Signed = 0x09,
    kConstant2 = 0x0A,
    kConstant2Signed = 0x0B,
    kConstant4 = 0x0C,
    kConstant4Signed = 0x0D,
    kConstant = 0x10,
    kConstantSigned = 0x11,
    kDuplicate = 0x12,
    kDrop = 0x13,
    kAnd = 0x1A,
    kMinus = 0x1C,
    kPlus = 0x22,
    kPlusConstant = 0x23,
    kShiftLeft = 0x24,
    kGreaterOrEqual = 0x2A,
    kLiteral0 = 0x30,
    kRegister0 = 0x70,
    kRegisterAny = 0x92,
  };

  bool push(std::uint64_t value) { return values_.push_back(value), true; }
  bool push_signed(std::int64_t value) { return push(static_cast<std::uint64_t>(value)); }

  // The column of the return address stands for the program counter.
  bool push_register(std::uint64_t number, std::int64_t offset) {
    constexpr std::uint64_t kX86ReturnColumn = 16;
    const bool pc = machine_.link_register == kNoRegister && number == kX86ReturnColumn;
    if (!pc && !registers_.has(number)) return false;
    return push((pc ? registers_.pc : registers_.value[number]) + static_cast<std::uint64_t>(offset));
  }

  template <class Combine>
  bool combine(Combine combined) {
    if (values_.size() < 2) return false;
    const std::uint64_t right = values_.back();
    values_.pop_back();
    values_.back() = combined(values_.back(), right);
    return true;
  }

  bool step(ByteCursor& from) {
    const auto code = from.fixed<std::uint8_t>();
    if (code >= kLiteral0 && code < kLiteral0 + 32) return push(code - kLiteral0);
    if (code >= kRegister0 && code < kRegister0 + 32) return push_register(code - kRegister0, from.signed_number());
    switch (code) {
      case kConstant1: return push(from.fixed<std::uint8_t>());
      case kConstant1Signed: return push_signed(from.fixed<std::int8_t>());
      case kConstant2: return push(from.fixed<std::uint16_t>());
      case kConstant2Signed: return push_signed(from.fixed<std::int16_t>());
      case kConstant4: return push(from.fixed<std::uint32_t>());
      case kConstant4Signed: return push_signed(from.fixed<std::int32_t>());
      case kConstant: return push(from.number());
      case kConstantSigned: return push_signed(from.signed_number());
      case kRegisterAny: {
        const std::uint64_t number = from.number();
        return push_register(number, from.signed_number());
      }
      case kAnd: return combine([](std::uint64_t a, std::uint64_t b) { return a & b; });
      case kMinus: return combine([](std::uint64_t a, std::uint64_t b) { return a - b; });
      case kPlus: return combine([](std::uint64_t a, std::uint64_t b) { return a + b; });
      case kShiftLeft: return combine([](std::uint64_t a, std::uint64_t b) { return b < 64 ? a << b : 0; });
      case kGreaterOrEqual:
        return combine(
            [](std::uint64_t a, std::uint64_t b) { return std::uint64_t{static_cast<std::int64_t>(a) >= static_cast<std::int64_t>(b)}; });
      default: return !values_.empty() && change_top(code, from);
    }
  }

  bool change_top(std::uint8_t code, ByteCursor& from) {
    switch (code) {
      case kDereference: return stack_.read(values_.back(), values_.back());
      case kDuplicate: return push(values_.back());
      case kDrop: return values_.pop_back(), true;
      case kPlusConstant: return values_.back() += from.number(), true;
      default: return false;
    }
  }

  const Machine& machine_;
  const Registers& registers_;
  const StackBytes& stack_;
  std::vector<std::uint64_t> values_;
};

class Unwinding {
 public:
  Unwinding(const Machine& machine, const AddressSpace& space, Images& images, const Registers& registers, const StackBytes& stack)
      : machine_(machine), space_(space), images_(images), registers_(registers), stack_(stack) {}

  std::vector<CodePlace> run() {
    while (frames_.size() < kMaxFrames && frame()) {
    }
    return std::move(frames_);
  }

 private:
  // Adds the function that the registers are in, and makes them those of its caller. False: there is none.
  bool frame() {
    // A return address may lie behind the end of its function: a call of a function that never returns is its last instruction.
    const std::uint64_t pc = registers_.pc - (called_ ? 1 : 0);
    const Mapping* mapping = registers_.pc == 0 ? nullptr : space_.at(pc);
    if (mapping == nullptr) return false;
    Image& image = images_[mapping->image];
    const auto address = image.elf ? image.elf->code_address(pc - mapping->start + mapping->file_offset) : std::nullopt;
    const UnwindRow* row = address ? image.unwind->row_at(*address) : nullptr;
    frames_.push_back({mapping->image, row != nullptr ? row->function : address.value_or(pc)});
    return row != nullptr ? step(*row) : step_by_frame_pointer();
  }

  bool step(const UnwindRow& row) {
    const auto base = frame_address(row);
    if (!base || (moved_ && *base <= last_base_)) return false;  // stacks grow downwards: else it would go in circles
    Registers caller = registers_;
    for (const auto& [number, rule] : row.rules) restore(number, rule, *base, caller);
    if (!caller.has(row.return_address)) return false;
    caller.pc = caller.value[row.return_address] & machine_.address_bits;
    if (caller.pc == registers_.pc && *base == last_base_) return false;
    caller.set(machine_.stack_pointer, *base);
    for (const auto& [number, rule] : row.rules)
      if (number == machine_.stack_pointer) restore(number, rule, *base, caller);
    // Where the return address is kept in a register that the caller saved itself, that register is spent.
    if (machine_.link_register != kNoRegister && !row.signal) caller.known &= ~(std::uint64_t{1} << machine_.link_register);
    if (machine_.link_register == kNoRegister) caller.known &= ~(std::uint64_t{1} << row.return_address);
    registers_ = caller;
    last_base_ = *base;
    moved_ = !row.signal;  // a signal may be handled on a stack of its own
    called_ = !row.signal;
    return true;
  }

  std::optional<std::uint64_t> frame_address(const UnwindRow& row) const {
    if (!row.expression.empty()) return ExpressionValue(machine_, registers_, stack_).of(row.expression, std::nullopt);
    if (!registers_.has(row.base)) return std::nullopt;
    return registers_.value[row.base] + static_cast<std::uint64_t>(row.offset);
  }

  void restore(std::uint8_t number, const RegisterRule& rule, std::uint64_t base, Registers& caller) const {
    using Kind = RegisterRule::Kind;
    const auto set = [&](std::optional<std::uint64_t> value) {
      if (value) caller.set(number, *value);
      else caller.known &= ~(std::uint64_t{1} << number);
    };
    const auto saved = [&](std::optional<std::uint64_t> at) {
      std::uint64_t value = 0;
      return at && stack_.read(*at, value) ? std::optional(value) : std::nullopt;
    };
    const std::uint64_t place = base + static_cast<std::uint64_t>(rule.number);
    switch (rule.kind) {
      case Kind::kSame: return;
      case Kind::kUndefined: return set(std::nullopt);
      case Kind::kSavedAt: return set(saved(place));
      case Kind::kIs: return set(place);
      case Kind::kInRegister: {
        const auto from = static_cast<std::size_t>(rule.number);
        return set(registers_.has(from) ? std::optional(registers_.value[from]) : std::nullopt);
      }
      case Kind::kSavedWhere: return set(saved(ExpressionValue(machine_, registers_, stack_).of(rule.expression, base)));
      case Kind::kIsExpression: return set(ExpressionValue(machine_, registers_, stack_).of(rule.expression, base));
    }
  }

  // Code without a table, made at run time say: on both machines the frame pointer leads to the caller's, and the return address lies
  // above it. It is believed only where it leads on to code.
  bool step_by_frame_pointer() {
    std::uint64_t next = 0, back = 0;
    if (!registers_.has(machine_.frame_pointer)) return false;
    const std::uint64_t at = registers_.value[machine_.frame_pointer];
    if (!stack_.read(at, next) || !stack_.read(at + 8, back) || (moved_ && at <= last_base_)) return false;
    back &= machine_.address_bits;
    if (back == 0 || space_.at(back - 1) == nullptr) return false;
    Registers caller;
    caller.pc = back;
    caller.set(machine_.frame_pointer, next);
    caller.set(machine_.stack_pointer, at + 16);
    registers_ = caller;
    last_base_ = at + 16;
    moved_ = called_ = true;
    return true;
  }

  const Machine& machine_;
  const AddressSpace& space_;
  Images& images_;
  Registers registers_;
  const StackBytes& stack_;
  std::vector<CodePlace> frames_;
  std::uint64_t last_base_ = 0;
  bool called_ = false;  // the program counter is a return address
  bool moved_ = false;
};

}  // namespace

bool StackBytes::read(std::uint64_t address, std::uint64_t& value) const {
  if (address < start || bytes.size() < sizeof value || address - start > bytes.size() - sizeof value) return false;
  std::memcpy(&value, bytes.data() + (address - start), sizeof value);
  return true;
}

std::vector<CodePlace> unwind(const Machine& machine, const AddressSpace& space, Images& images, Registers registers,
                              const StackBytes& stack) {
  return Unwinding(machine, space, images, registers, stack).run();
}

}  // namespace nl::orchestrator::sampling
