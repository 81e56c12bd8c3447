#include "runs/trial/trial.h"

#include <chrono>
#include <cmath>
#include <cstdint>

#include "tests/catch.h"
#include "tests/unit/files.h"

using namespace nl::runs;

namespace {

std::vector<RoundOutput> printed(std::vector<std::string> texts) {
  std::vector<RoundOutput> rounds;
  for (std::string& text : texts) rounds.push_back({std::move(text)});
  return rounds;
}

// A .npy of NumPy's format 1.0.
template <class Stored = float>
std::string npy_of(const std::vector<Stored>& values, const std::string& type = "<f4") {
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + std::to_string(values.size()) + ",), }";
  header.resize(117, ' ');
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += {static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  out += header;
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Stored));
  return out;
}

}  // namespace

TEST_CASE("trial outputs: lines that a side prints differently each time are left out") {
  const OutputAgreement agreement = compare_outputs(printed({"tokens 5 7\ntook 1.31 s\n", "tokens 5 7\ntook 1.29 s\n"}),
                                                    printed({"tokens 5 7\ntook 1.01 s\n", "tokens 5 7\ntook 1.00 s\n"}), {0});
  CHECK(agreement.verdict == OutputVerdict::kSame);
  CHECK(agreement.lines == 1);
  CHECK(agreement.varying == 1);
}

TEST_CASE("trial outputs: what the sides say differently is shown with its line") {
  const OutputAgreement agreement = compare_outputs(printed({"a\ntokens 5 7\n"}), printed({"a\ntokens 5 8\n"}), {0});
  CHECK(agreement.verdict == OutputVerdict::kDifferent);
  CHECK(agreement.first_difference == "line 2: A prints \"tokens 5 7\", B \"tokens 5 8\"");
  CHECK(compare_outputs(printed({"a\nb\n"}), printed({"a\n"}), {0}).first_difference == "line 2: A prints \"b\", B nothing");
}

TEST_CASE("trial outputs: numbers in lines may differ by the tolerance, words not") {
  const auto verdict = [](const char* a, const char* b, OutputTolerance tolerance) {
    return compare_outputs(printed({a}), printed({b}), tolerance).verdict;
  };
  CHECK(verdict("checksum=0.1234500\n", "checksum=0.1234501\n", {1e-5}) == OutputVerdict::kWithinTolerance);
  CHECK(verdict("checksum=0.1234500\n", "checksum=0.1234501\n", {}) == OutputVerdict::kDifferent);
  CHECK(verdict("loss 0.001, 5 tokens\n", "loss 0.002, 5 tokens\n", {0, 0.002}) == OutputVerdict::kWithinTolerance);
  CHECK(verdict("loss 0.001\n", "loss 0.009\n", {0, 0.002}) == OutputVerdict::kDifferent);
  CHECK(verdict("loss 1\n", "cost 1\n", {1, 1}) == OutputVerdict::kDifferent);
  CHECK(verdict("loss 1\n", "loss nan\n", {1, 1}) == OutputVerdict::kDifferent);
  CHECK(verdict("1 2\n", "1\n", {1, 1}) == OutputVerdict::kDifferent);
}

TEST_CASE("trial outputs: a file that is older than the run was written by another one") {
  const nl::test::Folder folder;
  folder.file("old.txt", "x");
  const auto began = std::filesystem::file_time_type::clock::now() + std::chrono::hours(1);
  folder.file("new.txt", "y");
  std::filesystem::last_write_time(folder / "new.txt", began + std::chrono::seconds(1));
  keep_outputs(folder / "bundle", folder.path, {"old.txt", "new.txt"}, began);
  const RoundOutput kept = kept_output(folder / "bundle", {"old.txt", "new.txt"});
  CHECK(kept.files == std::vector<std::filesystem::path>{{}, folder / "bundle" / "outputs" / "new.txt"});
}

TEST_CASE("trial outputs: nothing printed is nothing compared") {
  CHECK(compare_outputs(printed({""}), printed({""}), {0}).verdict == OutputVerdict::kNotCompared);
  CHECK(compare_outputs({}, {}, {0}).verdict == OutputVerdict::kNotCompared);
}

