// What a person sees: on a terminal, and with names that were made to harm one.
#include <SQLiteCpp/SQLiteCpp.h>

#include <regex>
#include <sstream>

#include "tests/catch.h"
#include "tests/integration/harness.h"
#include "tests/integration/terminal.h"

using namespace nl::test;

namespace {

const std::string kShownCapture = (kFixtures / "h200-probe" / "probe_node.sqlite").string();
const std::string kHostileName = "\x1b[31mred\x1b[0m\x07 [click](https://evil.example) www.evil.example";

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    widest = std::max(widest, static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; })));
  return widest;
}

// A capture whose kernels and ranges all have that name.
std::string hostile_capture(const Scene& scene) {
  const fs::path file = scene.path / "hostile.sqlite";
  fs::copy_file(kShownCapture, file);
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
  SQLite::Statement rename(database,
                           "UPDATE StringIds SET value = ? || value WHERE id IN (SELECT demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL "
                           "UNION SELECT shortName FROM CUPTI_ACTIVITY_KIND_KERNEL)");
  rename.bind(1, kHostileName);
  rename.exec();
  return file.string();
}

void check_harmless(const std::string& text) {
  INFO(text);
  CHECK(text.find("\x1b[31mred") == std::string::npos);
  CHECK(text.find('\x07') == std::string::npos);
}

// Nothing in `code` is a link.
std::string without_code(const std::string& markdown) {
  std::string out;
  bool code = false;
  for (const char c : markdown) {
    if (c == '`') code = !code;
    else if (!code) out += c;
  }
  return out;
}

void check_no_link(const std::string& text) {
  check_harmless(text);
  const std::string markdown = without_code(text);
  CHECK(markdown.find("click") != std::string::npos);
  CHECK(markdown.find("[click](") == std::string::npos);
  CHECK(markdown.find("https://evil") == std::string::npos);
  CHECK(markdown.find("www.evil") == std::string::npos);
}

}  // namespace

TEST_CASE("terminal: stats prints tables that fit, and CSV to a pipe") {
  Scene scene;
  const std::string csv = scene.nl_stage({"stats", "-r", "cuda_gpu_kern_sum", kShownCapture}).out;
  CHECK(csv.starts_with("Time (%),"));
  for (const int columns : {70, 100, 200}) {
    const Outcome shown = scene.nl_stage_on_terminal({"stats", "-r", "cuda_gpu_kern_sum,nvtx_sum", kShownCapture}, columns);
    INFO(shown.out);
    CHECK(shown.status == 0);
    CHECK(shown.says("CUDA GPU Kernel Summary (cuda_gpu_kern_sum)"));
    CHECK(shown.says("Total Time (ns)"));
    CHECK((shown.says("not shown, the terminal is too narrow: ") == (columns < 150)));
    std::string tables;  // the note may be longer
    std::istringstream lines(shown.out);
    for (std::string line; std::getline(lines, line);)
      if (line.find("not shown") == std::string::npos) tables += line + "\n";
    CHECK(widest_line(tables) <= static_cast<std::size_t>(columns));
  }
  CHECK(scene.nl_stage_on_terminal({"stats", "-r", "cuda_gpu_kern_sum", "-f", "csv", kShownCapture}, 80).out ==
        csv);  // what is asked for wins
}

TEST_CASE("terminal: an import ends with the headline, the first finding and a link to its report; a pipe has no sequences") {
  Scene scene;
  const std::string report = (scene.bundle() / "report.html").string();
  const Outcome shown = scene.nl_stage_on_terminal({"import", kShownCapture, "--out", scene.bundle().string()}, 80);
  INFO(shown.out);
  CHECK(shown.status == 0);
  CHECK(shown.says("report: \x1b]8;;file://" + report + "\x1b\\" + report + "\x1b]8;;\x1b\\\n"));
  CHECK(shown.says("\x1b[32mcomplete\x1b[0m: "));
  const Outcome piped = scene.nl_stage({"import", kShownCapture, "--out", (scene.path / "again").string()});
  CHECK(piped.out.find('\x1b') == std::string::npos);
  CHECK(piped.says("report: " + (scene.path / "again/report.html").string() + "\n"));
  scene.env["NO_COLOR"] = "1";
  const Outcome plain = scene.nl_stage_on_terminal({"doctor"}, 80);
  CHECK(plain.out.find("\x1b[") == std::string::npos);
  scene.env["NO_COLOR"] = "";
  CHECK(scene.nl_stage_on_terminal({"doctor"}, 80).out.find("\x1b[32mok     \x1b[0m") != std::string::npos);
}

// Longer than the terminal may be a word alone behind its column: a path, which can be copied.
void check_wrapped(const std::string& text, std::size_t columns) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK((widest_line(line) <= columns || line.find(' ', line.rfind("  ") + 2) == std::string::npos));
  }
}

TEST_CASE("terminal: doctor breaks its lines to fit, below where they begin") {
  Scene scene;
  scene.env["NO_COLOR"] = "1";
  scene.env["PATH"] = "/usr/bin:/bin";
  const std::string whole = scene.nl_stage({"doctor"}).out;
  CHECK(widest_line(whole) > 60);  // a pipe has them whole
  for (const int columns : {40, 60, 80})
    check_wrapped(scene.nl_stage_on_terminal({"doctor"}, columns).out, static_cast<std::size_t>(columns));
}

