#include <fmt/core.h>

#include <string_view>

#include "exporters/report/html/html.h"
#include "exporters/report/html/html_text.h"

namespace nl::exporters {

// Embedded by tools/embed, with the digests that let this style and this script through the policy, and no other.
extern const std::string_view kReportCss, kReportCssDigest, kReportJs, kReportJsDigest;

namespace html {
namespace {

std::string head(const report::Document& document) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{}'; script-src "
      "'sha256-{}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" "
      "content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n",
      kReportCssDigest, kReportJsDigest, text(document.title), kReportCss);
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

}  // namespace

std::string page(const report::Document& document, const std::string& footer, const std::vector<DataBlock>& data) {
  std::string links, sections;
  for (const auto& section : document.sections) {
    const std::string body = blocks_markup(section.blocks);
    if (body.empty()) continue;
    links += fmt::format("<a href=\"#{}\">{}</a>", section.id, text(section.link));
    sections += section_markup(section, body);
  }
  return head(document) + "<body>\n<nav aria-label=\"Sections\"><div class=\"links\">" + links + "</div></nav>\n<main>\n" +
         header(document) + blocks_markup(document.lead) + sections +
         fmt::format("</main>\n<footer>{}</footer>\n{}<script>{}</script>\n</body>\n</html>\n", text(footer), blocks_of(data), kReportJs);
}

}  // namespace html
}  // namespace nl::exporters
