#include <string>
#include <vector>

#include "exporters/report/html/html.h"
#include "exporters/report/sections/sections.h"
#include "exporters/report/text/markdown.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/files.h"

// The list of findings, their cards, and what could not be judged.
using namespace nl;
using namespace nl::exporters::report;
using nl::test::count;
using nl::test::has;

namespace {

std::string section_text(const Section& section) { return nl::exporters::markdown({"T", "", {}, {}, {section}}); }

Run run_with_findings(std::size_t count) {
  Run run;
  for (std::size_t i = 1; i <= count; ++i) {
    Finding& finding = run.findings.emplace_back();
    finding.rule = "rule" + std::to_string(i);
    finding.message = "finding " + std::to_string(i);
    finding.severity = Severity::kLow;
  }
  return run;
}

Card card_of(const Run& run, std::size_t number) { return std::get<Card>(evidence(run).blocks.at(number - 1)); }

}  // namespace

TEST_CASE("findings: a text lists twenty, a page two hundred, and the rest is counted") {
  const auto in_text = [](const std::string& text) { return count(text, "| low |"); };
  CHECK(in_text(section_text(findings(run_with_findings(20)))) == 20);
  CHECK_FALSE(has(section_text(findings(run_with_findings(20))), "more finding"));
  const std::string more = section_text(findings(run_with_findings(22)));
  CHECK(in_text(more) == 20);
  CHECK(has(more, "\n2 more findings in run.json, worth less.\n"));
  const auto page = [](const Run& run) { return nl::exporters::html::blocks_markup(findings(run).blocks); };
  CHECK(count(page(run_with_findings(200)), "<td>low</td>") == 200);
  CHECK_FALSE(has(page(run_with_findings(200)), "<tfoot>"));
  CHECK(count(page(run_with_findings(201)), "<td>low</td>") == 200);
  CHECK(has(page(run_with_findings(201)), "1 more finding in run.json, worth less."));
  CHECK(evidence(run_with_findings(201)).blocks.size() == 200);
}

TEST_CASE("findings: those of one cause are one line of a page, whose numbers lead to the others; a text has them all") {
  Run run = run_with_findings(4);
  for (const std::size_t part : {1, 3}) {
    run.findings[part].cause = run.findings[0].cause = "launches";
    run.findings[part].same_cause_as = "rule1";
    run.findings[part].part_of = "/findings/0";
  }
  const std::string page = nl::exporters::html::blocks_markup(findings(run).blocks);
  CHECK(has(page, "Same cause: </span><a href=\"#finding-2\">2</a><span class=\"muted\">, </span><a href=\"#finding-4\">4</a>"));
  CHECK(count(page, "<td>low</td>") == 2);
  CHECK_FALSE(has(page, "finding 2"));
  CHECK(has(section_text(findings(run)), "| 2 | low | finding 2 (part of 1) |"));
}

TEST_CASE("findings: the first five cards are open, unless they ask for nothing; twenty stand in a text") {
  Run run = run_with_findings(21);
  run.findings[1].severity = Severity::kInfo;
  for (const std::size_t number : {1, 3, 5}) CHECK(card_of(run, number).open);
  for (const std::size_t number : {2, 6, 21}) CHECK_FALSE(card_of(run, number).open);
  CHECK(card_of(run, 20).in_text);
  CHECK_FALSE(card_of(run, 21).in_text);
  CHECK(card_of(run, 21).id == "finding-21");
  CHECK(has(nl::exporters::html::blocks_markup(findings(run).blocks), "<a href=\"#finding-21\">21</a>"));
}

TEST_CASE("findings: a part of another is closed, and what its whole advises is said there") {
  Run run = run_with_findings(3);
  for (const std::size_t part : {1, 2}) {
    run.findings[part].cause = run.findings[0].cause = "launches";
    run.findings[part].same_cause_as = "rule1";
    run.findings[part].part_of = "/findings/0";
  }
  run.findings[0].suggestions = {"use graphs", "compile"};
  run.findings[1].suggestions = {"compile", "use graphs"};
  run.findings[2].suggestions = {"compile", "wait less"};
  CHECK(card_of(run, 1).open);
  CHECK_FALSE(card_of(run, 2).open);
  CHECK(card_of(run, 1).fixes.items.size() == 2);
  CHECK(has(section_text(evidence(run)), "\n1. As of finding 1.\n"));
  CHECK(has(section_text(evidence(run)), "\n1. wait less\n2. Also those of finding 1.\n"));
  CHECK(card_of(run, 2).fixes.items.at(0).text.spans.at(1).link == "#finding-1");
}

