#include "exporters/report/html/html.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "exporters/report/text/figure_text.h"
#include "exporters/report/text/run_text.h"
#include "model/words.h"

namespace nl::exporters {

// Embedded by tools/embed, with the digests that let this style and this script through the policy, and no other.
extern const std::string_view kReportCss, kReportCssDigest, kReportJs, kReportJsDigest;

namespace html {
namespace {

using namespace report;

constexpr std::size_t kLongName = 64;
constexpr std::size_t kTallTable = 14;  // rows: a longer one scrolls in its box, under a head that stays
constexpr std::size_t kWideTable = 12;  // columns: a wider one takes the room beside the text, too

// A kernel's: shortened, the whole of it unfolds.
std::string name_markup(const Span& span) {
  const std::string& name = span.text;
  if (name.empty()) return "(no name)";
  const std::string brief = span.brief.empty() ? readable_kernel_name(name) : span.brief;
  if (brief == name && name.size() <= kLongName) return fmt::format("<code>{}</code>", text(name));
  const std::string shown = text(cut(brief, kLongName)) + (brief.size() > kLongName ? "…" : "");
  return fmt::format("<details class=\"name\"><summary><code>{}</code></summary><code>{}</code></details>", shown, text(name));
}

// "81 %" stays on one line.
std::string unbroken(std::string markup) {
  for (std::size_t at = 1; at < markup.size(); ++at)
    if (markup[at] == '%' && markup[at - 1] == ' ') markup.replace(at - 1, 1, "&nbsp;");
  return markup;
}

std::string inlined(const Span& span) {
  std::string out;
  switch (span.style) {
    case Inline::kPlain: out = text(span.text); break;
    case Inline::kStrong: out = "<b>" + text(span.text) + "</b>"; break;
    case Inline::kCode: out = "<code>" + text(span.text) + "</code>"; break;
    case Inline::kMuted: out = "<span class=\"muted\">" + text(span.text) + "</span>"; break;
    case Inline::kName:
    case Inline::kShortName: out = name_markup(span); break;
  }
  return span.link.empty() ? out : fmt::format("<a{}>{}</a>", attribute("href", span.link), out);
}

std::string inlined(const Text& all) {
  std::string out;
  for (const auto& span : all.spans) out += inlined(span);
  return out;
}

std::string cell_markup(const Cell& cell) {
  if (cell.text.spans.size() == 1 && cell.text.spans[0].text == kNoValue) return fmt::format("<span class=\"none\">{}</span>", kNoValue);
  std::string out = cell.brief.empty() ? inlined(cell.text) : text(cell.brief);
  if (!cell.colour.empty()) out = fmt::format("<span class=\"key {}\"></span>{}", cell.colour, out);
  return cell.indent == 0 ? out : fmt::format("<span class=\"d{}\">{}</span>", std::min(cell.indent, 5u), out);
}

std::string cell_class(const Cell& cell, const Column& column) {
  std::string classes = column.align == kRight ? "n" : "";
  if (cell.shade > 0) classes += fmt::format("{}h{}", classes.empty() ? "" : " ", std::min(cell.shade, 4u));
  return classes.empty() ? classes : attribute("class", classes);
}

std::string row_markup(const Table& table, const Row& row) {
  std::string out = "<tr" + (row.id.empty() ? std::string() : attribute("id", row.id));
  for (const auto& [key, value] : row.data)
    if (!value.empty()) out += attribute(std::string("data-") + key, value);
  out += ">";
  for (std::size_t i = 0; i < row.size() && i < table.columns.size(); ++i) {
    const Cell& cell = row[i];
    const char* tag = i == 0 ? "th" : "td";
    out += fmt::format("<{}{}{}", tag, i == 0 ? " scope=\"row\"" : "", cell_class(cell, table.columns[i]));
    if (cell.value && table.sortable && std::isfinite(*cell.value)) out += fmt::format(" data-v=\"{}\"", *cell.value);
    if (!cell.tip.empty()) out += attribute("title", cell.tip);
    out += fmt::format(">{}</{}>", cell_markup(cell), tag);
  }
  return out + "</tr>\n";
}

struct BlockWriter {
  std::string operator()(const Paragraph& paragraph) const {
    static constexpr const char* kClasses[] = {"", " class=\"lead\"", " class=\"missing\"", " class=\"muted small\""};
    const std::string markup = inlined(paragraph.text);
    return fmt::format("<p{}>{}</p>\n", kClasses[static_cast<std::size_t>(paragraph.role)],
                       paragraph.role == Role::kLead ? unbroken(markup) : markup);
  }
  std::string operator()(const Heading& heading) const {
    return fmt::format("<h3{}>{}</h3>\n", heading.id.empty() ? "" : attribute("id", heading.id), text(heading.title));
  }
  std::string operator()(const List& list) const {
    std::string out = list.ordered ? "<ol>" : "<ul class=\"notes\">";
    for (const auto& item : list.items) out += "<li>" + inlined(item.text) + "</li>";
    return out + (list.ordered ? "</ol>\n" : "</ul>\n");
  }
  // In a box of its own that scrolls sideways, so that the page never does. The script makes its heads sortable.
  std::string operator()(const Table& table) const;
  std::string operator()(const Legend& legend) const {
    std::string out = "<ul class=\"legend\">";
    if (!legend.title.empty()) out += fmt::format("<li class=\"of\">{}</li>", text(legend.title));
    for (const auto& entry : legend.entries)
      out += fmt::format("<li><span class=\"key {}\"></span><b>{}</b> {}</li>", entry.colour, text(entry.name), text(entry.text));
    return out + "</ul>\n";
  }
  std::string operator()(const Tiles& tiles) const;
  std::string operator()(const Notice& notice) const;
  std::string operator()(const Card& card) const;
  std::string operator()(const Figure& figure) const {
    return std::visit([](const auto& chart) { return figure_markup(chart); }, figure);
  }
  std::string operator()(const Fold& fold) const {
    return fmt::format("<details data-print><summary>{}</summary>{}</details>\n", text(fold.title), blocks_markup(fold.blocks));
  }
};

std::string BlockWriter::operator()(const Table& table) const {
  std::string out =
      fmt::format("<div class=\"scroll{}{}\" role=\"region\" tabindex=\"0\"{}><table{}{}{}>\n<thead><tr>",
                  table.sortable && table.rows.size() > kTallTable ? " tall" : "", table.columns.size() > kWideTable ? " wide" : "",
                  attribute("aria-label", table.label), table.sortable ? " class=\"sortable\"" : "",
                  *table.name == 0 ? "" : attribute("data-table", table.name), table.filter ? " data-filter" : "");
  for (const auto& column : table.columns)
    out += fmt::format("<th scope=\"col\"{}{}{}{}>{}</th>", column.align == kRight ? " class=\"n\"" : "",
                       *column.key == 0 ? "" : attribute("data-key", column.key), column.hidden ? " data-hidden" : "",
                       column.sum ? " data-sum" : "", text(column.title));
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows)
    if (row.in_page) out += row_markup(table, row);
  out += "</tbody>\n";
  if (!table.foot.empty()) out += "<tfoot>\n";
  for (const auto& row : table.foot) out += row_markup(table, row);
  if (!table.foot.empty()) out += "</tfoot>\n";
  return out + "</table></div>\n";
}

std::string BlockWriter::operator()(const Tiles& tiles) const {
  std::string out = "<dl class=\"tiles\">\n";
  for (const auto& tile : tiles.tiles) {
    const bool known = tile.figure != kNoValue;
    out += fmt::format("<div class=\"tile\"><dt>{}</dt><dd><b{}>{}</b><span>{}</span></dd></div>\n", text(tile.title),
                       known ? "" : " class=\"none\"", text(tile.figure), known ? text(tile.detail) : kNotCaptured);
  }
  return out + "</dl>\n";
}

std::string BlockWriter::operator()(const Notice& notice) const {
  if (notice.items.empty() && notice.status == RunStatus::kComplete) return {};
  std::string out = fmt::format("<div class=\"problems {}\" role=\"note\"><p>{}.</p>", key_of(notice.status), inlined(notice.text));
  if (!notice.items.empty()) out += "<ul>";
  for (const auto& item : notice.items) out += "<li>" + inlined(item) + "</li>";
  return out + (notice.items.empty() ? "</div>\n" : "</ul></div>\n");
}

std::string evidence_markup(const Item& item) {
  static constexpr const char* kClasses[] = {"held", "held", "against", "unknown"};
  static constexpr const char* kWords[] = {"holds", "holds", "against it", "not captured"};
  const auto mark = static_cast<std::size_t>(item.mark);
  return fmt::format("<li class=\"{}\"><span class=\"sr\">{}: </span>{}</li>", kClasses[mark], kWords[mark], inlined(item.text));
}

std::string BlockWriter::operator()(const Card& card) const {
  const std::string_view severity = key_of(card.severity);
  std::string out = fmt::format(
      "<details class=\"card {0}\"{1}{2}><summary><span class=\"sev\">{0}</span> <span "
      "class=\"msg\">{3}</span></summary><div class=\"body\"><p class=\"meta\">{4}</p>",
      severity, attribute("id", card.id), card.open ? " open" : "", text(card.title), inlined(card.about));
  if (!card.gain.empty()) out += "<p class=\"gain\">" + inlined(card.gain) + "</p>";
  out += "<div class=\"two\">";
  if (!card.evidence.items.empty()) {
    out += "<div><h3>" + inlined(card.evidence_title) + "</h3><ul class=\"evidence\">";
    for (const auto& item : card.evidence.items) out += evidence_markup(item);
    out += "</ul></div>";
  }
  if (!card.fixes.items.empty()) out += "<div><h3>Fix</h3>" + (*this)(card.fixes) + "</div>";
  return out + "</div></div></details>\n";
}

// "'sha256-…'", or "'none'" where there is no script to let in.
std::string allowed_script(const PageScript& script) { return script.text.empty() ? "'none'" : fmt::format("'sha256-{}'", script.digest); }

std::string head(const report::Document& document, const PageScript& script) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{}'; script-src "
      "{}; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" "
      "content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n",
      kReportCssDigest, allowed_script(script), text(document.title), kReportCss);
}

