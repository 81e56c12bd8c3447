#include "exporters/run_json/schema_writer.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace nl::exporters {
namespace {

using Json = SchemaWriter::Json;

constexpr const char* kShape = "$shape";  // a struct, by its name: only until resolved
constexpr const char* kNullable = "$nullable";

std::string struct_name(const char* mangled) {
  const std::unique_ptr<char, void (*)(void*)> whole(abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr), std::free);
  const std::string name = whole ? whole.get() : mangled;
  return name.substr(name.rfind(':') + 1);
}

std::string key_of(const Json& use) { return use.at(kShape).get<std::string>() + (use.contains(kNullable) ? "OrNull" : ""); }

// Puts each shape where it is used; those that are used more than once become definitions.
class Resolver {
 public:
  explicit Resolver(const std::map<std::string, Json>& shapes) : shapes_(shapes) {}

  Json resolve(const Json& root) {
    count(root);
    return replaced(root);
  }
  Json definitions() const {
    Json all = Json::object();
    for (const auto& [name, shape] : definitions_) all[name] = shape;
    return all;
  }

 private:
  Json shape_of(const Json& use) const {
    Json shape = shapes_.at(use.at(kShape).get<std::string>());
    if (use.contains(kNullable)) shape["type"] = {"object", "null"};
    return shape;
  }
  void count(const Json& node) {
    if (!node.is_structured()) return;
    if (node.is_object() && node.contains(kShape)) {
      if (++uses_[key_of(node)] == 1) count(shape_of(node));
      return;
    }
    for (const Json& each : node) count(each);
  }
  Json replaced(const Json& node) {
    if (!node.is_structured()) return node;
    if (node.is_object() && node.contains(kShape)) return used(node);
    Json out = node;
    for (Json& each : out) each = replaced(each);
    return out;
  }
  Json used(const Json& use) {
    const std::string name = key_of(use);
    Json out = Json::object();
    if (use.contains("description")) out["description"] = use.at("description");
    if (uses_.at(name) == 1) {
      const Json shape = replaced(shape_of(use));
      for (const auto& [key, value] : shape.items()) out[key] = value;
      return out;
    }
    if (!definitions_.contains(name)) definitions_[name] = replaced(shape_of(use));
    out["$ref"] = "#/definitions/" + name;
    return out;
  }

  const std::map<std::string, Json>& shapes_;
  std::map<std::string, int> uses_;
  std::map<std::string, Json> definitions_;
};

constexpr std::size_t kLineLength = 150;

std::string on_one_line(const Json& node) {
  if (!node.is_structured()) return node.dump();
  std::string text;
  for (const auto& [key, value] : node.items())
    text += (text.empty() ? "" : ", ") + (node.is_object() ? Json(key).dump() + ": " : "") + on_one_line(value);
  return node.is_object() ? "{" + text + "}" : "[" + text + "]";
}

// As many on a line as fit.
std::string filled(const Json& words, const std::string& indent) {
  std::string text, line;
  for (const Json& word : words) {
    if (!line.empty() && indent.size() + line.size() + word.dump().size() + 2 > kLineLength) text += indent + line + "\n", line.clear();
    line += (line.empty() ? "" : " ") + word.dump() + (&word == &words.back() ? "" : ",");
  }
  return "[\n" + text + indent + line + "\n";
}

// What fits on a line stands on one.
std::string laid_out(const Json& node, std::size_t depth, std::size_t used) {
  const std::string line = on_one_line(node), indent(2 * depth + 2, ' '), close(2 * depth, ' ');
  if (!node.is_structured() || used + line.size() <= kLineLength) return line;
  if (node.is_array() && !node.front().is_structured()) return filled(node, indent) + close + "]";
  std::string text;
  for (const auto& [key, value] : node.items()) {
    const std::string name = node.is_object() ? Json(key).dump() + ": " : "";
    text += (text.empty() ? "" : ",\n") + indent + name + laid_out(value, depth + 1, indent.size() + name.size() + 1);
  }
  return (node.is_object() ? "{\n" : "[\n") + text + "\n" + close + (node.is_object() ? "}" : "]");
}

}  // namespace

Json SchemaWriter::number(const char* type, const Limits& limits) {
  Json schema = {{"type", type}};
  if (limits.minimum) schema["minimum"] = *limits.minimum;
  if (limits.maximum) schema["maximum"] = *limits.maximum;
  return schema;
}

Json SchemaWriter::text(const Limits& limits) {
  Json schema = {{"type", "string"}};
  if (limits.pattern != nullptr) schema["pattern"] = limits.pattern;
  return schema;
}

Json SchemaWriter::list(Json item, const Limits& limits) {
  Json schema = {{"type", "array"}, {"items", std::move(item)}};
  if (limits.most_items > 0) schema["maxItems"] = limits.most_items;
  return schema;
}

// A map has no entry for what was not captured.
Json SchemaWriter::map(Json value) {
  if (value.contains("type") && value.at("type").is_array()) value["type"] = value.at("type").at(0);
  return {{"type", "object"}, {"additionalProperties", std::move(value)}};
}

Json SchemaWriter::nullable(Json schema) {
  if (schema.contains(kShape)) schema[kNullable] = true;
  else if (schema.contains("enum")) schema["enum"].push_back(nullptr);
  else if (!schema.at("type").is_array()) schema["type"] = {schema.at("type"), "null"};
  return schema;
}

Json SchemaWriter::object(Json properties) {
  Json required = Json::array();
  for (const auto& [key, value] : properties.items()) required.push_back(key);
  return {{"type", "object"}, {"required", required}, {"additionalProperties", false}, {"properties", std::move(properties)}};
}

Json SchemaWriter::reference(const char* mangled_name, Json shape) {
  const std::string name = struct_name(mangled_name);
  shapes_[name] = std::move(shape);
  return {{kShape, name}};
}

void SchemaWriter::add(const char* key, const char* about, Json schema) {
  if (*about != '\0') schema["description"] = about;
  properties_[key] = std::move(schema);
}

std::string SchemaWriter::text(const char* title, const char* about) && {
  Json root = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", title}, {"description", about}};
  Resolver resolver(shapes_);
  const Json whole = resolver.resolve(object(std::move(properties_)));
  for (const auto& [key, value] : whole.items()) root[key] = value;
  root["definitions"] = resolver.definitions();
  return laid_out(root, 0, 0) + "\n";
}

}  // namespace nl::exporters
