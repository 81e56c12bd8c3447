#pragma once

#include "parsers/file_head.h"

namespace nl::parsers::trtexec {

// trtexec --exportProfile: [ { "count" : 100 }, { "name" : …, "timeMs" : … }, …
bool is_profile(const FileHead& head);
// trtexec --exportLayerInfo: { "Layers" : [ "name" or { "Name" : … }, …
bool is_layer_list(const FileHead& head);

}  // namespace nl::parsers::trtexec
