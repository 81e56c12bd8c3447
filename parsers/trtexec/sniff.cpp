#include "parsers/trtexec/sniff.h"

#include "model/error.h"
#include "parsers/json/array_file.h"

namespace nl::parsers::trtexec {
namespace {

bool has_key(std::string_view object, std::string_view quoted_key) { return object.find(quoted_key) != std::string_view::npos; }

// The reader takes plain files only.
bool packed(const FileHead& head) { return head.bytes != head.text; }

}  // namespace

bool is_profile(const FileHead& head) {
  if (head.json_opening() != '[' || packed(head)) return false;
  try {
    JsonArrayFile file(head.path, "");
    return file.next() && has_key(file.element(), "\"count\"") && file.next() && has_key(file.element(), "\"timeMs\"");
  } catch (const Error&) {
    return false;
  }
}

bool is_layer_list(const FileHead& head) {
  if (head.json_opening() != '{' || packed(head)) return false;
  try {
    JsonArrayFile file(head.path, "Layers");
    return file.next() ? has_key(file.element(), "\"Name\"") : file.passed_over() > 0;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace nl::parsers::trtexec
