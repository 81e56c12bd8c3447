#include "exporters/report/html/html_table.h"

#include <fmt/core.h>

#include <cmath>

#include "exporters/report/figure_text.h"
#include "exporters/report/html/html_text.h"

namespace nl::exporters::html {
namespace {

constexpr std::size_t kLongName = 64;

Cell missing() { return {fmt::format("<span class=\"none\">{}</span>", kNoValue)}; }

std::string ns_tip(double ns) {
  const double whole = std::round(std::abs(ns));
  if (!(whole < 9e18)) return {};
  return (ns < 0 ? "-" : "") + count_text(static_cast<std::uint64_t>(whole)) + " ns";
}

}  // namespace

Cell text_cell(const std::string& plain) { return plain.empty() ? missing() : Cell(text(plain)); }

Cell name_cell(const std::string& name) {
  if (name.empty()) return {"(no name)"};
  const std::string brief = short_kernel_name(name);
  if (brief == name && name.size() <= kLongName) return {fmt::format("<code>{}</code>", text(name))};
  const std::string shown = text(cut(brief, kLongName)) + (brief.size() > kLongName ? "…" : "");
  return {fmt::format("<details class=\"name\"><summary><code>{}</code></summary><code>{}</code></details>", shown,
                      text(name))};
}

Cell time_cell(double ns) { return {time_text(ns), ns, ns_tip(ns)}; }
Cell time_cell(const std::optional<Ns>& ns) { return ns ? time_cell(static_cast<double>(*ns)) : missing(); }
Cell count_cell(std::uint64_t count) { return {count_text(count), static_cast<double>(count)}; }
Cell share_cell(const std::optional<double>& share) {
  return share ? Cell(text(share_text(share)), *share) : missing();
}
Cell figure_cell(const std::optional<double>& value, const char* unit) {
  return value ? Cell(figure_text(value, unit), *value) : missing();
}
Cell percent_cell(const std::optional<double>& percent) {
  return percent ? Cell(percent_text(percent), *percent) : missing();
}

Table::Table(std::string label, std::vector<Column> columns) : label_(std::move(label)), columns_(std::move(columns)) {}

Table& Table::sortable(bool filter) {
  sortable_ = true;
  filter_ = filter;
  return *this;
}

std::string Table::row(const std::vector<Cell>& cells) const {
  std::string out = "<tr>";
  for (std::size_t i = 0; i < cells.size() && i < columns_.size(); ++i) {
    const char* tag = i == 0 ? "th" : "td";
    out += fmt::format("<{}{}{}", tag, i == 0 ? " scope=\"row\"" : "", columns_[i].right ? " class=\"n\"" : "");
    if (cells[i].sort && sortable_ && std::isfinite(*cells[i].sort))
      out += fmt::format(" data-v=\"{}\"", *cells[i].sort);
    if (!cells[i].tip.empty()) out += attribute("title", cells[i].tip);
    out += fmt::format(">{}</{}>", cells[i].markup, tag);
  }
  return out + "</tr>\n";
}

void Table::add(const std::vector<Cell>& cells) { rows_ += row(cells); }
void Table::foot(const std::vector<Cell>& cells) { foot_ += row(cells); }

std::string Table::markup() const {
  std::string out = fmt::format("<div class=\"scroll\" role=\"region\" tabindex=\"0\"{}><table{}{}>\n<thead><tr>",
                                attribute("aria-label", label_), sortable_ ? " class=\"sortable\"" : "",
                                filter_ ? " data-filter" : "");
  for (const auto& column : columns_)
    out += fmt::format("<th scope=\"col\"{}>{}</th>", column.right ? " class=\"n\"" : "", text(column.title));
  out += "</tr></thead>\n<tbody>\n" + rows_ + "</tbody>\n";
  if (!foot_.empty()) out += "<tfoot>\n" + foot_ + "</tfoot>\n";
  return out + "</table></div>\n";
}

}  // namespace nl::exporters::html
