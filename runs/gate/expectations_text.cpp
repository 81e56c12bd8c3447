#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "model/error.h"
#include "orchestrator/config/yaml_file.h"
#include "runs/gate/expectations.h"

namespace nl::runs {
namespace {

using Lines = std::vector<std::string>;

std::string yaml_quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text)
    if (c == '"' || c == '\\') out += '\\', out += c;
    else if (static_cast<unsigned char>(c) < 0x20) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else out += c;
  return out + "\"";
}

std::string key_text(const std::string& key) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.~/+- ";
  const bool plain =
      !key.empty() && std::isalnum(static_cast<unsigned char>(key.front())) && key.find_first_not_of(kPlain) == std::string::npos;
  return plain && key.back() != ' ' ? key : yaml_quoted(key);
}

std::string number_text(double value) { return fmt::format("{:.6g}", value); }

std::string tolerance_text(const Tolerance& tolerance, std::string_view unit) {
  if (tolerance.relative) return number_text(tolerance.amount * 100) + "%";
  return fmt::format("{}{}{}", number_text(tolerance.amount), unit.empty() ? "" : " ", unit);
}

std::vector<std::pair<std::string, std::string>> source_entries(const ExpectationSource& from) {
  std::vector<std::pair<std::string, std::string>> entries = {
      {"run", from.run}, {"commit", from.commit}, {"nl_stage", from.nl_stage}, {"captured_by", from.captured_by}, {"model", from.model}};
  for (const WorkloadFact& fact : kWorkloadFacts)
    if (!(from.*fact.value).empty()) entries.emplace_back(std::string(fact.key()), from.*fact.value);
  return entries;
}

Lines lines_of(const Expectation& expectation, std::size_t indent) {
  const std::string outer(indent, ' '), inner(indent + 2, ' ');
  Lines out = {fmt::format("{}{}:", outer, key_text(expectation.metric)),
               fmt::format("{}expected: {}", inner, number_text(expectation.expected))};
  if (expectation.tolerance)
    out.push_back(
        fmt::format("{}tolerance: {}", inner, tolerance_text(*expectation.tolerance, key_of(find_metric(expectation.metric)->unit))));
  Lines source;
  for (const auto& [key, value] : source_entries(expectation.from)) source.push_back(fmt::format("{}: {}", key, yaml_quoted(value)));
  out.push_back(fmt::format("{}provenance: {{{}}}", inner, fmt::join(source, ", ")));
  return out;
}

Lines lines_of(const HardwareExpectations& hardware, std::size_t indent) {
  Lines out = {fmt::format("{}{}:", std::string(indent, ' '), key_text(hardware.hardware))};
  for (const Expectation& each : hardware.list)
    for (std::string& line : lines_of(each, indent + 2)) out.push_back(std::move(line));
  return out;
}

const YamlTree* value_of(const YamlTree& map, const std::string& key) {
  const auto found = std::find_if(map.entries.begin(), map.entries.end(), [&](const auto& entry) { return entry.first.name == key; });
  return found != map.entries.end() ? &found->second : nullptr;
}

int last_line(const YamlTree& tree) {
  int last = tree.place.line;
  for (const auto& [key, value] : tree.entries) last = std::max({last, key.place.line, last_line(value)});
  for (const YamlTree& item : tree.items) last = std::max(last, last_line(item));
  return last;
}

