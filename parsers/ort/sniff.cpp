#include "parsers/ort/sniff.h"

#include "parsers/json/sniff.h"
#include "parsers/ort/event.h"

namespace nl::parsers::ort {

bool is_profile(const FileHead& head) {
  return head.json_opening() == '[' && any_event<OrtEventReader, OrtEvent>(head, "", [](const OrtEvent& event) {
           return event.category == "Session" || event.category == "Node";
         });
}

}  // namespace nl::parsers::ort
