// The tables of unwinding: as binutils reads them, and with bytes that are not what they should be.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <sstream>

#include "orchestrator/sampling/perf_records.h"
#include "orchestrator/sampling/sampled_processes.h"
#include "orchestrator/sampling/unwinder.h"
#include "tests/unit/orchestrator/sampling/compiled_program.h"

using namespace nl::orchestrator::sampling;
using nl::test::Folder;

namespace {

const char* const kUnwoundProgram = R"(
#include <cstdio>
#include <string>
#include <vector>
struct Shape { virtual ~Shape() = default; virtual double area(int) const = 0; };
struct Box : Shape { double side; double area(int times) const override { double sum = 0; for (int i = 0; i < times; ++i) { std::vector<double> all(i, side); for (double x : all) sum += x; } return sum; } };
__attribute__((noinline)) std::string text_of(double x) { char text[4000]; std::snprintf(text, sizeof text, "%f", x); if (x < 0) throw 1; return text; }
int main(int count, char**) { Box box; box.side = count; try { std::puts(text_of(box.area(count)).c_str()); } catch (int) { return 1; } }
)";

std::unique_ptr<ElfImage> image_of(const std::filesystem::path& file) { return ElfImage::open(ImageBytes::open(file), *own_machine()); }

struct PrintedRow {
  std::string base;            // "rsp+16", "x29+48", "exp"
  std::string return_address;  // "c-8", "u"
};

//    LOC           CFA      rbx   rbp   ra
// 0000000000001139 rsp+8    u     u     c-8
std::map<std::uint64_t, PrintedRow> printed_rows(const Folder& folder, const std::filesystem::path& program) {
  const std::string output = (folder / "rows.txt").string();
  const std::string command = "readelf --debug-dump=frames-interp -W '" + program.string() + "' > '" + output + "' 2> /dev/null";
  std::map<std::uint64_t, PrintedRow> rows;
  if (std::system(command.c_str()) != 0) return rows;
  std::istringstream lines(nl::test::read_text(output));
  std::size_t column = 0;
  bool function = false;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::vector<std::string> all;
    for (std::string word; words >> word;) all.push_back(word);
    if (line.find(" FDE ") != std::string::npos || line.find(" CIE ") != std::string::npos)
      function = line.find(" FDE ") != std::string::npos;
    else if (!all.empty() && all[0] == "LOC") column = static_cast<std::size_t>(std::find(all.begin(), all.end(), "ra") - all.begin());
    else if (function && all.size() > 1 && all[0].size() == 16)
      rows[std::stoull(all[0], nullptr, 16)] = {all[1], column < all.size() ? all[column] : "u"};
  }
  return rows;
}

std::string register_name(std::uint8_t number) {
  if (own_machine() == &kAarch64) return number == 31 ? "sp" : "x" + std::to_string(number);
  static const char* const kNames[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp"};
  return number < 8 ? kNames[number] : "r" + std::to_string(number);
}

}  // namespace

TEST_CASE("unwinding: every row of a program's table is as readelf prints it") {
  if (own_machine() == nullptr) NL_SKIP("stacks are not unwound on this machine");
  const Folder folder;
  const auto program = nl::test::compiled(folder, "program", kUnwoundProgram);
  if (program.empty()) NL_SKIP("there is no C++ compiler");
  const auto rows = printed_rows(folder, program);
  if (rows.empty()) NL_SKIP("there is no readelf");
  const auto image = image_of(program);
  REQUIRE(image);
  UnwindTable table(*image);
  REQUIRE(rows.size() > 30);
  for (const auto& [address, printed] : rows) {
    INFO(std::hex << address << " " << printed.base << " " << printed.return_address);
    const UnwindRow* row = table.row_at(address);
    REQUIRE(row != nullptr);
    const std::string sign = row->offset < 0 ? "" : "+";
    CHECK((row->expression.empty() ? register_name(row->base) + sign + std::to_string(row->offset) : "exp") == printed.base);
    std::string saved = "u";
    for (const auto& [number, rule] : row->rules)
      if (number == row->return_address && rule.kind == RegisterRule::Kind::kSavedAt)
        saved = "c" + std::string(rule.number < 0 ? "" : "+") + std::to_string(rule.number);
    CHECK(saved == printed.return_address);
  }
}

