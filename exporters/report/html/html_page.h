#pragma once

#include <string>

#include "exporters/report/document.h"

namespace nl::exporters::html {

// The document as a page of its own, with its style and its script inside.
std::string page(const report::Document& document, const std::string& footer);

}  // namespace nl::exporters::html
