#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <regex>
#include <set>

#include "model/error_code.h"
#include "orchestrator/config/keys.h"
#include "orchestrator/config/nearest.h"

namespace nl::orchestrator {
namespace {

using Kind = YamlTree::Kind;

[[noreturn]] void refuse(std::string what, std::string where, std::string fix) {
  throw Error(ErrorKind::kConfig, std::move(what), std::move(where), std::move(fix));
}

std::string quoted_list(const std::vector<std::string_view>& values) {
  std::string text;
  for (const auto& value : values) text += fmt::format("{}{}", text.empty() ? "" : ", ", value);
  return text;
}

std::string describe(const YamlTree& tree) {
  switch (tree.kind) {
    case Kind::kNull: return "nothing";
    case Kind::kList: return "a list";
    case Kind::kMap: return "a map";
    case Kind::kScalar: break;
  }
  return fmt::format("{}'{}'", tree.quoted ? "the text " : "", tree.text);
}

// One value that is being put in place: what the messages need to know about it.
class Value {
 public:
  Value(const ConfigKey& key, const YamlTree& tree, const ConfigWhere& where) : key_(key), tree_(tree), where_(where) {}

  [[noreturn]] void wrong_type() const {
    refuse(fmt::format("{} wants {}, not {}", key_.path, config_type_name(key_), describe(tree_)), where_(tree_.place),
           std::string(key_.help));
  }

  std::string text(const YamlTree& tree) const {
    if (tree.kind != Kind::kScalar) wrong_type();
    if (!key_.allowed.empty() && std::find(key_.allowed.begin(), key_.allowed.end(), tree.text) == key_.allowed.end()) not_allowed(tree);
    if (key_.not_empty && tree.text.empty())
      refuse(fmt::format("{} must not be empty", key_.path), where_(tree.place), std::string(key_.help));
    if (key_.file_name) check_file_name(tree);
    return tree.text;
  }

  template <class Number>
  Number number() const {
    if (tree_.kind != Kind::kScalar || tree_.quoted) wrong_type();
    Number value{};
    const char* end = tree_.text.data() + tree_.text.size();
    auto [stopped, failed] = std::from_chars(tree_.text.data(), end, value);
    if (failed == std::errc::result_out_of_range && stopped == end) out_of_range();
    if (failed != std::errc{} || stopped != end || std::isnan(static_cast<double>(value))) wrong_type();
    const double check = static_cast<double>(value);
    if (check < key_.least || check > key_.most) out_of_range();
    return value;
  }

  bool truth() const {
    static const std::set<std::string> yes = {"true", "True", "TRUE", "yes", "on"};
    static const std::set<std::string> no = {"false", "False", "FALSE", "no", "off"};
    if (tree_.kind != Kind::kScalar || tree_.quoted || yes.count(tree_.text) + no.count(tree_.text) == 0) wrong_type();
    return yes.count(tree_.text) > 0;
  }

  std::vector<std::string> list() const {
    std::vector<std::string> items;
    if (tree_.kind == Kind::kScalar && key_.comma_list) items = split();
    else if (tree_.kind != Kind::kList) wrong_type();
    for (const auto& item : tree_.items) items.push_back(text(item));
    if (key_.not_empty && items.empty())
      refuse(fmt::format("{} must not be empty", key_.path), where_(tree_.place), std::string(key_.help));
    return items;
  }

  void merge_into(std::map<std::string, std::string>& map) const {
    if (tree_.kind == Kind::kNull) return;
    if (tree_.kind != Kind::kMap) wrong_type();
    for (const auto& [name, value] : tree_.entries) {
      // The value itself is not repeated: it may be a secret.
      if (value.kind != Kind::kScalar)
        refuse(fmt::format("{}.{} wants a text", key_.path, name.name), where_(value.place), "write NAME: value");
      if (name.name.empty() || name.name.find('=') != std::string::npos)
        refuse(fmt::format("'{}' cannot name a variable", name.name), where_(name.place), "write NAME: value");
      if (key_.patterns) check_pattern(name.name, value);
      map[name.name] = value.text;
    }
  }

  // model.stage_flops: {gemm: 1e12} → "stage_flops.gemm"
  void merge_numbers_into(std::map<std::string, std::string>& map) const {
    if (tree_.kind == Kind::kNull) return;
    if (tree_.kind != Kind::kMap) wrong_type();
    for (const auto& [name, value] : tree_.entries) {
      if (name.name.empty()) refuse(fmt::format("{} wants a name for each number", key_.path), where_(name.place), "write NAME: number");
      Value(key_, value, where_).number<double>();
      map[fmt::format("{}.{}", key_.path.substr(key_.path.find('.') + 1), name.name)] = value.text;
    }
  }

 private:
  [[noreturn]] void not_allowed(const YamlTree& tree) const {
    const std::string near = nearest_name(tree.text, {key_.allowed.begin(), key_.allowed.end()});
    refuse(fmt::format("{} cannot be '{}'", key_.path, tree.text), where_(tree.place),
           near.empty() ? fmt::format("one of: {}", quoted_list(key_.allowed))
                        : fmt::format("did you mean '{}'? One of: {}", near, quoted_list(key_.allowed)));
  }

