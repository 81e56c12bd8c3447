#include "runs/gate/expectations.h"

#include "model/error.h"
#include "tests/catch.h"
#include "tests/unit/files.h"

// Files of expectations: how they are read, refused, and changed without losing what people wrote into them.
using namespace nl;
using namespace nl::runs;
using nl::test::has;

namespace {

const char* const kFile = R"yaml(# What the nightly build holds to.
version: 1
tolerance: 4 %   # clocks are locked
hardware:
  NVIDIA H200:  # the rack in the cellar
    # agreed on in May
    tpot_ms:
      expected: 4.26  # was 4.6
      tolerance: 0.2 ms
      provenance: {run: r1, commit: "abc", nl_stage: 1.0.0, captured_by: nsys, model: 'llama'}
    mfu:
      expected: 0.41
      provenance:
        captured_by: nsys
        run: r1
        commit: abc
        nl_stage: 1.0.0
        model: llama
  "NVIDIA L4":
    tokens_per_s: {expected: 12, provenance: {run: r0, commit: "", nl_stage: "", captured_by: "collector (CUPTI)", model: ""}}
)yaml";

ConfFile text_file(std::string_view text) { return {"perf.yaml", {}, text}; }

std::string wrong(const std::string& text) {
  const nl::test::Folder folder;
  try {
    read_expectations(file_on_disk(folder.file("perf.yaml", text)));
  } catch (const Error& error) {
    CHECK(error.kind == ErrorKind::kConfig);
    return error.message + " | " + error.where.substr(folder.path.string().size() + 1) + " | " + error.fix;
  }
  return "";
}

const std::string kHead = "version: 1\nhardware:\n  GPU:\n";
const std::string kFrom = "provenance: {captured_by: nsys}";

}  // namespace

TEST_CASE("expectations: a whole file") {
  const Expectations all = read_expectations(text_file(kFile));
  CHECK(all.tolerance == Tolerance{0.04, true});
  REQUIRE(all.hardware.size() == 2);
  const Expectation& tpot = *all.of("NVIDIA H200")->find("tpot_ms");
  CHECK(tpot.expected == 4.26);
  CHECK(tpot.tolerance == Tolerance{0.2, false});
  CHECK(tpot.from == ExpectationSource{"r1", "abc", "1.0.0", "nsys", "llama"});
  CHECK(tpot.line == 7);
  CHECK_FALSE(all.of("NVIDIA H200")->find("mfu")->tolerance);
  CHECK(all.of("NVIDIA L4")->find("tokens_per_s")->from.captured_by == "collector (CUPTI)");
  CHECK(read_expectations(text_file("version: 1\n")).hardware.empty());
}

TEST_CASE("expectations: what is written is read back") {
  const Expectations all = read_expectations(text_file(kFile));
  const std::string text = expectations_text(all);
  const Expectations again = read_expectations(text_file(text));
  CHECK(expectations_text(again) == text);
  CHECK(again.of("NVIDIA H200")->find("tpot_ms")->tolerance == Tolerance{0.2, false});
  CHECK(again.of("NVIDIA L4")->find("tokens_per_s")->from == all.of("NVIDIA L4")->find("tokens_per_s")->from);
}

TEST_CASE("expectations: names that YAML would take for something else survive") {
  Expectations odd;
  odd.hardware = {
      {"- a: \"b\" #c\n\xc3\xa9", {{"stage.a:b.median_ms", 1.5, Tolerance{0.031, true}, {"x: y", "#", "{", "nsys", "\\ \"q\""}}}},
      {"true", {{"kernel.fill~0a1b2c3d.median_us", 2, {}, {"", "", "", "unprofiled", ""}}}}};
  const Expectations again = read_expectations(text_file(expectations_text(odd)));
  REQUIRE(again.hardware.size() == 2);
  CHECK(again.hardware[0].hardware == odd.hardware[0].hardware);
  CHECK(again.hardware[0].list[0].from == odd.hardware[0].list[0].from);
  CHECK(again.hardware[0].list[0].tolerance->amount == Approx(0.031));
  CHECK(again.hardware[1].hardware == "true");
}

TEST_CASE("expectations: mistakes are named with their place") {
  CHECK(wrong("hardware: {}\n") == "this file has no 'version' | perf.yaml:1:1 | docs/gate.md shows a whole file");
  CHECK(has(wrong("version: 2\n"), "the version '2' is not known | perf.yaml:1:10 | this nl-stage reads version 1"));
  CHECK(has(wrong("version: 1\nhardwear: {}\n"),
            "unknown key 'hardwear' of a file of expectations | perf.yaml:2:1 | did you mean 'hardware'?"));
  CHECK(has(wrong("version: 1\ntolerance: 0.2 ms\n"), "'tolerance' cannot be '0.2 ms' | perf.yaml:2:12"));
  CHECK(has(wrong(kHead + "    tpot_sm: {expected: 1, " + kFrom + "}\n"),
            "there is no metric 'tpot_sm' | perf.yaml:4:5 | did you mean 'tpot_ms'?"));
  CHECK(has(wrong(kHead + "    tpot_ms: {" + kFrom + "}\n"), "tpot_ms has no 'expected'"));
  CHECK(has(wrong(kHead + "    tpot_ms: {expected: 1}\n"), "tpot_ms has no 'provenance'"));
  CHECK(has(wrong(kHead + "    tpot_ms: {expected: 1, provenance: {run: r}}\n"), "'provenance' has no 'captured_by'"));
  CHECK(has(wrong(kHead + "    tpot_ms: {expected: 1, tolerance: -1%, " + kFrom + "}\n"), "'tolerance' cannot be below zero"));
  CHECK(has(wrong(kHead + "    tpot_ms: {expected: 1, tolerance: 3, " + kFrom + "}\n"),
            "a share of the expected value, 5%, or in its unit: 0.2 ms"));
  CHECK(has(wrong(kHead + "    mfu: {expected: 1, tolerance: 3 ms, " + kFrom + "}\n"), "'tolerance' cannot be '3 ms'"));
  CHECK(has(wrong(kHead + "    - tpot_ms\n"), "'GPU' wants metrics"));
}

