#include "parsers/flight_recorder/pickle.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/error_code.h"
#include "model/visible_text.h"

namespace nl::parsers {
namespace pickle {
namespace {

constexpr std::size_t kLongestName = 120;  // of a class, in a message

// The letters of https://docs.python.org/3/library/pickletools.html
enum Opcode : unsigned char {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kDup = '2',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNoneOp = 'N',
  kBinUnicode = 'X',
  kBinFloat = 'G',
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kEmptyList = ']',
  kEmptyTuple = ')',
  kEmptyDict = '}',
  kAppend = 'a',
  kAppends = 'e',
  kListOp = 'l',
  kTupleOp = 't',
  kDictOp = 'd',
  kSetItem = 's',
  kSetItems = 'u',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kGlobal = 'c',
  kProto = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kShortBinUnicode = 0x8c,
  kBinUnicode8 = 0x8d,
  kBinBytes8 = 0x8e,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
};

struct Refused {
  unsigned char opcode;
  const char* name;
  const char* why;
};

constexpr const char *kBuilds = "would build an object", *kCalls = "would call a function", *kOutside = "names data outside of the file",
                     *kOld = "is of protocol 0 or 1", *kNoDump = "makes what no dump has";
constexpr auto kRefused = std::to_array<Refused>({{'c', "GLOBAL", "would import a class or a function"},
                                                  {0x93, "STACK_GLOBAL", "would import a class or a function"},
                                                  {'R', "REDUCE", kCalls},
                                                  {'b', "BUILD", kBuilds},
                                                  {'i', "INST", kBuilds},
                                                  {'o', "OBJ", kBuilds},
                                                  {0x81, "NEWOBJ", kBuilds},
                                                  {0x92, "NEWOBJ_EX", kBuilds},
                                                  {0x82, "EXT1", kBuilds},
                                                  {0x83, "EXT2", kBuilds},
                                                  {0x84, "EXT4", kBuilds},
                                                  {'P', "PERSID", kOutside},
                                                  {'Q', "BINPERSID", kOutside},
                                                  {0x97, "NEXT_BUFFER", kOutside},
                                                  {0x98, "READONLY_BUFFER", kOutside},
                                                  {0x8f, "EMPTY_SET", kNoDump},
                                                  {0x90, "ADDITEMS", kNoDump},
                                                  {0x91, "FROZENSET", kNoDump},
                                                  {0x96, "BYTEARRAY8", kNoDump},
                                                  {'I', "INT", kOld},
                                                  {'L', "LONG", kOld},
                                                  {'F', "FLOAT", kOld},
                                                  {'S', "STRING", kOld},
                                                  {'T', "BINSTRING", kOld},
                                                  {'U', "SHORT_BINSTRING", kOld},
                                                  {'V', "UNICODE", kOld},
                                                  {'g', "GET", kOld},
                                                  {'p', "PUT", kOld}});

template <class Number>
Number from_little_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return static_cast<Number>(number);
}

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where), pickle_{Values(where)} {}

  Pickle read() {
    while (step()) {
    }
    if (stack_.empty()) refuse("the pickle ends with no value");
    pickle_.root = stack_.back();
    return std::move(pickle_);
  }

 private:
  [[noreturn]] void refuse(std::string what,
                           std::string fix = "it is damaged, or not what it seems; copy it again from where it was made") {
    throw Error(ErrorKind::kInput, std::move(what), fmt::format("{}, byte {}", where_, begin_ + 1), std::move(fix));
  }

