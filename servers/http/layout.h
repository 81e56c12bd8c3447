#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "exporters/report/html/html.h"
#include "model/error.h"
#include "servers/http/parts.h"

// What all pages have: head, navigation, policy. Everything that comes from a run, a person or an address goes through text() or attribute().
namespace nl::servers::http {

using exporters::html::attribute, exporters::html::text;

enum class Script { kNone, kPages };

struct Page {
  std::string title;
  std::string place;  // the address of the navigation's entry that is open
  std::string body;   // markup
  Script script = Script::kNone;
  std::string more_style = {};  // "'sha256-…'" of a style inside the body
  bool wide = false;            // takes the whole width
};

Response page_response(const Parts& parts, const Ask& ask, const Page& page, int status = 200);

Response error_page(const Parts& parts, int status, const Error& error);
Response error_response(int status, const Error& error);  // {error: {kind, what, where, fix}}, as the command line prints it with --json

// A document that stands alone and comes with its own policy (report.html, compare.html), for a frame in a page of ours. It runs as a stranger: it
// cannot read our cookies or pages.
Response framed_document(std::string html);

std::string frame(const std::string& address, const std::string& title);

// The body as a JSON object. Throws Error(kUsage).
nlohmann::json body_object(const Ask& ask);

std::string notice(const std::string& markup);  // a box that stands out

}  // namespace nl::servers::http