TEST_CASE("expectations: NaN and infinities are no expectation") {
  for (const char* number : {"nan", ".nan", "inf", "-inf", ".inf", "1e999", "four", "'4'", ""}) {
    INFO(number);
    CHECK(has(wrong(kHead + "    tpot_ms: {expected: " + number + ", " + kFrom + "}\n"), "'expected' wants a number"));
    CHECK_FALSE(wrong(kHead + "    tpot_ms: {expected: 1, tolerance: " + number + ", " + kFrom + "}\n").empty());
  }
}

TEST_CASE("expectations: two capture modes in one hardware are refused") {
  CHECK(
      has(wrong(kHead + "    tpot_ms: {expected: 1, " + kFrom + "}\n    mfu: {expected: 1, provenance: {captured_by: import (kineto)}}\n"),
          "the expectations of 'GPU' are of several capture modes: mfu is of 'import (kineto)' | perf.yaml:5:1"));
  CHECK(wrong(kHead + "    tpot_ms: {expected: 1, " + kFrom +
              "}\n    tpot_unprofiled_ms: {expected: 1, provenance: {captured_by: unprofiled}}\n")
            .empty());
}

TEST_CASE("expectations: an edit changes the values alone, and keeps comments, order and quotes") {
  const ConfFile file = text_file(kFile);
  Expectations wanted = read_expectations(file);
  Expectation& tpot = wanted.of("NVIDIA H200")->list[0];
  tpot.expected = 3.9;
  tpot.from = {"r2", "def", "1.1.0", "nsys", "llama"};
  std::string should = kFile;
  const auto swap = [&](const std::string& from, const std::string& to) { should.replace(should.find(from), from.size(), to); };
  swap("expected: 4.26", "expected: 3.9");
  swap("{run: r1, commit: \"abc\", nl_stage: 1.0.0,", "{run: r2, commit: \"def\", nl_stage: 1.1.0,");
  const EditedText edited = edited_text(file, wanted);
  CHECK(edited.kept);
  CHECK(edited.text == should);
  CHECK(edited_text(file, read_expectations(file)).text == kFile);
}

TEST_CASE("expectations: what was run is added to the provenance where it stands, and comments stay") {
  const ConfFile file = text_file(kFile);
  Expectations wanted = read_expectations(file);
  for (Expectation& each : wanted.of("NVIDIA H200")->list) {
    each.from.batch = "8";
    each.from.architecture = "llama";
  }
  const EditedText edited = edited_text(file, wanted);
  CHECK(edited.kept);
  CHECK(has(edited.text, "model: 'llama', architecture: \"llama\", batch: \"8\"}\n"));
  CHECK(has(edited.text, "        model: llama\n        architecture: \"llama\"\n        batch: \"8\"\n"));
  CHECK(has(edited.text, "# agreed on in May"));
  CHECK(read_expectations(text_file(edited.text)).of("NVIDIA H200")->list[1].from.batch == "8");
}

TEST_CASE("expectations: new metrics and hardware are added behind the others, in their order") {
  const ConfFile file = text_file(kFile);
  Expectations wanted = read_expectations(file);
  const ExpectationSource from = {"r2", "def", "1.1.0", "nsys", "llama"};
  wanted.of("NVIDIA H200")->list.push_back({"tpot_median_ms", 4, {}, from});
  wanted.of("NVIDIA H200")->list.push_back({"tpot_p99_ms", 5, {}, from});
  wanted.hardware.push_back({"NVIDIA T4", {{"mfu", 0.1, {}, from}}});
  const EditedText edited = edited_text(file, wanted);
  CHECK(edited.kept);
  CHECK(has(edited.text,
            "        model: llama\n    tpot_median_ms:\n      expected: 4\n      provenance: {run: \"r2\", commit: \"def\", nl_stage: "
            "\"1.1.0\", captured_by: "
            "\"nsys\", model: \"llama\"}\n    tpot_p99_ms:\n"));
  CHECK(edited.text.ends_with(
      "model: \"\"}}\n  NVIDIA T4:\n    mfu:\n      expected: 0.1\n      provenance: {run: \"r2\", commit: \"def\", nl_stage: \"1.1.0\", "
      "captured_by: \"nsys\", model: \"llama\"}\n"));
}

TEST_CASE("expectations: where an edit cannot be made in place, the whole is written anew") {
  for (const std::string text :
       {"version: 1\nhardware: {GPU: {tpot_ms: {expected: 1, provenance: {captured_by: nsys}}}} # all in one line\n",
        "version: 1\nhardware:\n  GPU:\n", "version: 1\n"}) {
    INFO(text);
    const ConfFile file = text_file(text);
    Expectations wanted;
    wanted.hardware = {{"GPU", {{"tpot_ms", 2, {}, {"r", "", "", "nsys", ""}}, {"mfu", 0.5, {}, {"r", "", "", "nsys", ""}}}}};
    const EditedText edited = edited_text(file, wanted);
    CHECK_FALSE(edited.kept);
    CHECK(edited.text == expectations_text(wanted));
  }
}