  [[noreturn]] void refuse_cut() {
    throw CodedError(ErrorCode::kCaptureDamaged, "the pickle is cut off", fmt::format("{}, byte {}", where_, bytes_.size() + 1),
                     "its process was killed while it wrote, or the copy is not whole; use a whole one, or leave it out");
  }

  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size() - at_) refuse_cut();
    const std::string_view taken = bytes_.substr(at_, size);
    at_ += size;
    return taken;
  }

  template <class Number>
  Number take_number() {
    return from_little_endian<Number>(take(sizeof(Number)));
  }

  void push(ValueId id) { stack_.push_back(id); }
  void push(const Value& value) { push(pickle_.values.add(value)); }
  void push_integer(std::int64_t integer) { push({.kind = ValueKind::kInt, .integer = integer}); }
  void push_text(ValueKind kind, std::uint64_t size) { push({.kind = kind, .text = take(size)}); }

  // What was pushed since the last mark begins here; without a mark nothing may be taken.
  std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }

  ValueId pop() {
    if (stack_.size() <= floor()) refuse("the pickle takes a value that is not there");
    const ValueId id = stack_.back();
    stack_.pop_back();
    return id;
  }

  std::vector<ValueId> pop_to_mark() {
    if (marks_.empty()) refuse("the pickle goes back to a mark that is not there");
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<ValueId> popped(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return popped;
  }

  void push_container(ValueKind kind, std::vector<ValueId> parts = {}) { push(pickle_.values.add_container(kind, std::move(parts))); }

  void push_tuple(std::size_t size) {
    std::vector<ValueId> parts(size);
    for (std::size_t i = size; i-- > 0;) parts[i] = pop();
    push_container(ValueKind::kTuple, std::move(parts));
  }

  void add_to(ValueKind kind, const std::vector<ValueId>& parts) {
    if (stack_.size() <= floor() || pickle_.values[stack_.back()].kind != kind)
      refuse(kind == ValueKind::kDict ? "the pickle adds to a dict that is none" : "the pickle adds to a list that is none");
    if (kind == ValueKind::kDict && parts.size() % 2 != 0) refuse("the pickle has a key without a value");
    std::vector<ValueId>& to = pickle_.values.parts(stack_.back());
    to.insert(to.end(), parts.begin(), parts.end());
  }

  void push_long(std::uint64_t size) {
    const std::string_view bytes = take(size);
    if (bytes.size() > sizeof(std::int64_t)) return push({.kind = ValueKind::kBigInt, .text = bytes});
    if (bytes.empty()) return push_integer(0);
    const int unused = 64 - 8 * static_cast<int>(bytes.size());
    const auto high = from_little_endian<std::uint64_t>(bytes) << unused;
    push_integer(static_cast<std::int64_t>(high) >> unused);
  }

  void push_float() {
    std::uint64_t bits = 0;
    for (const char byte : take(sizeof bits)) bits = bits << 8 | static_cast<unsigned char>(byte);
    push({.kind = ValueKind::kFloat, .real = std::bit_cast<double>(bits)});
  }

  void memoize(std::uint32_t number) {
    if (stack_.size() <= floor()) refuse("the pickle keeps a value that is not there");
    memo_[number] = stack_.back();
  }

  void push_kept(std::uint32_t number) {
    const auto kept = memo_.find(number);
    if (kept == memo_.end()) refuse(fmt::format("the pickle names value {}, which it did not keep", number));
    push(kept->second);
  }

  // " collections.OrderedDict", where the opcode says what it is of
  std::string imported_name(unsigned char opcode) {
    std::string name;
    if (opcode == kGlobal) {
      const std::size_t middle = bytes_.find('\n', at_), end = middle == bytes_.npos ? middle : bytes_.find('\n', middle + 1);
      if (end != bytes_.npos) name = fmt::format("{}.{}", bytes_.substr(at_, middle - at_), bytes_.substr(middle + 1, end - middle - 1));
    } else if (opcode == kStackGlobal && stack_.size() >= 2) {
      name = fmt::format("{}.{}", pickle_.values.text(stack_[stack_.size() - 2]), pickle_.values.text(stack_.back()));
    }
    return name.empty() || name.size() > kLongestName ? "" : " " + visible_line(name);
  }

  [[noreturn]] void refuse_opcode(unsigned char opcode) {
    for (const Refused& each : kRefused)
      if (each.opcode == opcode)
        refuse(fmt::format("the pickle is no data alone: its opcode {}{} {}", each.name, imported_name(opcode), each.why),
               "give the file that PyTorch's flight recorder wrote; nothing of another pickle is run");
    refuse(fmt::format("the pickle has an opcode that there is not: 0x{:02x}", opcode));
  }

  void check_protocol() {
    if (const unsigned protocol = take_number<std::uint8_t>(); protocol < 2 || protocol > 5)
      refuse(fmt::format("the pickle is of protocol {}, and 2 to 5 are read", protocol));
  }

  bool step_container(unsigned char opcode) {
    switch (opcode) {
      case kEmptyList: push_container(ValueKind::kList); return true;
      case kEmptyTuple: push_container(ValueKind::kTuple); return true;
      case kEmptyDict: push_container(ValueKind::kDict); return true;
      case kListOp: push_container(ValueKind::kList, pop_to_mark()); return true;
      case kTupleOp: push_container(ValueKind::kTuple, pop_to_mark()); return true;
      case kDictOp: {
        const std::vector<ValueId> parts = pop_to_mark();
        push_container(ValueKind::kDict);
        add_to(ValueKind::kDict, parts);
        return true;
      }
      case kTuple1: push_tuple(1); return true;
      case kTuple2: push_tuple(2); return true;
      case kTuple3: push_tuple(3); return true;
      case kAppend: add_to(ValueKind::kList, {pop()}); return true;
      case kAppends: add_to(ValueKind::kList, pop_to_mark()); return true;
      case kSetItem: {
        const ValueId value = pop(), key = pop();
        add_to(ValueKind::kDict, {key, value});
        return true;
      }
      case kSetItems: add_to(ValueKind::kDict, pop_to_mark()); return true;
      default: return false;
    }
  }

  bool step_scalar(unsigned char opcode) {
    switch (opcode) {
      case kNoneOp: push(Values::kNone); return true;
      case kNewTrue: push(Values::kTrue); return true;
      case kNewFalse: push(Values::kFalse); return true;
      case kBinInt: push_integer(take_number<std::int32_t>()); return true;
      case kBinInt1: push_integer(take_number<std::uint8_t>()); return true;
      case kBinInt2: push_integer(take_number<std::uint16_t>()); return true;
      case kLong1: push_long(take_number<std::uint8_t>()); return true;
      case kLong4: push_long(take_number<std::uint32_t>()); return true;
      case kBinFloat: push_float(); return true;
      case kShortBinUnicode: push_text(ValueKind::kText, take_number<std::uint8_t>()); return true;
      case kBinUnicode: push_text(ValueKind::kText, take_number<std::uint32_t>()); return true;
      case kBinUnicode8: push_text(ValueKind::kText, take_number<std::uint64_t>()); return true;
      case kShortBinBytes: push_text(ValueKind::kBytes, take_number<std::uint8_t>()); return true;
      case kBinBytes: push_text(ValueKind::kBytes, take_number<std::uint32_t>()); return true;
      case kBinBytes8: push_text(ValueKind::kBytes, take_number<std::uint64_t>()); return true;
      default: return false;
    }
  }

  bool step_stack(unsigned char opcode) {
    switch (opcode) {
      case kProto: check_protocol(); return true;
      case kFrame: take(sizeof(std::uint64_t)); return true;  // how much to read at once: all of it is here
      case kMark: marks_.push_back(stack_.size()); return true;
      case kPop:
        if (!marks_.empty() && stack_.size() == marks_.back()) marks_.pop_back();
        else pop();
        return true;
      case kPopMark: pop_to_mark(); return true;
      case kDup:
        if (stack_.size() <= floor()) refuse("the pickle doubles a value that is not there");
        push(stack_.back());
        return true;
      case kBinGet: push_kept(take_number<std::uint8_t>()); return true;
      case kLongBinGet: push_kept(take_number<std::uint32_t>()); return true;
      case kBinPut: memoize(take_number<std::uint8_t>()); return true;
      case kLongBinPut: memoize(take_number<std::uint32_t>()); return true;
      case kMemoize: memoize(static_cast<std::uint32_t>(memo_.size())); return true;
      default: return false;
    }
  }

  // False: the pickle ended.
  bool step() {
    begin_ = at_;
    const auto opcode = take_number<unsigned char>();
    if (opcode == kStop) return false;
    if (!step_scalar(opcode) && !step_container(opcode) && !step_stack(opcode)) refuse_opcode(opcode);
    return true;
  }

  std::string_view bytes_;
  const std::string& where_;
  std::size_t at_ = 0, begin_ = 0;  // of the next byte, and of the opcode
  Pickle pickle_;
  std::vector<ValueId> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint32_t, ValueId> memo_;
};

}  // namespace
}  // namespace pickle

Pickle read_pickle(std::string_view bytes, const std::string& where) {
  if (!bytes.starts_with(kPickleMagic))
    throw Error(ErrorKind::kInput, "the file is no pickle of protocol 2 to 5", where, "give a dump of PyTorch's flight recorder");
  return pickle::Reader(bytes, where).read();
}

}  // namespace nl::parsers
