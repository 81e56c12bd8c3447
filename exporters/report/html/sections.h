#pragma once

#include <string>

#include "exporters/report/counter_text.h"
#include "model/run.h"

// The sections of report.html. Each returns markup, everything from the run escaped.
namespace nl::exporters::html {

// A section with its heading; the id is what the navigation leads to.
std::string section(const char* id, const char* title, const std::string& body);
std::string paragraph(const std::string& plain);  // escaped here; empty where there is nothing to say
std::string missing(const std::string& plain);    // why something is not there
std::string bullets(const std::vector<std::string>& plain);
std::string remark_markup(const Remark& remark);  // with the command that would mend it

// Which of the stage colours a stage has: "s-0" …
std::string stage_colour(const Run& run, const std::string& stage);

std::string overview(const Run& run);  // header, status, tiles, the summary in words
std::string findings(const Run& run);
std::string abstentions(const Run& run);
std::string stages(const Run& run);
std::string iterations(const Run& run);
std::string counters(const Run& run);  // a part of the stages
std::string budgets(const Run& run);
std::string timeline(const Run& run);
std::string activity(const Run& run);
std::string efficiency(const Run& run);
std::string roofline(const Run& run);
std::string operators(const Run& run);
std::string layers(const Run& run);
std::string kernels(const Run& run);
std::string perturbation(const Run& run);
std::string energy(const Run& run);
std::string capture(const Run& run);
std::string environment(const Run& run);
std::string import_stats(const Run& run);

}  // namespace nl::exporters::html
