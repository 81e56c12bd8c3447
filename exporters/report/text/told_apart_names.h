#pragma once

#include <string>
#include <vector>

namespace nl::exporters {

// readable_kernel_name() of several, of which those that read alike are told apart: "concatenate (2 bytes), CatArrayBatchedCopy_contig".
std::vector<std::string> told_apart_kernel_names(const std::vector<std::string>& names);

}  // namespace nl::exporters
