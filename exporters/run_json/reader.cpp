#include "exporters/run_json/reader.h"

namespace nl::exporters {

const nlohmann::json* JsonReader::find(const char* key) const {
  expect(here_->is_object(), "an object");
  const auto found = here_->find(key);
  if (found != here_->end()) return &*found;
  if (!older_) refuse(std::string("no '") + key + "'");
  return nullptr;
}

const JsonDocument& JsonReader::run_json(bool older) {
  static const JsonDocument kLatest, kOlder{.older = true};
  return older ? kOlder : kLatest;
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
  throw Error(ErrorKind::kInput, about_->what + ": " + what, about_->where + ": " + (place.empty() ? "/" : place), about_->fix);
}

nlohmann::json parsed_json(std::string_view text, const JsonDocument& about) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& broken) {
    throw Error(ErrorKind::kInput, about.what + ": " + broken.what(), about.where, about.fix);
  }
}

}  // namespace nl::exporters
