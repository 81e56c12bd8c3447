#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "tests/catch.h"
#include "tests/integration/harness.h"

using namespace nl::test;

// The completions in the shells themselves.
namespace {

bool shell_is_installed(const std::string& shell) { return std::system(("command -v " + shell + " >/dev/null 2>&1").c_str()) == 0; }

// A folder with the completion of a shell and with files to complete.
struct Shell : Scene {
  std::string name;
  fs::path completion;

  explicit Shell(const std::string& shell) : name(shell), completion(path / ("completion." + shell)) {
    const Outcome outcome = nl_stage({"completion", shell});
    REQUIRE(outcome.status == 0);
    std::ofstream(completion) << outcome.out;
    std::ofstream(path / "my capture.sqlite") << "";
    fs::create_directories(path / "my folder");
  }

  // The lines that a script of the shell prints in that folder.
  std::vector<std::string> lines(const std::string& text) {
    const fs::path file = path / "answer";
    std::ofstream(path / "script") << text;
    const std::string command = "cd '" + path.string() + "' && " + name + " script >answer 2>&1";
    INFO(command);
    CHECK(std::system(command.c_str()) == 0);
    std::ifstream in(file);
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }
};

using Lines = std::vector<std::string>;

// What bash would propose for these words, the last of them unfinished.
Lines bash_proposes(Shell& bash, const std::string& words) {
  return bash.lines("source ./completion.bash\nCOMP_WORDS=(nl-stage " + words + ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_nl_stage\n" +
                    "for each in \"${COMPREPLY[@]}\"; do echo \"$each\"; done\n");
}

bool is_among(const Lines& lines, const std::string& line) { return std::find(lines.begin(), lines.end(), line) != lines.end(); }

}  // namespace

TEST_CASE("completion: bash proposes verbs, flags, choices, known names and files") {
  Shell bash("bash");
  CHECK(bash_proposes(bash, "imp") == Lines{"import", "import-bundle"});
  CHECK(bash_proposes(bash, "run --conf") == Lines{"--config"});
  CHECK(bash_proposes(bash, "--vers") == Lines{"--version"});
  CHECK(bash_proposes(bash, "stats -f t") == Lines{"table"});
  CHECK(bash_proposes(bash, "completion ''") == Lines{"bash", "zsh", "fish"});
  CHECK(bash_proposes(bash, "run --config l") == Lines{"light"});
  CHECK(bash_proposes(bash, "run --set run.top") == Lines{"run.top_n_kernels="});
  CHECK(bash_proposes(bash, "import --name x my") == Lines{"my capture.sqlite", "my folder"});
  CHECK(bash_proposes(bash, "import x.sqlite y.csv my") == Lines{"my capture.sqlite", "my folder"});
  CHECK(bash_proposes(bash, "run --out my") == Lines{"my folder"});
  CHECK(bash_proposes(bash, "help comple") == Lines{"completion"});
  CHECK(bash_proposes(bash, "doctor --json zzz").empty());
}

TEST_CASE("completion: bash splits a flag at its = and still completes the value") {
  Shell bash("bash");
  CHECK(bash_proposes(bash, "run --config = l") == Lines{"light"});
  CHECK(is_among(bash_proposes(bash, "run --config ="), "deep"));
  CHECK(bash_proposes(bash, "run --config = light --na") == Lines{"--name"});
}

TEST_CASE("completion: bash knows verbs of verbs, and leaves the workload's words to the workload") {
  Shell bash("bash");
  CHECK(is_among(bash_proposes(bash, "fingerprint se"), "search"));
  CHECK(bash_proposes(bash, "fingerprint search --cou") == Lines{"--count"});
  CHECK(is_among(bash_proposes(bash, "run --name x bas"), "bash"));
  CHECK(bash_proposes(bash, "run --name x cat --conf").empty());
  CHECK(bash_proposes(bash, "run -- cat my") == Lines{"my capture.sqlite", "my folder"});
}

TEST_CASE("completion: zsh proposes the same") {
  if (!shell_is_installed("zsh")) NL_SKIP("no zsh here");
  Shell zsh("zsh");
  CHECK(zsh.lines("zsh -n completion.zsh").empty());
  // The functions of zsh's completion are replaced by one that prints what it is given.
  const auto given = [&zsh](const std::string& call) {
    return zsh.lines("compdef() { }\n_arguments() { print -rl -- \"$@\"; }\nwords=(nl-stage)\nCURRENT=2\nsource ./completion.zsh\n" + call +
                     "\n");
  };
  CHECK(is_among(given("_nl-stage_stats"),
                 "(-f --format)--format[csv (byte for byte as nsys 2025.3), json or table; default\\: table on a terminal, else "
                 "csv]:TEXT:(table csv json)"));
  CHECK(is_among(given("_nl-stage_run"), "--out[folder of the bundle, new or empty; default\\: a new one in artifacts.dir]:DIR:_files -/"));
  CHECK(is_among(given("_nl-stage_run"), "*::command:_normal"));
  CHECK(is_among(given("words=(fingerprint search --c); CURRENT=3; _nl-stage_fingerprint"), "(-n --count)--count[print so many]:UINT: "));
}

TEST_CASE("completion: fish proposes the same") {
  if (!shell_is_installed("fish")) NL_SKIP("no fish here");
  Shell fish("fish");
  fish.env["HOME"] = fish.path.string();
  const auto proposes = [&fish](const std::string& line) {
    // "--format\tcsv, json or table": the word and its description
    return fish.lines("source completion.fish\ncomplete -C '" + line + "' | string replace -r '\\t.*' ''; true\n");
  };
  CHECK(proposes("nl-stage imp") == Lines{"import", "import-bundle"});
  CHECK(proposes("nl-stage stats -f t") == Lines{"table"});
  CHECK(is_among(proposes("nl-stage run --config l"), "light"));
  CHECK(proposes("nl-stage run --out my") == Lines{"my folder/"});
  CHECK(is_among(proposes("nl-stage import my"), "my capture.sqlite"));
  CHECK(proposes("nl-stage fingerprint search --cou") == Lines{"--count"});
}

TEST_CASE("manual: every verb has a page, and man(1) formats them without a warning") {
  if (!shell_is_installed("man")) NL_SKIP("no man here");
  Scene scene;
  const fs::path pages = scene.path / "pages";
  REQUIRE(scene.nl_stage({"manual", pages.string()}).status == 0);
  for (const std::string name : {"nl-stage", "nl-stage-run", "nl-stage-fingerprint-search"}) {
    const fs::path page = pages / (name + ".1"), warnings = scene.path / "warnings";
    REQUIRE(fs::exists(page));
    CHECK(std::system(("LC_ALL=C.UTF-8 MANROFFSEQ= man --warnings -E UTF-8 -l -Tutf8 -Z '" + page.string() + "' 2>'" + warnings.string() +
                       "' >/dev/null")
                          .c_str()) == 0);
    CHECK(scene.text(warnings) == "");
  }
  CHECK(std::distance(fs::directory_iterator(pages), {}) > 25);
}
