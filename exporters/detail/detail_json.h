#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "model/detail.h"

// detail.json.gz: what report.html explores. Columns instead of rows, and times as differences: docs/report-data.md has the keys.
namespace nl::exporters {

inline constexpr int kDetailFormat = 1;

using PieceSink = std::function<void(std::string_view piece)>;
void write_detail_json(const Detail& detail, const PieceSink& sink);

// The same, packed by gzip: the bytes of the file, and of the block in the page.
std::string detail_file(const Detail& detail);

// Whether these are the bytes of such a file, whole and of a format that the page reads.
bool is_detail_file(std::string_view bytes);

// RFC 4648, for a page.
std::string base64(std::string_view bytes);

}  // namespace nl::exporters
