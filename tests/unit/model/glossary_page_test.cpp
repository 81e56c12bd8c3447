#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "model/glossary.h"
#include "tests/catch.h"
#include "tests/unit/golden.h"

// Makes docs/glossary.md of the table of terms, and fails where that is stale. tools/golden writes it anew.
namespace {

struct GroupText {
  nl::GlossaryGroup group;
  const char* title;
  const char* about;  // may be empty
};

constexpr GroupText kGroups[] = {
    {nl::GlossaryGroup::kWorkload, "The workload", ""},
    {nl::GlossaryGroup::kBudget, "The budget",
     "The budget of a stage splits the wall time of its measured windows. Each instant is in exactly one bin. "
     "[stages.md](stages.md#the-budget) has the rule for each."},
    {nl::GlossaryGroup::kGpuWork, "GPU work", ""},
    {nl::GlossaryGroup::kCounters, "Counters", "What the hardware counts. ncu and CUPTI name the same counters alike."},
    {nl::GlossaryGroup::kEfficiency, "Efficiency", "[efficiency.md](efficiency.md) has every term of FLOPs and bytes."},
    {nl::GlossaryGroup::kTables, "Columns of tables", ""},
    {nl::GlossaryGroup::kMeasuring, "Measuring", ""},
    {nl::GlossaryGroup::kConclusions, "Conclusions", ""},
};
static_assert(std::size(kGroups) == static_cast<std::size_t>(nl::GlossaryGroup::kCount_));

std::string or_dash(std::string_view text) { return text.empty() ? "–" : std::string(text); }

// Other names, keys as code: `ttft_ms`, Time to first token.
std::string names_text(std::string_view names) {
  std::string out;
  while (!names.empty()) {
    const std::size_t end = std::min(names.find('|'), names.size());
    const std::string name(names.substr(0, end));
    out += (out.empty() ? "" : ", ") + (name.find('_') != std::string::npos ? "`" + name + "`" : name);
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return out;
}

std::string row(const nl::GlossaryEntry& entry) {
  const std::string names = names_text(entry.names);
  return fmt::format("| {} | {}{} | {} | {} | {} |\n", entry.term, entry.sentence, names.empty() ? "" : " (also: " + names + ")",
                     or_dash(entry.unit), or_dash(entry.source), or_dash(entry.formula));
}

// Written as it is: the texts are ours, and have links and code of their own.
std::string glossary_page() {
  std::string out =
      "# Glossary\n\nEach term once, with its unit, what it comes from and its formula. The command line, run.json, the reports and these "
      "pages use the\n"
      "same words. This page is made of model/glossary_table.cpp, as the texts are that report.html shows beside its terms: `tools/golden` "
      "writes it.\n";
  for (const GroupText& group : kGroups) {
    out += fmt::format("\n## {}\n\n{}{}", group.title, group.about, *group.about != '\0' ? "\n\n" : "");
    out += "| term | meaning | unit | source | formula |\n| --- | --- | --- | --- | --- |\n";
    for (const nl::GlossaryEntry& entry : nl::glossary())
      if (entry.group == group.group) out += row(entry);
  }
  return out;
}

}  // namespace

TEST_CASE("docs/glossary.md is what the table of terms makes of it", "[golden]") {
  nl::test::check_golden(NL_SOURCE_ROOT "/docs/glossary.md", glossary_page());
}
