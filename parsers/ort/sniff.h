#pragma once

#include "parsers/file_head.h"

namespace nl::parsers::ort {

// A list of events of the categories Session and Node.
bool is_profile(const FileHead& head);

}  // namespace nl::parsers::ort
