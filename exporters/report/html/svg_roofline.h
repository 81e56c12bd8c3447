#pragma once

#include <string>

#include "model/run.h"

namespace nl::exporters::html {

// Achieved FLOP/s over FLOPs a byte, both logarithmic: the roofs of the device, the launches that ncu measured (numbered
// as in the table below the picture) and the stages (diamonds). Empty where there is nothing that has a place in it.
std::string roofline_picture(const Run& run);

}  // namespace nl::exporters::html