  [[noreturn]] void out_of_range() const {
    refuse(
        fmt::format("{} is out of range: {}", key_.path, tree_.text), where_(tree_.place),
        std::isinf(key_.most) ? fmt::format("at least {}", key_.least) : fmt::format("between {:.15g} and {:.15g}", key_.least, key_.most));
  }

  void check_pattern(const std::string& name, const YamlTree& tree) const {
    try {
      std::regex pattern(tree.text);
    } catch (const std::regex_error& error) {
      refuse(fmt::format("{}.{} is no regular expression: {}", key_.path, name, error.what()), where_(tree.place),
             "write \"^step [0-9]+\"");
    }
  }

  void check_file_name(const YamlTree& tree) const {
    const bool good =
        tree.text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == std::string::npos &&
        tree.text.front() != '.' && tree.text.size() <= 100;
    if (!good)
      refuse(fmt::format("{} cannot be '{}'", key_.path, tree.text), where_(tree.place),
             "it becomes part of a folder's name: letters, digits, '.', '_' and '-', at most 100");
  }

  // "cuda,nvtx,osrt"
  std::vector<std::string> split() const {
    std::vector<std::string> items;
    std::size_t start = 0;
    while (start <= tree_.text.size() && !tree_.text.empty()) {
      const std::size_t end = std::min(tree_.text.find(',', start), tree_.text.size());
      YamlTree item = tree_;
      item.text = tree_.text.substr(start, end - start);
      item.text.erase(0, item.text.find_first_not_of(' '));
      item.text.erase(item.text.find_last_not_of(' ') + 1);
      items.push_back(text(item));
      start = end + 1;
    }
    return items;
  }

  const ConfigKey& key_;
  const YamlTree& tree_;
  const ConfigWhere& where_;
};

void store_attribute(const ConfigKey& key, ModelAttribute attribute, const YamlTree& tree, const Value& value, Config& config) {
  if (attribute.type == ModelAttribute::Type::kNumbers) return value.merge_numbers_into(config.model.attributes);
  if (attribute.type == ModelAttribute::Type::kWhole) value.number<long long>();
  if (attribute.type == ModelAttribute::Type::kNumber) value.number<double>();
  config.model.attributes[std::string(key.path.substr(key.path.find('.') + 1))] = value.text(tree);
}

struct Store {
  Config& config;
  const ConfigKey& key;
  const YamlTree& tree;
  const Value& value;

  void operator()(std::string& (*member)(Config&)) const { member(config) = value.text(tree); }
  void operator()(int& (*member)(Config&)) const { member(config) = value.number<int>(); }
  void operator()(double& (*member)(Config&)) const { member(config) = value.number<double>(); }
  void operator()(bool& (*member)(Config&)) const { member(config) = value.truth(); }
  void operator()(std::vector<std::string>& (*member)(Config&)) const { member(config) = value.list(); }
  void operator()(std::map<std::string, std::string>& (*member)(Config&)) const { value.merge_into(member(config)); }
  void operator()(ModelAttribute attribute) const { store_attribute(key, attribute, tree, value, config); }
};

[[noreturn]] void unknown_key(const std::string& path, YamlTree::Place place, const ConfigWhere& where) {
  std::vector<std::string> names = {"compose"};
  for (const auto& key : config_keys()) {
    names.emplace_back(key.path);
    for (auto cut = key.path.find('.'); cut != std::string_view::npos; cut = key.path.find('.', cut + 1))
      names.emplace_back(key.path.substr(0, cut));
  }
  const std::string near = nearest_name(path, names);
  throw CodedError(ErrorCode::kUnknownSetting, fmt::format("unknown key '{}'", path), where(place),
                   near.empty() ? "`nl-stage plan --keys` lists every key" : fmt::format("did you mean '{}'?", near));
}

}  // namespace

void apply_config(Config& config, const YamlTree& tree, const std::string& path, YamlTree::Place key_place, const ConfigWhere& where) {
  if (const ConfigKey* key = find_config_key(path)) {
    const Value value(*key, tree, where);
    std::visit(Store{config, *key, tree, value}, key->member);
    return;
  }
  if (!path.empty() && !is_config_section(path)) unknown_key(path, key_place, where);
  if (tree.kind == Kind::kNull) return;  // a section with nothing under it
  if (tree.kind != Kind::kMap)
    refuse(
        fmt::format("'{}' holds keys, it is no value", path), where(tree.place),
        fmt::format("write them below it, such as {}", std::find_if(config_keys().begin(), config_keys().end(), [&](const ConfigKey& key) {
                                                         return key.path.starts_with(path + ".");
                                                       })->path));
  for (const auto& [name, value] : tree.entries) {
    if (path.empty() && name.name == "compose") continue;  // read before, by load_config
    apply_config(config, value, path.empty() ? name.name : path + "." + name.name, name.place, where);
  }
}

}  // namespace nl::orchestrator