TEST_CASE("trial outputs: numbers of arrays may differ by the tolerance, other files not at all") {
  const nl::test::Folder folder;
  const auto a = folder.file("a.npy", npy_of<float>({1.0f, 2.0f})), b = folder.file("b.npy", npy_of<float>({1.0f, 2.002f}));
  const auto with = [](const std::filesystem::path& file) { return std::vector<RoundOutput>{{"", {file}}}; };
  CHECK(compare_outputs(with(a), with(a), {0}).verdict == OutputVerdict::kSame);
  CHECK(compare_outputs(with(a), with(b), {0.01}).verdict == OutputVerdict::kWithinTolerance);
  CHECK(compare_outputs(with(a), with(b), {0.0001}).first_difference == "a.npy: numbers differ by up to 0.001 of their value");
  const auto text_a = folder.file("a.txt", "1.0"), text_b = folder.file("b.txt", "1.1");
  CHECK(compare_outputs(with(text_a), with(text_b), {0.5}).first_difference == "a.txt: the contents differ");
  CHECK(compare_outputs(with(a), with({}), {0}).first_difference == "a.npy: written by A alone");
}

TEST_CASE("trial outputs: an array with a NaN is different from one without") {
  const nl::test::Folder folder;
  const auto a = folder.file("a.npy", npy_of<float>({1.0f})),
             b = folder.file("b.npy", npy_of<float>({std::numeric_limits<float>::quiet_NaN()}));
  CHECK(compare_outputs({{"", {a}}}, {{"", {b}}}, {1e9}).verdict == OutputVerdict::kDifferent);
}

TEST_CASE("trial outputs: floats of every precision are compared by their numbers") {
  const nl::test::Folder folder;
  const auto same_as = [&](const std::string& of_a, const std::string& of_b, OutputTolerance tolerance) {
    const auto a = folder.file("a.npy", of_a), b = folder.file("b.npy", of_b);
    return compare_outputs({{"", {a}}}, {{"", {b}}}, tolerance);
  };
  using Halves = std::vector<std::uint16_t>;
  const std::string half = npy_of(Halves{0x3c00, 0xc000, 0x0001, 0x7bff}, "<f2");  // 1, -2, 2^-24, 65504
  CHECK(same_as(half, npy_of<float>({1.0f, -2.0f, 0x1p-24f, 65504.0f}), {}).verdict == OutputVerdict::kWithinTolerance);
  CHECK(same_as(half, npy_of(Halves{0x3c01, 0xc000, 0x0001, 0x7bff}, "<f2"), {1e-3}).verdict == OutputVerdict::kWithinTolerance);
  CHECK(same_as(half, npy_of(Halves{0x3c01, 0xc000, 0x0001, 0x7bff}, "<f2"), {1e-4}).first_difference ==
        "a.npy: numbers differ by up to 0.00098 of their value");
  CHECK(same_as(npy_of(Halves{0x3f80, 0xc049}, "<V2"), npy_of<double>({1.0, -3.140625}, "<f8"), {}).verdict ==
        OutputVerdict::kWithinTolerance);
  CHECK(same_as(npy_of(Halves{0x7e00}, "<f2"), npy_of<float>({1.0f}), {1e9}).verdict == OutputVerdict::kDifferent);  // not a number
  CHECK(same_as(npy_of<float>({1.0f}), npy_of<std::int32_t>({1}, "<i4"), {1}).verdict == OutputVerdict::kDifferent);
}

TEST_CASE("trial outputs: a mask of minus infinity on both sides is the same") {
  const nl::test::Folder folder;
  const auto a = folder.file("a.npy", npy_of<float>({-HUGE_VALF, 1.0f})), b = folder.file("b.npy", npy_of<float>({-HUGE_VALF, 1.0001f}));
  CHECK(compare_outputs({{"", {a}}}, {{"", {b}}}, {1e-3}).verdict == OutputVerdict::kWithinTolerance);
}

TEST_CASE("trial: looks come at growing distances, the last after the last round") {
  CHECK(looks_of(20) == std::vector<int>{5, 8, 12, 18, 20});
  CHECK(looks_of(5) == std::vector<int>{5});
  CHECK(looks_of(3) == std::vector<int>{3});
}
