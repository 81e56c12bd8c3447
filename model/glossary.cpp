#include "model/glossary.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace nl {
namespace {

bool same_letters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

bool goes_by(const GlossaryEntry& entry, std::string_view name) {
  if (same_letters(entry.term, name)) return true;
  for (std::string_view rest = entry.names; !rest.empty();) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    if (same_letters(rest.substr(0, end), name)) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

}  // namespace

const GlossaryEntry* glossary_entry(std::string_view name) {
  const auto table = glossary();
  const auto found = std::find_if(table.begin(), table.end(), [&](const GlossaryEntry& entry) { return goes_by(entry, name); });
  return found != table.end() ? &*found : nullptr;
}

std::string glossary_text(const GlossaryEntry& entry) {
  std::string out(entry.sentence);
  if (!out.empty()) out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  out += '.';
  if (!entry.formula.empty()) out += fmt::format(" Formula: {}.", entry.formula);
  if (!entry.unit.empty()) out += fmt::format(" Unit: {}.", entry.unit);
  if (!entry.source.empty()) out += fmt::format(" From: {}.", entry.source);
  return out;
}

}  // namespace nl
