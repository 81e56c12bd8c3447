#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exporters/report/text/document.h"

namespace nl::exporters::html {

// Text that stays text, inside elements and inside quoted attributes: & < > " ' are escaped, control characters become
// spaces, and bytes that are not UTF-8 become U+FFFD.
std::string text(std::string_view raw);

// For text outside markup, such as the strings of a page's data: UTF-8 on one line, and nothing escaped. A name is the same text whether it
// comes from the capture or from run.json.
std::string plain(std::string_view raw);

// Every character as it is; each byte that is not UTF-8 becomes U+FFFD.
std::string utf8(std::string_view raw);

// " name="value"", the value escaped.
std::string attribute(std::string_view name, std::string_view value);

// Data for the script. The text stands in the page as it is.
struct DataBlock {
  const char* id;
  const char* type;
  std::string text;
};

// The page's one script, and the digest by which the policy lets it in. Without a text the page says that it has no script.
struct PageScript {
  std::string_view text, digest;
};

// The script of this build; empty with -Dreport_script=none.
PageScript built_in_script();

// The style of this build's pages.
std::string_view style();

// The document as a page of its own, with its style and its script inside.
std::string page(const report::Document& document, const std::string& footer, const std::vector<DataBlock>& data = {},
                 const PageScript& script = built_in_script());

// Blocks as markup, everything that comes from the run escaped.
std::string blocks_markup(const report::Blocks& blocks);

// Draws a figure. Places and widths are percentages: they fit a phone and a poster alike, and their text is never stretched.
std::string figure_markup(const report::BarChart& chart);
std::string figure_markup(const report::ColumnChart& chart);
std::string figure_markup(const report::Explorer& explorer);
std::string figure_markup(const report::CurveChart& chart);
std::string figure_markup(const report::RooflineChart& chart);  // empty where nothing has a place in it
std::string figure_markup(const report::FlameChart& chart);     // empty where nothing was sampled
std::string figure_markup(const report::StripChart& chart);     // empty where nothing has a length

}  // namespace nl::exporters::html
