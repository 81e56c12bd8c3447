#include "parsers/flight_recorder/pickle.h"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>

#include "model/error.h"
#include "model/error_code.h"
#include "tests/catch.h"
#include "tests/unit/files.h"
#include "tests/unit/parsers/scratch_file.h"

using namespace nl;
using namespace nl::parsers;
using namespace std::string_literals;
using nl::test::ScratchFile;

namespace {

std::string hex_of(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return out;
}

// As pickle_oracle.py spells it. The values of these tests nest a few levels deep.
std::string spelled(const Values& values, ValueId id) {
  const Value& value = values[id];
  std::string inside;
  switch (value.kind) {
    case ValueKind::kNone: return "N";
    case ValueKind::kBool: return value.integer != 0 ? "T" : "F";
    case ValueKind::kInt: return fmt::format("i{}", value.integer);
    case ValueKind::kBigInt: return "I" + hex_of(value.text);
    case ValueKind::kFloat: return fmt::format("f{:016x}", std::bit_cast<std::uint64_t>(value.real));
    case ValueKind::kText: return "s" + hex_of(value.text);
    case ValueKind::kBytes: return "b" + hex_of(value.text);
    case ValueKind::kDict: {
      const auto parts = values.parts(id);
      for (std::size_t i = 0; i < parts.size(); i += 2) inside += spelled(values, parts[i]) + ":" + spelled(values, parts[i + 1]) + ",";
      return "{" + inside + "}";
    }
    case ValueKind::kList:
    case ValueKind::kTuple:
      for (const ValueId part : values.parts(id)) inside += spelled(values, part) + ",";
      return value.kind == ValueKind::kList ? "[" + inside + "]" : "(" + inside + ")";
  }
  return {};
}

std::string read(std::string_view bytes) {
  const Pickle pickle = read_pickle(bytes, "x");
  return spelled(pickle.values, pickle.root);
}

Error refused_pickle(std::string_view bytes) {
  try {
    read_pickle(bytes, "dump");
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kInput);
    return error;
  }
  FAIL("it was read");
  throw;
}

}  // namespace

TEST_CASE("pickle: reads what Python's own reader does, of every protocol and of PyTorch's writer") {
  const ScratchFile scratch("");
  const std::filesystem::path folder = scratch.path.parent_path();
  REQUIRE(std::system(("python3 '" NL_SOURCE_ROOT "/tests/unit/parsers/flight_recorder/pickle_oracle.py' '" + folder.string() +
                       "' '" NL_FIXTURES "'")
                          .c_str()) == 0);
  std::size_t compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".pickle") continue;
    INFO(entry.path().filename().string());
    const std::string bytes = nl::test::read_text(entry.path());
    CHECK(read(bytes) == nl::test::read_text(std::filesystem::path(entry.path()).replace_extension(".told")));
    ++compared;
  }
  CHECK(compared > 400);
}

TEST_CASE("pickle: an opcode that would build or call something is refused by its name") {
  // pickle.dumps(collections.OrderedDict(), 2)
  CHECK(refused_pickle("\x80\x02"
                       "ccollections\nOrderedDict\nq\0)Rq\1."s)
            .message == "the pickle is no data alone: its opcode GLOBAL collections.OrderedDict would import a class or a function");
  CHECK(refused_pickle("\x80\x02"
                       "ccollections\nOrderedDict\nq\0)Rq\1."s)
            .where == "dump, byte 3");
  // os.system("id"), of protocol 4
  CHECK(refused_pickle("\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x02id\x85R."s).message.find("STACK_GLOBAL posix.system") !=
        std::string::npos);
  for (const auto& [opcode, name] : std::initializer_list<std::pair<char, const char*>>{{'R', "REDUCE"},
                                                                                        {'b', "BUILD"},
                                                                                        {'i', "INST"},
                                                                                        {'o', "OBJ"},
                                                                                        {'\x81', "NEWOBJ"},
                                                                                        {'\x92', "NEWOBJ_EX"},
                                                                                        {'\x82', "EXT1"},
                                                                                        {'\x83', "EXT2"},
                                                                                        {'\x84', "EXT4"},
                                                                                        {'P', "PERSID"},
                                                                                        {'Q', "BINPERSID"},
                                                                                        {'\x97', "NEXT_BUFFER"},
                                                                                        {'\x98', "READONLY_BUFFER"},
                                                                                        {'\x8f', "EMPTY_SET"},
                                                                                        {'\x90', "ADDITEMS"},
                                                                                        {'\x91', "FROZENSET"},
                                                                                        {'\x96', "BYTEARRAY8"},
                                                                                        {'I', "INT"},
                                                                                        {'S', "STRING"},
                                                                                        {'V', "UNICODE"}}) {
    INFO(name);
    const Error error = refused_pickle("\x80\x02]"s + opcode + std::string(20, '\0') + ".");
    CHECK(error.message.find("opcode "s + name + " ") != std::string::npos);
    CHECK(error.where == "dump, byte 4");
  }
  CHECK(refused_pickle("\x80\x02\xff."s).message == "the pickle has an opcode that there is not: 0xff");
}

