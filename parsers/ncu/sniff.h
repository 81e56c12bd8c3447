#pragma once

#include "parsers/file_head.h"

namespace nl::parsers::ncu {

// `ncu --csv`: the header of its table, behind whatever ncu and the program printed before it; or, where ncu profiled no
// kernel, its ==PROF== lines alone.
bool is_csv(const FileHead& head);
// REPORT.ncu-rep
bool is_report(const FileHead& head);

}  // namespace nl::parsers::ncu