TEST_CASE("findings: evidence that shares its window says it once") {
  Run run = run_with_findings(1);
  run.timeline = nl::Timeline{.start_ns = 0, .end_ns = 3'000'000'000, .what = "", .names = {}, .lanes = {{}}};
  auto& all = run.findings[0].evidence;
  all.resize(2);
  for (FindingEvidence& each : all) {
    each.text = "waits";
    each.window_start_ns = 1'000'000'000;
    each.window_end_ns = 2'500'000'000;
  }
  const Text title = card_of(run, 1).evidence_title;
  REQUIRE(title.spans.size() == 2);
  CHECK(title.spans[0].text + title.spans[1].text == "Evidence, in 1.000000000–2.500000000 s of the capture");
  CHECK(title.spans[1].link == "#t=1000000000,2500000000");
  CHECK(has(section_text(evidence(run)), "\n- waits\n- waits\n"));
  all[1].window_end_ns = 2'000'000'000;
  CHECK(card_of(run, 1).evidence_title.spans.at(0).text == "Evidence");
  CHECK(has(section_text(evidence(run)),
            "\n- waits (1.000000000–2.500000000 s of the capture)\n- waits (1.000000000–2.000000000 s of the capture)\n"));
  all[1].window_end_ns.reset();
  all[1].reference = "/stages/0";
  CHECK(has(section_text(evidence(run)), "s of the capture)\n- waits (run.json `/stages/0`)\n"));
  all[1].window_end_ns = 2'000'000'000;
  CHECK(has(section_text(evidence(run)), "\n- waits (run.json `/stages/0`; 1.000000000–2.000000000 s of the capture)\n"));
}

TEST_CASE("findings: what is gained, what that assumes, or why nothing is known of it") {
  Run run = run_with_findings(1);
  Finding& finding = run.findings[0];
  CHECK_FALSE(has(section_text(evidence(run)), "Gain:"));
  finding.gain_note = "the waiting goes away";
  CHECK(has(section_text(evidence(run)), "\nGain: the waiting goes away.\n"));
  finding.gain_share = 0.125;
  CHECK(has(section_text(evidence(run)), "\nGain: **saves at most 12.5 % of the measured time**; the waiting goes away.\n"));
  finding.gain_note.clear();
  finding.gain_per_window_ns = 1500;
  finding.gain_unprofiled = true;
  CHECK(has(section_text(evidence(run)), "\nGain: **saves at most 12.5 % of the measured time, 1.50 µs per window unprofiled**.\n"));
  finding.gain_share.reset();
  CHECK_FALSE(has(section_text(evidence(run)), "Gain:"));
  finding.gain_ns = 3000;
  CHECK(has(section_text(evidence(run)), "\nGain: **saves at most 3.00 µs, 1.50 µs per window unprofiled**.\n"));
}

TEST_CASE("findings: a prediction takes the place of the bound, with its range and how to make it again") {
  Run run = run_with_findings(2);
  Finding& finding = run.findings[0];
  finding.gain_ns = 3e6;
  finding.gain_share = run.findings[1].gain_share = 0.39;
  CHECK(has(section_text(findings(run)), "| Saves at most |"));
  CHECK(has(section_text(findings(run)), "| finding 1 | 39.0 % |"));
  finding.prediction = nl::test::graph_prediction("decode_step");
  CHECK(has(
      section_text(evidence(run)),
      "\nGain: **predicted to save 57 % of each decode_step (47 to 64 %): 1.548 ms instead of 3.600 ms**. To predict it again: nl-stage "
      "whatif RUN --graph decode_step\n"));
  const std::string list = section_text(findings(run));
  CHECK(has(list, "| Saves |"));
  CHECK(has(list, "| finding 1 | about 39.0 % |"));
  CHECK(has(list, "| finding 2 | at most 39.0 % |"));
  CHECK(has(nl::exporters::html::blocks_markup(evidence(run).blocks),
            "<span class=\"muted\"> To predict it again: nl-stage whatif RUN --graph decode_step</span>"));
  finding.prediction->ceiling = true;
  CHECK(has(section_text(findings(run)), "| finding 1 | at most 39.0 % |"));
  finding.prediction->refused = NoPrediction::kNoStacks;
  CHECK(has(section_text(evidence(run)), "\nGain: **saves at most 3.000 ms, 39.0 % of the measured time**.\n"));
  CHECK(has(section_text(findings(run)), "| finding 1 | 39.0 % |"));
}

TEST_CASE("findings: one with the cause of another names the nearest before it that leads") {
  Run run = run_with_findings(5);
  run.findings[0].rule = run.findings[1].rule = run.findings[2].rule = "launches";
  run.findings[2].same_cause_as = "launches";
  run.findings[3].same_cause_as = "launches";
  run.findings[4].same_cause_as = "nothing of these";
  const std::string text = section_text(findings(run));
  CHECK(has(text, "| 3 | low | finding 3 (part of 2) |"));
  CHECK(has(text, "| 4 | low | finding 4 (part of 2) |"));
  CHECK(has(text, "| 5 | low | finding 5 |"));
  CHECK(has(text, "| 1 | low | finding 1 |"));
}

TEST_CASE("findings: a part names its whole, which the file points to") {
  Run run = run_with_findings(4);
  run.findings[0].rule = run.findings[2].rule = "launches";  // of two stages: the rule alone would not tell which
  run.findings[1].part_of = "/findings/0";
  run.findings[3].part_of = "/findings/2";
  run.findings[1].same_cause_as = run.findings[3].same_cause_as = "launches";
  const std::string text = section_text(findings(run));
  CHECK(has(text, "| 2 | low | finding 2 (part of 1) |"));
  CHECK(has(text, "| 4 | low | finding 4 (part of 3) |"));
  CHECK(has(section_text(evidence(run)), "(part of 3)"));
  run.findings[3].part_of = "/findings/9";
  CHECK_FALSE(has(section_text(findings(run)), "finding 4 (part"));
}

TEST_CASE("findings: those about the measurement have a table without savings") {
  Run run = run_with_findings(2);
  run.findings[1].about = RuleAbout::kMeasurement;
  CHECK(has(section_text(measurement(run)), "|  | Severity | Finding |\n| ---: | --- | --- |\n| 2 | low | finding 2 |\n"));
  CHECK_FALSE(has(section_text(findings(run)), "finding 2"));
  run.findings.erase(run.findings.begin());
  CHECK(has(section_text(findings(run)), "No rule asks for a change of the workload."));
  CHECK(measurement(Run()).blocks.empty());
  run.findings.clear();
  run.abstentions.resize(1);
  CHECK(has(section_text(findings(run)), "No findings. 1 rule needs data that the capture lacks; see “Not judged”."));
  run.abstentions.resize(2);
  CHECK(has(section_text(findings(run)), "No findings. 2 rules need data that the capture lacks; see “Not judged”."));
}

TEST_CASE("not judged: rules that lack the same share a line, each named once") {
  Run run;
  const auto add = [&](const char* rule, const char* missing, const char* why, const char* command) {
    Abstention& each = run.abstentions.emplace_back();
    each.rule = rule;
    each.missing = {missing, "more"};
    each.why = why;
    each.command = command;
  };
  add("z", "a.b", "needs clocks", "run deep");
  add("a", "a.b", "", "");
  add("y", "c.d", "needs clocks", "run deep");
  add("z", "c.d", "needs clocks", "run deep");
  add("y", "c.d", "needs clocks", "run cupti");
  CHECK(has(section_text(abstentions(run)),
            "| --- | --- | --- |\n| needs clocks | `run deep` | z, y |\n| a.b, more | — | a |\n| needs clocks | `run cupti` | y |\n"));
  CHECK(abstentions(Run()).blocks.empty());
}