// Changes single values of a text, by their places, and adds lines. Whether the result says what was wanted is for others to check.
class TextEditor {
 public:
  explicit TextEditor(const std::string& text) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines_.push_back(line);
  }

  void replace(const YamlTree& value, const std::string& text) {
    if (value.text != text && value.kind == YamlTree::Kind::kScalar)
      edits_.push_back({value.place.line, value.place.column, value.text, {text}});
  }
  // Another entry of its map: behind it on its line where that is written in braces, else below it.
  void add_entry(const YamlTree& map, const std::string& key, const std::string& text) {
    const std::string entry = fmt::format("{}: {}", key, yaml_quoted(text));
    const auto& [last_key, last_value] = map.entries.back();
    const std::string& line = lines_.at(static_cast<std::size_t>(map.place.line) - 1);
    const auto column = static_cast<std::size_t>(map.place.column - 1);
    if (column < line.size() && line[column] == '{')
      edits_.push_back({last_value.place.line, last_value.place.column, last_value.text, {", " + entry}, true});
    else add_after(last_line(map), {std::string(static_cast<std::size_t>(last_key.place.column - 1), ' ') + entry});
  }
  void add_after(int line, Lines lines) { edits_.push_back({line, 0, {}, std::move(lines)}); }

  // From the end to the beginning, so that places stay true, and what was added first behind a line stays first.
  std::string result() {
    std::stable_sort(edits_.begin(), edits_.end(),
                     [](const Edit& a, const Edit& b) { return std::pair(a.line, a.column) < std::pair(b.line, b.column); });
    for (auto edit = edits_.rbegin(); edit != edits_.rend(); ++edit) apply(*edit);
    return fmt::format("{}\n", fmt::join(lines_, "\n"));
  }

 private:
  struct Edit {
    int line, column;  // from 1; column 0: lines behind this one
    std::string old_text;
    Lines lines;
    bool behind = false;  // the value stays
  };

  void apply(const Edit& edit) {
    const auto at = std::min(static_cast<std::size_t>(edit.line), lines_.size());
    if (edit.column == 0) {
      lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(at), edit.lines.begin(), edit.lines.end());
      return;
    }
    std::string& line = lines_[at - 1];
    const auto begin = std::min(static_cast<std::size_t>(edit.column - 1), line.size());
    const bool in_quotes = begin < line.size() && (line[begin] == '"' || line[begin] == '\'');
    const std::size_t end = in_quotes ? line.find(line[begin], begin + 1) : begin + edit.old_text.size() - 1;
    if (end < line.size() && edit.behind) line.insert(end + 1, edit.lines.front());
    else if (end < line.size()) line.replace(begin, end - begin + 1, in_quotes ? yaml_quoted(edit.lines.front()) : edit.lines.front());
  }

  Lines lines_;
  std::vector<Edit> edits_;
};

void edit_expectation(TextEditor& editor, const YamlTree& map, const Expectation& wanted) {
  if (const YamlTree* expected = value_of(map, "expected")) editor.replace(*expected, number_text(wanted.expected));
  const YamlTree* provenance = value_of(map, "provenance");
  if (provenance == nullptr) return;
  for (const auto& [key, text] : source_entries(wanted.from)) {
    if (const YamlTree* value = value_of(*provenance, key)) editor.replace(*value, text);
    else if (!provenance->entries.empty()) editor.add_entry(*provenance, key, text);
  }
}

void edit_hardware(TextEditor& editor, const YamlTree& map, const HardwareExpectations& wanted, const HardwareExpectations* before) {
  for (const Expectation& each : wanted.list) {
    const YamlTree* found = value_of(map, each.metric);
    if (found == nullptr) {
      if (!map.entries.empty())
        editor.add_after(last_line(map), lines_of(each, static_cast<std::size_t>(map.entries.front().first.place.column - 1)));
      continue;
    }
    const Expectation* old = before->find(each.metric);
    if (old->expected != each.expected || old->from != each.from) edit_expectation(editor, *found, each);
  }
}

bool same(const Expectation& a, const Expectation& b) {
  return a.metric == b.metric && a.expected == b.expected && a.tolerance == b.tolerance && a.from == b.from;
}

// In whatever order.
bool same(const Expectations& a, const Expectations& b) {
  if (!(a.tolerance == b.tolerance) || a.hardware.size() != b.hardware.size()) return false;
  return std::all_of(a.hardware.begin(), a.hardware.end(), [&](const HardwareExpectations& each) {
    const HardwareExpectations* other = b.of(each.hardware);
    return other != nullptr && std::is_permutation(each.list.begin(), each.list.end(), other->list.begin(), other->list.end(),
                                                   [](const auto& left, const auto& right) { return same(left, right); });
  });
}

bool reads_as(const std::string& text, const Expectations& wanted) {
  try {
    return same(read_expectations({"expectations", {}, text}), wanted);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::string expectations_text(const Expectations& expectations) {
  Lines lines = {fmt::format("version: {}", kExpectationsVersion), "tolerance: " + tolerance_text(expectations.tolerance, ""), "hardware:"};
  for (const HardwareExpectations& hardware : expectations.hardware)
    for (std::string& line : lines_of(hardware, 2)) lines.push_back(std::move(line));
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

EditedText edited_text(const ConfFile& file, const Expectations& wanted) {
  const Expectations before = read_expectations(file);
  const YamlTree tree = read_yaml_file(file);
  TextEditor editor(file.text());
  const YamlTree* hardware = value_of(tree, "hardware");
  for (const HardwareExpectations& each : wanted.hardware) {
    const YamlTree* found = hardware ? value_of(*hardware, each.hardware) : nullptr;
    if (found != nullptr) edit_hardware(editor, *found, each, before.of(each.hardware));
    else if (hardware != nullptr && !hardware->entries.empty())
      editor.add_after(last_line(*hardware), lines_of(each, static_cast<std::size_t>(hardware->entries.front().first.place.column - 1)));
  }
  std::string text = editor.result();
  if (reads_as(text, wanted)) return {std::move(text), true};
  return {expectations_text(wanted), false};
}

}  // namespace nl::runs
