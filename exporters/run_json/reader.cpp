#include "exporters/run_json/reader.h"

namespace nl::exporters {

const nlohmann::json* JsonReader::find(const char* key) const {
  expect(here_->is_object(), "an object");
  const auto found = here_->find(key);
  if (found != here_->end()) return &*found;
  if (!older_) refuse(std::string("no '") + key + "'");
  return nullptr;
}

std::string JsonReader::pointer() const {
  if (parent_ == nullptr) return {};
  if (key_ == nullptr) return parent_->pointer() + '/' + std::to_string(index_);
  std::string out = parent_->pointer() + '/';
  for (const char* c = key_; *c != '\0'; ++c) out += *c == '~' ? "~0" : *c == '/' ? "~1" : std::string(1, *c);
  return out;
}

void JsonReader::refuse(const std::string& what) const {
  const std::string place = pointer();
  throw Error(ErrorKind::kInput, "not a whole run.json: " + what, "run.json: " + (place.empty() ? "/" : place),
              "`nl-stage validate FILE` checks all of it; `nl-stage import` makes the bundle anew from its captures");
}

}  // namespace nl::exporters
