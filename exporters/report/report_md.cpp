#include "exporters/report/report_md.h"

#include "exporters/report/markdown.h"
#include "exporters/report/md/sections.h"

namespace nl::exporters {

std::string report_markdown(const Run& run) {
  using namespace report_md;
  const std::string title = run.run_id.empty() ? run.name : run.run_id;
  return "# " + (title.empty() ? std::string("Run") : markdown_text(title)) + "\n\n" + problems(run) + findings(run) +
         stages(run) + budgets(run) + phases(run) + finding_details(run) + efficiency(run) + roofline(run) + operators(run) + layers(run) +
         kernels(run) + coverage(run) + perturbation(run) + energy(run) + abstentions(run) + capture(run) +
         environment(run) + import_stats(run);
}

}  // namespace nl::exporters
