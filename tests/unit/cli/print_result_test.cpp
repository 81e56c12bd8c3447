#include "cli/print_result.h"

#include <nlohmann/json.hpp>

#include "exporters/report/sections/executive_summary.h"
#include "model/words.h"
#include "tests/catch.h"
#include "tests/unit/cli/captured_output.h"
#include "tests/unit/files.h"

namespace {

nl::StageEntry stage(const std::string& name, std::uint64_t count, nl::Ns total_ns, std::optional<nl::Ns> gpu_busy_ns) {
  nl::StageEntry out;
  out.name = name;
  out.wall.count = count;
  out.wall.total_ns = total_ns;
  out.wall.mean_ns = static_cast<double>(total_ns) / static_cast<double>(count);
  out.gpu_busy_ns = gpu_busy_ns;
  return out;
}

nl::KernelEntry kernel(const std::string& name, const std::string& short_name, nl::Ns total_ns, double share) {
  nl::KernelEntry out;
  out.name = name;
  out.short_name = short_name;
  out.time.count = 3;
  out.time.total_ns = total_ns;
  out.gpu_share = share;
  return out;
}

nl::Finding finding(nl::Severity severity, const std::string& message) {
  nl::Finding out;
  out.severity = severity;
  out.message = message;
  return out;
}

nl::orchestrator::RunResult result() {
  nl::orchestrator::RunResult out;
  out.bundle = "runs/one";
  out.run.run_id = "20250101-120000-llama-deep";
  out.run.status = nl::RunStatus::kPartial;
  out.run.stages = {stage("prefill", 2, 3'000'000, 1'250'000), stage("a stage with a name of 29 ch", 1, 500'000, std::nullopt)};
  out.run.kernels = {{kernel("void gemm<4>(T1)", "gemm", 2'500'000, 0.625), kernel("reduce", "", 1'500'000, 0.375)}};
  out.run.kernels->front().ncu.emplace_back();
  out.run.findings = {finding(nl::Severity::kHigh, "first"), finding(nl::Severity::kLow, "second"), finding(nl::Severity::kInfo, "third"),
                      finding(nl::Severity::kInfo, "fourth"), finding(nl::Severity::kInfo, "fifth")};
  out.run.findings[0].gain_share = 0.25;
  out.run.provenance.adaptations = {{nl::Code::kNote, {"ncu was left out"}}};
  out.failure = nl::ErrorKind::kTimeout;
  return out;
}

struct Printed {
  int status = -1;
  std::string out, err;
};

Printed print(const nl::orchestrator::RunResult& result, bool json = false) {
  nl::test::CapturedOutput captured;
  Printed printed;
  printed.status = nl::cli::print_result(result, json);
  printed.out = captured.out();
  printed.err = captured.err();
  return printed;
}

nl::Problem problem(nl::Severity severity, const std::string& what, const std::string& where, const std::string& fix) {
  // Any code of this severity is enough.
  for (int i = 0;; ++i)
    if (const auto code = static_cast<nl::Code>(i); nl::words_of(code).severity == severity) return {code, what, where, fix};
}

}  // namespace

TEST_CASE("print_result: stages, kernels, findings, notes and the bundle, with their units") {
  const Printed printed = print(result());
  CHECK(printed.status == 7);
  CHECK(printed.err == "");
  CHECK(printed.out == R"(
stage                         count  total ms  mean ms  GPU work ms
prefill                           2     3.000    1.500        1.250
a stage with a name of 29 ch      1     0.500    0.500            -

kernel  calls  total ms  share  ncu
gemm        3     2.500  62.5%  yes
reduce      3     1.500  37.5%    -

note: ncu was left out

)" + nl::exporters::report::executive_summary(result().run).front() +
                           R"(
high    first Saves at most 25.0 %.
low     second
        and 3 more in the report

partial: runs/one
)");
}

TEST_CASE("print_result: what is predicted is said with its range") {
  nl::orchestrator::RunResult predicted = result();
  nl::Prediction& prediction = predicted.run.findings[0].prediction.emplace();
  prediction.stage = "prefill";
  prediction.unperturbed_ns = 2e6;
  prediction.predicted_ns = 1.22e6;
  prediction.low_ns = 1.1e6;
  prediction.high_ns = 1.38e6;
  CHECK(nl::test::has(print(predicted).out, "high    first Predicted to save 39 % of each prefill (31 to 45 %).\n"));
  prediction.refused = nl::NoPrediction::kPartial;
  CHECK(nl::test::has(print(predicted).out, "high    first Saves at most 25.0 %.\n"));
}

TEST_CASE("print_result: no more than five stages and five kernels, and a long name is cut at the width of the table") {
  nl::orchestrator::RunResult many = result();
  many.run.stages.clear();
  many.run.kernels->clear();
  for (const char digit : {'0', '1', '2', '3', '4', '5'}) {
    many.run.stages.push_back(stage(std::string(23, 's') + digit, 1, 1, 1));
    many.run.kernels->push_back(kernel(std::string(200, 'k') + digit, digit == '1' ? std::string(60, 'n') : "", 1, 0));
  }
  const std::string out = print(many).out;
  CHECK(out.find(std::string(23, 's') + "4 ") != std::string::npos);
  CHECK(out.find(std::string(23, 's') + "5 ") == std::string::npos);
  CHECK(out.find(std::string(60, 'n') + " ") != std::string::npos);
  CHECK(out.find(std::string(70, 'k') + "…  ") != std::string::npos);
  CHECK(out.find(std::string(71, 'k')) == std::string::npos);
}

TEST_CASE("print_result: what asks for no change is in the report, and kernels that were not captured say why") {
  nl::orchestrator::RunResult few = result();
  few.run.findings.resize(3);
  few.run.kernels.reset();
  few.run.kernels_note = nl::Remark{nl::Code::kNote, {"no GPU"}};
  const std::string out = print(few).out;
  CHECK(out.find("low     second\n        and 1 more in the report\n\npartial:") != std::string::npos);
  CHECK(out.find("\nkernels: not captured. no GPU\n") != std::string::npos);
}

TEST_CASE("print_result: problems go to standard error, each in up to three lines") {
  nl::orchestrator::RunResult failed = result();
  failed.run.problems = {problem(nl::Severity::kHigh, "nsys was killed", "pass nsys", "run it again"),
                         problem(nl::Severity::kInfo, "no power", "", "")};
  CHECK(print(failed).err == "error: nsys was killed\nwhere: pass nsys\nfix:   run it again\nnote:  no power\n");
}

TEST_CASE("print_result: JSON has the status, the bundle and every problem with its code") {
  nl::orchestrator::RunResult failed = result();
  failed.interrupt_signal = 15;
  failed.run.problems = {problem(nl::Severity::kHigh, "what it is", "where it is", "how to fix it")};
  const Printed printed = print(failed, true);
  CHECK(printed.status == 143);
  const auto json = nlohmann::ordered_json::parse(printed.out);
  const nlohmann::ordered_json expected = {{"run_id", "20250101-120000-llama-deep"},
                                           {"bundle", "runs/one"},
                                           {"status", "partial"},
                                           {"exit_status", 143},
                                           {"ledger", nullptr},
                                           {"problems", nlohmann::ordered_json::array({{{"code", nl::key_of(failed.run.problems[0].code)},
                                                                                        {"what", "what it is"},
                                                                                        {"where", "where it is"},
                                                                                        {"fix", "how to fix it"}}})}};
  for (const auto& [key, value] : expected.items()) CHECK(json[key] == value);
  CHECK(json["summary"] == nlohmann::ordered_json(nl::exporters::report::executive_summary(failed.run)));
  CHECK(json["findings"].size() == 5);
}

TEST_CASE("print_result: the ledger is named once, and a failed record is a note that changes no status") {
  nl::orchestrator::RunResult recorded = result();
  recorded.ledger.location = "/data/ledger.sqlite";
  const Printed printed = print(recorded);
  CHECK(printed.out.ends_with("runs/one\nledger: 20250101-120000-llama-deep (/data/ledger.sqlite)\n"));
  CHECK(nlohmann::json::parse(print(recorded, true).out)["ledger"] == "/data/ledger.sqlite");
  recorded.ledger = {"", nl::Error(nl::ErrorKind::kOutput, "the disk is full", "/data/ledger.sqlite", "free some space")};
  const Printed failed = print(recorded);
  CHECK(failed.err == "note:  The run is not in the ledger: the disk is full\nwhere: /data/ledger.sqlite\nfix:   free some space\n");
  CHECK(failed.status == printed.status);
  CHECK_FALSE(failed.out.find("ledger:") != std::string::npos);
}

TEST_CASE("print_result: a control character in a name is printed as what it is, also into a file") {
  nl::orchestrator::RunResult hostile = result();
  hostile.run.kernels = {{kernel("\x1b[31mred\x1b[0m", "", 1, 1)}};
  hostile.run.findings[0].message = "the kernel \x1b]0;title\x07 is slow";
  hostile.run.problems = {problem(nl::Severity::kHigh, "\x1b[2J", "", "")};
  const Printed printed = print(hostile);
  CHECK(printed.out.find("\\u001b[31mred\\u001b[0m ") != std::string::npos);
  CHECK(printed.out.find("the kernel \\u001b]0;title\\u0007 is slow") != std::string::npos);
  CHECK(printed.err == "error: \\u001b[2J\n");
}

TEST_CASE("print_failure: three lines on stderr, with JSON an object on stdout, too") {
  const nl::Error error(nl::ErrorKind::kTool, "nsys is gone", "", "install it");
  nl::test::CapturedOutput plain;
  CHECK(nl::cli::print_failure(error, false) == 4);
  CHECK(plain.out() == "");
  CHECK(plain.err() == "error: nsys is gone\nfix:   install it\n");
  nl::test::CapturedOutput both;
  CHECK(nl::cli::print_failure(error, true) == 4);
  CHECK(
      nlohmann::json::parse(both.out()) ==
      nlohmann::json{
          {"error",
           {{"kind", "tool"}, {"code", "tool"}, {"what", "nsys is gone"}, {"where", nullptr}, {"fix", "install it"}, {"exit_status", 4}}}});
  CHECK(both.err() == "error: nsys is gone\nfix:   install it\n");
}

TEST_CASE("print_error: what, where and fix, each on a line of its own, and none that is empty") {
  nl::test::CapturedOutput captured;
  nl::cli::print_error({nl::ErrorKind::kInput, "no such file", "a.sqlite", "give another"});
  nl::cli::print_error({nl::ErrorKind::kInput, "no more"});
  CHECK(captured.err() == "error: no such file\nwhere: a.sqlite\nfix:   give another\nerror: no more\n");
  CHECK(captured.out() == "");
}