// Lines of a table and a path alone may not be broken; everything else is, between words.
TEST_CASE("terminal: help, pages, ls and fingerprint fit 60 and 80 places") {
  Scene scene;
  scene.env["NO_COLOR"] = "1";
  scene.env["NL_STAGE_LEDGER"] = (scene.path / "ledger.db").string();
  REQUIRE(import(scene, {kShownCapture}).status == 0);
  const std::string bundle = scene.bundle().string();
  const std::vector<std::vector<std::string>> all = {{"--help"},
                                                     {"compare", "--help"},
                                                     {"help", "exit-status"},
                                                     {"explain", "tpot_ms"},
                                                     {"fingerprint", bundle},
                                                     {"fingerprint", bundle, "--to", bundle}};
  for (const std::size_t columns : {60, 80}) {
    for (const auto& words : all) check_wrapped(scene.nl_stage_on_terminal(words, static_cast<int>(columns)).out, columns);
    const Outcome runs = scene.nl_stage_on_terminal({"ls"}, static_cast<int>(columns));
    CHECK(runs.says("complete"));
    CHECK(runs.says("ms/token"));
    CHECK(widest_line(runs.out) <= columns);
  }
}

TEST_CASE("terminal: compare begins with its verdict and has tables that fit, ls too; a pipe gets Markdown") {
  Scene scene;
  scene.env["NO_COLOR"] = "1";
  scene.env["NL_STAGE_LEDGER"] = (scene.path / "ledger.db").string();
  REQUIRE(import(scene, {kShownCapture}).status == 0);
  const std::string bundle = scene.bundle().string();
  for (const int columns : {60, 80, 120}) {
    const Outcome shown = scene.nl_stage_on_terminal({"compare", bundle, "--to", bundle}, columns);
    INFO(shown.out);
    CHECK_FALSE(shown.says("| --- |"));
    CHECK(shown.out.find("\n\n# In short\n") < 20);
    check_wrapped(shown.out, static_cast<std::size_t>(columns));
    CHECK(widest_line(scene.nl_stage_on_terminal({"ls"}, columns).out) <= static_cast<std::size_t>(columns));
  }
  CHECK(scene.nl_stage({"compare", bundle, "--to", bundle}).out.starts_with("# Comparison"));
  CHECK(scene.nl_stage_on_terminal({"compare", bundle, "--to", bundle, "--markdown"}, 80).out.starts_with("# Comparison"));
}

TEST_CASE("terminal: a run says which pass it is in and how long it takes; what nsys says is in logs/ alone") {
  Scene scene;
  scene.use_standins();
  const Outcome shown = scene.nl_stage_on_terminal(light(scene, {"/bin/sh", "-c", "echo from the workload; sleep 2.3"}), 100);
  INFO(shown.out);
  CHECK(shown.status == 0);
  CHECK(shown.says("[1/2] nsys trace … 2 s"));
  CHECK(std::regex_search(shown.out, std::regex("\r\\[1/2\\] nsys trace: [0-9]+ s\n")));  // at least 2: how long, the machine decides
  CHECK(shown.says("from the workload"));
  CHECK_FALSE(shown.says("Generated:"));
  CHECK(scene.text(scene.bundle() / "logs/nsys.stdout.log").find("Generated:") != std::string::npos);
  fs::remove_all(scene.bundle());
  const Outcome told = scene.nl_stage(light(scene, {"/bin/true"}, {"-v"}));
  CHECK(told.says("Generated:"));
  CHECK_FALSE(told.says("[1/2]"));  // no terminal, no progress
}

TEST_CASE("hostile names: no verb hands a control character to a terminal") {
  Scene scene;
  const std::string capture = hostile_capture(scene);
  const Outcome imported = scene.nl_stage_on_terminal({"import", capture, "--name", "x", "--out", scene.bundle().string()}, 200);
  REQUIRE(imported.status == 0);
  CHECK(imported.says("\\u001b[31mred"));
  check_harmless(imported.out);
  const std::string bundle = scene.bundle().string();
  const std::vector<std::vector<std::string>> all = {{"stats", capture},
                                                     {"stats", "--json", capture},
                                                     {"stats", "-f", "csv", capture},
                                                     {"ls"},
                                                     {"ls", "--json"},
                                                     {"show", "last"},
                                                     {"show", "last", "--run-json"},
                                                     {"report", bundle, "--out", (scene.path / "again").string()},
                                                     {"compare", bundle, "--to", bundle},
                                                     {"compare", bundle, "--to", bundle, "--json"},
                                                     {"gate", bundle, "--list"},
                                                     {"fingerprint", bundle, "--kernels"},
                                                     {"nodes", bundle, bundle}};
  for (const auto& words : all) {
    INFO(words[0]);
    check_harmless(scene.nl_stage_on_terminal(words, 120).out);
  }
  const std::string csv = scene.nl_stage({"stats", "-r", "cuda_gpu_kern_sum", capture}).out;
  CHECK(csv.find("\x1b[31mred") != std::string::npos);  // a file has the bytes, as nsys writes them
}

TEST_CASE("hostile names: no Markdown has a link that a capture made") {
  Scene scene;
  REQUIRE(import(scene, {hostile_capture(scene)}).status == 0);
  for (const char* file : {"kernels.md", "report.md"}) {
    INFO(file);
    check_no_link(scene.text(scene.bundle() / file));
  }
  const std::string bundle = scene.bundle().string();
  check_no_link(scene.nl_stage({"compare", bundle, "--to", bundle, "--markdown"}).out);
}
