#include <fmt/core.h>

#include <string_view>

#include "exporters/report/html/html.h"

namespace nl::exporters {

// Embedded by tools/embed, with the digests that let this style and this script through the policy, and no other.
extern const std::string_view kReportCss, kReportCssDigest, kReportJs, kReportJsDigest;

namespace html {
namespace {

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
