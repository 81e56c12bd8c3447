#include "exporters/detail/detail_json.h"
#include "exporters/report/html/html.h"
#include "exporters/report/page_data.h"
#include "exporters/report/reports.h"
#include "exporters/report/sections/sections.h"
#include "exporters/report/text/markdown.h"
#include "model/words.h"

namespace nl::exporters {
namespace {

report::Document report_document(const Run& run) {
  using namespace report;
  const std::string title = run.run_id.empty() ? run.name : run.run_id;
  Document out{title.empty() ? "Run" : title, std::string(key_of(run.status)), facts(run), overview(run)};
  for (const auto section :
       {summary, findings,  measurement, stages,  budgets, step_time, host_code, evidence,    timeline, activity,    efficiency,
        session, operators, layers,      kernels, api,     overhead,  energy,    abstentions, capture,  environment, import_stats})
    out.sections.push_back(section(run));
  return out;
}

}  // namespace

std::string report_markdown(const Run& run) { return markdown(report_document(run)); }

std::string report_html(const Run& run, const PageParts& parts) {
  const std::string detail = parts.detail.empty() ? detail_of_timeline(run) : parts.detail;
  return html::page(
      report_document(run), "nl-stage " + run.software.nl_stage_version + " · run.json has every figure of this page",
      {{"detail-data", "application/gzip", base64(detail)}, {"page-data", "application/json", page_data(run, parts.trace_file)}});
}

}  // namespace nl::exporters