TEST_CASE("pickle: a long name of a class does not fill the message, and control characters do not reach a terminal") {
  CHECK(refused_pickle("\x80\x02"
                       "cos\n\x1b[2Jsystem\n."s)
            .message.find('\x1b') == std::string::npos);
  CHECK(refused_pickle("\x80\x02"
                       "cos\n"s +
                       std::string(1000, 'x') + "\n.")
            .message.size() < 120);
}

TEST_CASE("pickle: cut at any byte it is refused, and says so") {
  const std::string whole = "\x80\x04\x95\x1f\0\0\0\0\0\0\0}(\x8c\1a\x94K\1\x8c\1b](K\2M\1\1J\1\0\0\0\x8a\1\1e\x8c\1c\x8c\1d\x85u."s;
  CHECK(read(whole) == "{s61:i1,s62:[i2,i257,i1,i1,],s63:(s64,),}");
  for (std::size_t size = 1; size < whole.size(); ++size) {
    INFO(size);
    const Error error = refused_pickle(std::string_view(whole).substr(0, size));
    CHECK(error.message == "the pickle is cut off");
    CHECK(error.where == fmt::format("dump, byte {}", size + 1));
  }
  CHECK_THROWS_AS(read_pickle(std::string_view(whole).substr(0, 9), "dump"), CodedError);
}

TEST_CASE("pickle: a stack that is short, a mark that is not there, a size beyond the file") {
  CHECK(refused_pickle("\x80\x02."s).message == "the pickle ends with no value");
  CHECK(refused_pickle("\x80\x02\x85."s).message == "the pickle takes a value that is not there");
  CHECK(refused_pickle("\x80\x02K\1(\x85."s).message == "the pickle takes a value that is not there");  // not from below the mark
  CHECK(refused_pickle("\x80\x02t."s).message == "the pickle goes back to a mark that is not there");
  CHECK(refused_pickle("\x80\x02](K\1u."s).message == "the pickle adds to a dict that is none");
  CHECK(refused_pickle("\x80\x02}K\1a."s).message == "the pickle adds to a list that is none");
  CHECK(refused_pickle("\x80\x02}(K\1u."s).message == "the pickle has a key without a value");
  CHECK(refused_pickle("\x80\x02h\5."s).message == "the pickle names value 5, which it did not keep");
  CHECK(refused_pickle("\x80\x02q\5."s).message == "the pickle keeps a value that is not there");
  CHECK(refused_pickle("\x80\x02\x8d\xff\xff\xff\xff\xff\xff\xff\xff."s).message == "the pickle is cut off");
  CHECK(refused_pickle("\x80\x01N."s).message == "the pickle is of protocol 1, and 2 to 5 are read");
  CHECK(refused_pickle("\x80\x06N."s).message == "the pickle is of protocol 6, and 2 to 5 are read");
  CHECK(refused_pickle("(lp0\n."s).message == "the file is no pickle of protocol 2 to 5");
}

TEST_CASE("pickle: nesting of a million lists takes no stack, and a list may be its own part") {
  std::string deep = "\x80\x02"s + std::string(1'000'000, ']') + std::string(999'999, 'a') + ".";
  const Pickle pickle = read_pickle(deep, "x");
  CHECK(pickle.values[pickle.root].kind == ValueKind::kList);
  const std::string own = "\x80\x02]q\0h\0a."s;
  const Pickle cycle = read_pickle(own, "x");
  REQUIRE(cycle.values.parts(cycle.root).size() == 1);
  CHECK(cycle.values.parts(cycle.root)[0] == cycle.root);
}

TEST_CASE("pickle: parts that are doubled again and again take no more memory than they are named") {
  std::string doubled = "\x80\x02]"s;
  for (int i = 0; i < 200; ++i) doubled += "2\x86"s;  // (x, x) of (x, x) …: 2^200 values where each is a copy
  doubled += ".";
  const Pickle pickle = read_pickle(doubled, "x");
  CHECK(pickle.values[pickle.root].kind == ValueKind::kTuple);
}

TEST_CASE("pickle: whole numbers of 64 bits are numbers, larger ones their bytes") {
  CHECK(read("\x80\x02\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f."s) == "i9223372036854775807");
  CHECK(read("\x80\x02\x8a\x08\0\0\0\0\0\0\0\x80."s) == "i-9223372036854775808");
  CHECK(read("\x80\x02\x8a\x01\xff."s) == "i-1");
  CHECK(read("\x80\x02\x8a\x00."s) == "i0");
  CHECK(read("\x80\x02\x8a\x09\0\0\0\0\0\0\0\0\x01."s) == "I000000000000000001");
  CHECK(read("\x80\x02J\xff\xff\xff\xff."s) == "i-1");
}

TEST_CASE("pickle: of two keys that are equal the later one counts, as in Python") {
  const std::string bytes = "\x80\x02}(X\1\0\0\0aK\1X\1\0\0\0aK\2u."s;  // texts of a pickle lie in its bytes
  const Pickle pickle = read_pickle(bytes, "x");
  CHECK(pickle.values.integer_member(pickle.root, "a") == 2);
}