std::string header(const report::Document& document) {
  std::string facts;
  for (const auto& fact : document.facts) facts += "<span>" + text(fact) + "</span>";
  return fmt::format("<header><h1>{0} <span class=\"pill {1}\">{1}</span></h1><p class=\"facts\">{2}</p></header>\n", text(document.title),
                     document.status, facts);
}

std::string section_markup(const report::Section& section, const std::string& body) {
  return fmt::format("<section id=\"{0}\" aria-labelledby=\"h-{0}\"><h2 id=\"h-{0}\">{1}</h2>\n{2}</section>\n", section.id,
                     text(section.title), body);
}

// Browsers run no block of such a type: the policy needs no exception for them.
std::string blocks_of(const std::vector<DataBlock>& data) {
  std::string out;
  for (const DataBlock& block : data)
    if (!block.text.empty()) out += fmt::format("<script type=\"{}\" id=\"{}\">{}</script>\n", block.type, block.id, block.text);
  return out;
}

constexpr std::string_view kNoScript =
    "<p class=\"missing\">This page has no script, because nl-stage was built without one (-Dreport_script=none). All tables are complete; "
    "they do not sort or filter, and the timeline is not drawn.</p>\n";

// Data serves the script alone, and is left out with it.
std::string script_markup(const PageScript& script, const std::vector<DataBlock>& data) {
  return script.text.empty() ? "" : fmt::format("{}<script>{}</script>\n", blocks_of(data), script.text);
}

}  // namespace

std::string blocks_markup(const Blocks& blocks) {
  std::string out;
  for (const auto& block : blocks) out += std::visit(BlockWriter(), block);
  return out;
}

std::string_view style() { return kReportCss; }

PageScript built_in_script() { return {kReportJs, kReportJsDigest}; }

std::string page(const report::Document& document, const std::string& footer, const std::vector<DataBlock>& data,
                 const PageScript& script) {
  std::string links, sections;
  for (const auto& section : document.sections) {
    const std::string body = blocks_markup(section.blocks);
    if (body.empty()) continue;
    links += fmt::format("<a href=\"#{}\">{}</a>", section.id, text(section.link));
    sections += section_markup(section, body);
  }
  return head(document, script) + "<body>\n<nav aria-label=\"Sections\"><div class=\"links\">" + links + "</div></nav>\n<main>\n" +
         header(document) + std::string(script.text.empty() ? kNoScript : "") + blocks_markup(document.lead) + sections +
         fmt::format("</main>\n<footer>{}</footer>\n{}</body>\n</html>\n", text(footer), script_markup(script, data));
}

}  // namespace html
}  // namespace nl::exporters
