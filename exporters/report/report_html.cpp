#include "exporters/report/report_html.h"

#include <fmt/core.h>

#include <string_view>

#include "exporters/report/html/html_text.h"
#include "exporters/report/html/sections.h"

namespace nl::exporters {

// Embedded by tools/embed, with the digests that let this style and this script through the policy, and no other.
extern const std::string_view kReportCss, kReportCssDigest, kReportJs, kReportJsDigest;

namespace {

struct Part {
  const char* id;
  const char* title;
  std::string (*render)(const Run&);
};

constexpr Part kParts[] = {
    {"findings", "Findings", html::findings},
    {"stages", "Stages", html::stages},
    {"budget", "Budget", html::budgets},
    {"timeline", "Timeline", html::timeline},
    {"activity", "Activity", html::activity},
    {"efficiency", "Limits", html::efficiency},
    {"operators", "Operators", html::operators},
    {"layers", "Layers", html::layers},
    {"kernels", "Kernels", html::kernels},
    {"perturbation", "Profilers' cost", html::perturbation},
    {"energy", "Energy", html::energy},
    {"abstentions", "Not judged", html::abstentions},
    {"capture", "Capture", html::capture},
    {"environment", "Environment", html::environment},
    {"import", "Import", html::import_stats},
};

std::string head(const Run& run) {
  const std::string title = run.run_id.empty() ? run.name : run.run_id;
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{}'; script-src "
      "'sha256-{}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" "
      "content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n",
      kReportCssDigest, kReportJsDigest, title.empty() ? "Run" : html::text(title), kReportCss);
}

}  // namespace

std::string report_html(const Run& run) {
  std::string links = "<a href=\"#summary\">Summary</a>", body;
  for (const auto& part : kParts) {
    const std::string markup = part.render(run);
    if (markup.empty()) continue;
    links += fmt::format("<a href=\"#{}\">{}</a>", part.id, html::text(part.title));
    body += markup;
  }
  return head(run) + "<body>\n<nav aria-label=\"Sections\"><div class=\"links\">" + links + "</div></nav>\n<main>\n" +
         html::overview(run) + body +
         fmt::format(
             "</main>\n<footer>nl-stage {} · run.json has every figure of this "
             "page</footer>\n<script>{}</script>\n</body>\n</html>\n",
             html::text(run.software.nl_stage_version), kReportJs);
}

}  // namespace nl::exporters
