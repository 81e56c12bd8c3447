#pragma once

#include <string>
#include <string_view>

namespace nl::exporters::html {

// Text that stays text, inside elements and inside quoted attributes: & < > " ' are escaped, control characters become
// spaces, and bytes that are no UTF-8 become U+FFFD.
std::string text(std::string_view raw);

// For what is no markup, such as the strings of a page's data: UTF-8 on one line, and nothing escaped. A name is the same text whether it
// comes from the capture or from run.json.
std::string plain(std::string_view raw);

// " name="value"", the value escaped.
std::string attribute(std::string_view name, std::string_view value);

}  // namespace nl::exporters::html