TEST_CASE("unwinding: programs and libraries with changed, missing or repeated bytes are read without harm") {
  if (own_machine() == nullptr) NL_SKIP("stacks are not unwound on this machine");
  const Folder folder;
  const auto program = nl::test::compiled(folder, "program", kUnwoundProgram);
  if (program.empty()) NL_SKIP("there is no C++ compiler");
  const std::string whole = nl::test::read_text(program);
  std::mt19937 dice(7);
  const auto pick = [&](std::size_t below) { return std::uniform_int_distribution<std::size_t>(0, below - 1)(dice); };
  const auto headers = image_of(program)->offset_of(*image_of(program)->unwind_header());
  REQUIRE(headers);
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    if (round % 10 == 0) bytes.resize(pick(bytes.size()) + 1);
    for (std::size_t change = 0; change < 8; ++change) {  // in the headers, in the table or anywhere
      const std::size_t around[] = {pick(512), *headers + pick(4096), pick(whole.size())};
      if (const std::size_t at = around[pick(3)]; at < bytes.size()) bytes[at] = static_cast<char>(pick(256));
    }
    const auto image = ElfImage::open(
        std::make_unique<ImageBytes>(std::span(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size())), *own_machine());
    if (!image) continue;
    UnwindTable table(*image);
    for (std::uint64_t address = 0; address < 0x3000; address += 0x35) {
      table.row_at(address);
      if (address % 7 == 0) image->function_at(address);
    }
  }
  SUCCEED();
}

TEST_CASE("unwinding: a stack of nonsense ends, whatever the registers say") {
  if (own_machine() == nullptr) NL_SKIP("stacks are not unwound on this machine");
  const Folder folder;
  const auto program = nl::test::compiled(folder, "program", kUnwoundProgram);
  if (program.empty()) NL_SKIP("there is no C++ compiler");
  Images images(*own_machine());
  AddressSpace space;
  space.map({0x10000, 0x14000, 0, images.number_of(program.string())});
  std::mt19937_64 dice(11);
  std::vector<unsigned char> stack(4096);
  for (int round = 0; round < 2000; ++round) {
    for (std::size_t i = 0; i < stack.size(); i += 8) {  // half of it looks like return addresses or frames
      const std::uint64_t value = dice() % 2 == 0 ? 0x10000 + dice() % 0x4000 : 0x7000000 + dice() % 4096;
      std::memcpy(&stack[i], &value, 8);
    }
    std::vector<std::uint64_t> values(own_machine()->numbers.size());
    for (std::uint64_t& value : values) value = dice() % 2 == 0 ? 0x7000000 + dice() % 4096 : dice();
    Registers registers = registers_of(*own_machine(), values);
    registers.pc = 0x10000 + dice() % 0x4000;
    CHECK(unwind(*own_machine(), space, images, registers, {0x7000000, stack}).size() <= kMaxFrames);
  }
}

TEST_CASE("unwinding: x86-64 keeps return addresses on the stack, AArch64 may have them in a register") {
  CHECK(kX86_64.numbers.size() == 17);
  CHECK(__builtin_popcountll(kX86_64.perf_registers) == 17);
  CHECK(__builtin_popcountll(kAarch64.perf_registers) == static_cast<int>(kAarch64.numbers.size()));
  std::vector<std::uint64_t> values(17);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 100 + i;
  const Registers x86 = registers_of(kX86_64, values);
  CHECK(x86.pc == 108);        // AX BX CX DX SI DI BP SP IP
  CHECK(x86.value[7] == 107);  // DWARF's number of the stack pointer
  CHECK(x86.value[6] == 106);
  CHECK(x86.value[3] == 101);  // BX
  CHECK(x86.value[8] == 109);
  CHECK(x86.value[15] == 116);
  CHECK(registers_of(kX86_64, std::span(values).first(3)).pc == 0);
}

TEST_CASE("address spaces: a new mapping takes the place of what it covers") {
  AddressSpace space;
  space.map({0x1000, 0x5000, 0x0, 1});
  space.map({0x2000, 0x3000, 0x9000, 2});
  REQUIRE((space.at(0x1fff) && space.at(0x2000) && space.at(0x3000)));
  CHECK(space.at(0x1fff)->image == 1);
  CHECK(space.at(0x2000)->image == 2);
  CHECK(space.at(0x3000)->image == 1);
  CHECK(space.at(0x3000)->file_offset == 0x2000);
  CHECK(space.at(0x5000) == nullptr);
  CHECK(space.at(0xfff) == nullptr);
  space.map({0x0, 0x6000, 0, 3});
  CHECK(space.at(0x2800)->image == 3);
  space.map({0x7000, 0x7000, 0, 4});
  CHECK(space.at(0x7000) == nullptr);
}

TEST_CASE("perf records: of any bytes, what is too short is left out") {
  std::mt19937 dice(5);
  SampledProcesses processes(own_machine() != nullptr ? *own_machine() : kX86_64, 1000);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<unsigned char> bytes(dice() % 300);
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(dice() % 4 == 0 ? dice() : 0);
    if (bytes.size() > 8)
      bytes[0] = static_cast<unsigned char>(std::array{1, 2, 3, 4, 7, 9, 10}[dice() % 7]), bytes[1] = bytes[2] = bytes[3] = 0;
    if (const auto record = record_of(bytes)) processes.take(*record);
  }
  CHECK(processes.samples() == 0);
}
