#include "collector/counters/chosen_kernels.h"

#include <memory>
#include <set>

#include "tests/catch.h"
#include "tests/unit/files.h"

using nl::collector::ChosenKernels;

namespace {

using Axes = std::uint32_t[3];

std::unique_ptr<ChosenKernels> chosen(const std::string& names, unsigned in_place, unsigned replayed) {
  const nl::test::Folder folder;
  auto kernels = std::make_unique<ChosenKernels>();
  REQUIRE(kernels->read(folder.file("kernels.txt", names).c_str(), in_place, replayed));
  return kernels;
}

// "i" or "r": this launch was measured in place or replayed; "-": it was not.
char launch(ChosenKernels& kernels, ChosenKernels::Shape& shape) {
  ChosenKernels::Pass pass{};
  if (!kernels.wanted(shape, pass)) return '-';
  CHECK(pass == kernels.pass());
  kernels.measured(shape, pass);
  return pass == ChosenKernels::kInPlace ? 'i' : 'r';
}

}  // namespace

TEST_CASE("chosen kernels: the names of the file, a line each, without those that talk to other GPUs") {
  const auto kernels = chosen("gemm\r\n\nncclKernel\nadd\ngemm\nMyAllReduceKernel\nlast", 1, 0);
  for (const char* name : {"gemm", "add", "last"}) CHECK(kernels->named(name));
  for (const char* name : {"", "gem", "gemm2", "gemm\r", "ncclKernel", "MyAllReduceKernel"}) CHECK_FALSE(kernels->named(name));
  CHECK_FALSE(kernels->named(nullptr));
  const nl::test::Folder folder;
  CHECK_FALSE(std::make_unique<ChosenKernels>()->read(folder.file("empty.txt", "\n\nnccl\n").c_str(), 1, 1));
  CHECK_FALSE(std::make_unique<ChosenKernels>()->read((folder / "absent").c_str(), 1, 1));
  CHECK_FALSE(std::make_unique<ChosenKernels>()->read(nullptr, 1, 1));
}

TEST_CASE("chosen kernels: a shape is a name, grid, block and device, all of them") {
  const auto kernels = chosen("gemm\nadd\n", 3, 2);
  const Axes grid{1, 2, 3}, block{4, 5, 6};
  ChosenKernels::Shape* first = kernels->find("gemm", grid, block, 0);
  REQUIRE(first != nullptr);
  CHECK(std::string(first->name->data, first->name->length) == "gemm");
  CHECK((first->left[ChosenKernels::kInPlace] == 3 && first->left[ChosenKernels::kReplayed] == 2));
  CHECK(kernels->find("gemm", grid, block, 0) == first);
  CHECK(kernels->find("other", grid, block, 0) == nullptr);
  std::set<ChosenKernels::Shape*> shapes{first, kernels->find("add", grid, block, 0), kernels->find("gemm", grid, block, 1)};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    Axes changed_grid{1, 2, 3}, changed_block{4, 5, 6};
    changed_grid[axis] = changed_block[axis] = 9;
    shapes.insert(kernels->find("gemm", changed_grid, block, 0));
    shapes.insert(kernels->find("gemm", grid, changed_block, 0));
  }
  CHECK(shapes.size() == 9);
  CHECK(shapes.count(nullptr) == 0);
}

TEST_CASE("chosen kernels: there is room for 4,095 shapes, and those that are known stay known") {
  const auto kernels = chosen("gemm\n", 1, 0);
  const Axes block{32, 1, 1};
  std::set<ChosenKernels::Shape*> shapes;
  for (std::uint32_t x = 0; x < 4095; ++x) shapes.insert(kernels->find("gemm", {x, 1, 1}, block, 0));
  CHECK(shapes.size() == 4095);
  CHECK(shapes.count(nullptr) == 0);
  CHECK(kernels->find("gemm", {4095, 1, 1}, block, 0) == nullptr);
  CHECK(shapes.count(kernels->find("gemm", {17, 1, 1}, block, 0)) == 1);
}

TEST_CASE("chosen kernels: passes take turns, and change only where the one in hand finds nothing more") {
  const auto kernels = chosen("gemm\nadd\n", 2, 1);
  const Axes one{1, 1, 1};
  ChosenKernels::Shape &gemm = *kernels->find("gemm", one, one, 0), &add = *kernels->find("add", one, one, 0);
  std::string seen;
  for (int i = 0; i < 3; ++i) seen += launch(*kernels, gemm);  // its second one waits until it was replayed once
  seen += launch(*kernels, add);
  for (int i = 0; i < 6; ++i) seen += {launch(*kernels, gemm), launch(*kernels, add)};
  CHECK(seen == "i--i--rr--ii----");
  CHECK((gemm.left[0] == 0 && gemm.left[1] == 0 && add.left[0] == 0 && add.left[1] == 0));
  CHECK(kernels->pass() == ChosenKernels::kInPlace);
}

TEST_CASE("chosen kernels: where only one pass is asked for, it does not wait for the other") {
  const Axes one{1, 1, 1};
  const auto in_place = chosen("gemm\n", 2, 0), replayed = chosen("gemm\n", 0, 2);
  std::string seen;
  for (int i = 0; i < 4; ++i) seen += launch(*in_place, *in_place->find("gemm", one, one, 0));
  for (int i = 0; i < 5; ++i) seen += launch(*replayed, *replayed->find("gemm", one, one, 0));
  CHECK(seen == "ii---rr--");
}

TEST_CASE("chosen kernels: a shape that fails three times is left alone") {
  const auto kernels = chosen("gemm\n", 5, 5);
  const Axes one{1, 1, 1};
  ChosenKernels::Shape& shape = *kernels->find("gemm", one, one, 0);
  ChosenKernels::failed(shape);
  ChosenKernels::failed(shape);
  CHECK((shape.left[0] == 5 && shape.left[1] == 5));
  ChosenKernels::failed(shape);
  CHECK((shape.left[0] == 0 && shape.left[1] == 0));
  CHECK(launch(*kernels, shape) == '-');
}

TEST_CASE("string table: thousands of texts of any length are found again, by all of their bytes") {
  using nl::collector::hash_text;
  nl::collector::StringTable table;
  CHECK(table.find(hash_text("a", 1), "a", 1) == nullptr);
  const auto text_of = [](std::uint32_t i) { return std::string(i % 400, 'x') + std::to_string(i); };
  for (std::uint32_t i = 0; i < 3000; ++i) {
    const std::string text = text_of(i);
    const auto* added = table.add(hash_text(text.data(), text.size()), text.data(), text.size());
    REQUIRE(added != nullptr);
    REQUIRE(added->id == i + 1);
  }
  CHECK(table.size() == 3000);
  for (std::uint32_t i = 0; i < 3000; ++i) {
    const std::string text = text_of(i);
    const auto* found = table.find(hash_text(text.data(), text.size()), text.data(), text.size());
    REQUIRE(found == &table[i]);
    REQUIRE(std::string(found->data, found->length) == text);
  }
  // The hash alone is not enough, nor is the beginning.
  const std::string known = text_of(17), other = text_of(18);
  CHECK(table.find(hash_text(known.data(), known.size()), other.data(), other.size()) == nullptr);
  CHECK(table.find(hash_text(known.data(), known.size()), known.data(), known.size() - 1) == nullptr);
}
