#include "orchestrator/config/yaml_file.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>
#include <utility>

#include "model/error.h"
#include "model/input_bounds.h"
#include "orchestrator/config/nearest.h"

namespace nl::orchestrator {
namespace {

using Where = std::function<std::string(YamlTree::Place)>;

constexpr int kDeepest = 32;  // an alias can make a tree that contains itself

YamlTree::Place place_of(const YAML::Mark& mark) {
  return mark.is_null() ? YamlTree::Place{} : YamlTree::Place{mark.line + 1, mark.column + 1};
}

// Counts what a text would become, before its tree is made. Aliases count as often as they are used.
class BoundsCheck : public YAML::EventHandler {
 public:
  explicit BoundsCheck(const Where& where) : where_(where) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    // yaml-cpp leaves a comma that belongs to no list where it is, and makes one empty document of it after the other.
    if (documents_++ > 0 && mark.pos == document_.pos)
      throw Error(ErrorKind::kConfig, "this is no valid YAML: a value cannot begin with a comma", where_(place_of(mark)),
                  "remove the comma, or put quotes around the value");
    document_ = mark;
    sizes_.clear();
    open_.clear();
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(mark, anchor); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, const std::string&) override { add(mark, anchor); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = sizes_.find(anchor);  // not known: an alias of what is still open, which convert() refuses
    const std::size_t size = known == sizes_.end() ? 1 : known->second;
    if ((aliased_ += size) > kMostAliasedValues)
      refuse_out_of_bounds(ErrorKind::kConfig, fmt::format("the aliases stand for more than {} values", kMostAliasedValues),
                           where_(place_of(mark)));
    for (Open& each : open_) each.size += size;
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    begin(mark, anchor);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    begin(mark, anchor);
  }
  void OnMapEnd() override { end(); }

 private:
  struct Open {
    YAML::anchor_t anchor;
    std::size_t size;
  };

  void add(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (++values_ > kYamlBounds.values)
      refuse_out_of_bounds(ErrorKind::kConfig, fmt::format("there are more than {} values", kYamlBounds.values), where_(place_of(mark)));
    for (Open& each : open_) ++each.size;
    if (anchor != YAML::NullAnchor) sizes_[anchor] = 1;
  }
  void begin(const YAML::Mark& mark, YAML::anchor_t anchor) {
    add(mark, YAML::NullAnchor);
    open_.push_back({anchor, 1});
    if (open_.size() > kYamlBounds.depth)
      refuse_out_of_bounds(ErrorKind::kConfig, fmt::format("the values are nested more than {} deep", kYamlBounds.depth),
                           where_(place_of(mark)));
  }
  void end() {
    if (open_.back().anchor != YAML::NullAnchor) sizes_[open_.back().anchor] = open_.back().size;
    open_.pop_back();
  }

  const Where& where_;
  std::size_t documents_ = 0, values_ = 0, aliased_ = 0;
  YAML::Mark document_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, std::size_t> sizes_;  // of what has an anchor, its aliases resolved
};

const std::string& within_bounds(const std::string& text, const Where& where) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  BoundsCheck check(where);
  while (parser.HandleNextDocument(check)) {
  }
  return text;
}

YamlTree convert(const YAML::Node& node, const Where& where, int depth);

void convert_map(const YAML::Node& node, YamlTree& tree, const Where& where, int depth) {
  for (const auto& entry : node) {
    YamlTree::Key key{entry.first.IsScalar() ? entry.first.Scalar() : "", place_of(entry.first.Mark())};
    if (!entry.first.IsScalar()) throw Error(ErrorKind::kConfig, "a key must be a plain word", where(key.place), "write name: value");
    auto twin = std::find_if(tree.entries.begin(), tree.entries.end(), [&](const auto& other) { return other.first.name == key.name; });
    if (twin != tree.entries.end())
      throw Error(ErrorKind::kConfig, fmt::format("the key '{}' is given twice", key.name), where(key.place),
                  fmt::format("keep one of them; the first is on line {}", twin->first.place.line));
    tree.entries.push_back({std::move(key), convert(entry.second, where, depth + 1)});
  }
}

YamlTree convert(const YAML::Node& node, const Where& where, int depth) {
  YamlTree tree;
  tree.place = place_of(node.Mark());
  if (depth > kDeepest)
    throw Error(ErrorKind::kConfig, "the values are nested too deeply", where(tree.place), "an alias may contain itself");
  if (node.IsScalar()) {
    tree.kind = YamlTree::Kind::kScalar;
    tree.text = node.Scalar();
    tree.quoted = node.Tag() == "!";
  } else if (node.IsSequence()) {
    tree.kind = YamlTree::Kind::kList;
    for (const auto& item : node) tree.items.push_back(convert(item, where, depth + 1));
  } else if (node.IsMap()) {
    tree.kind = YamlTree::Kind::kMap;
    convert_map(node, tree, where, depth);
  }
  return tree;
}

YamlTree parse(const std::string& text, const Where& where) {
  try {
    const auto documents = YAML::LoadAll(within_bounds(text, where));
    if (documents.empty()) return {};
    if (documents.size() > 1)
      throw Error(ErrorKind::kConfig, "there is more than one YAML document", where(place_of(documents[1].Mark())),
                  "remove the line '---' between them");
    return convert(documents.front(), where, 0);
  } catch (const YAML::Exception& error) {
    throw Error(ErrorKind::kConfig, fmt::format("this is no valid YAML: {}", error.msg), where(place_of(error.mark)),
                "check indentation, brackets and quotes near there");
  }
}

}  // namespace

void YamlFile::refuse(std::string what, YamlTree::Place place, std::string fix) const {
  throw Error(ErrorKind::kConfig, std::move(what), yaml_where(file_, place), std::move(fix));
}

const YamlTree* YamlFile::find(const YamlTree& map, const std::string& key) {
  for (const auto& [name, value] : map.entries)
    if (name.name == key) return &value;
  return nullptr;
}

void YamlFile::check_keys(const YamlTree& map, const std::string& what, const Keys& keys) const {
  want(map, Kind::kMap, what, "keys and values", fmt::format("such as {}:", keys.front()));
  for (const auto& [name, value] : map.entries)
    if (std::find(keys.begin(), keys.end(), name.name) == keys.end())
      refuse(fmt::format("unknown key '{}' of {}", name.name, what), name.place, nearest_or_all(name.name, keys));
}

void YamlFile::read_keys(const YamlTree& map, const std::string& what, const std::vector<KeyReader>& readers) const {
  Keys keys;
  for (const KeyReader& reader : readers) keys.push_back(reader.key);
  check_keys(map, what, keys);
  for (const auto& [key, value] : map.entries) {
    if (value.kind == Kind::kNull) refuse(fmt::format("'{}' has no value", key.name), key.place, "give it one, or remove the line");
    readers[static_cast<std::size_t>(std::find(keys.begin(), keys.end(), key.name) - keys.begin())].read(value);
  }
}

const YamlTree& YamlFile::need(const YamlTree& map, const std::string& what, const std::string& key, const std::string& fix) const {
  const YamlTree* value = find(map, key);
  if (value == nullptr) refuse(fmt::format("{} has no '{}'", what, key), map.place, fix);
  return *value;
}

void YamlFile::want(const YamlTree& value, Kind kind, const std::string& what, const std::string& wanted, const std::string& fix) const {
  if (value.kind != kind) refuse(fmt::format("{} wants {}", what, wanted), value.place, fix);
}

std::string YamlFile::text(const YamlTree& value, const std::string& what) const {
  if (value.kind != Kind::kScalar || value.text.find_first_not_of(" \t\r\n") == std::string::npos)
    refuse(fmt::format("{} wants a text", what), value.place, "put quotes around it where it holds a ':' or a '#'");
  return value.text;
}

YamlFile::Keys YamlFile::texts(const YamlTree& list, const std::string& what) const {
  want(list, Kind::kList, what, "a list", "write [a, b]");
  Keys words;
  for (const YamlTree& item : list.items) words.push_back(text(item, "an item of " + what));
  return words;
}

std::size_t YamlFile::one_of(const YamlTree& value, const std::string& what, const Keys& words) const {
  const auto found = std::find(words.begin(), words.end(), text(value, what));
  if (found == words.end()) refuse(fmt::format("{} cannot be '{}'", what, value.text), value.place, nearest_or_all(value.text, words));
  return static_cast<std::size_t>(found - words.begin());
}

std::string yaml_where(const ConfFile& file, YamlTree::Place place) {
  return fmt::format("{}:{}:{}", file.name(), place.line, place.column);
}

YamlTree read_yaml_file(const ConfFile& file, const YamlFileKind& kind) {
  const Where where = [&](YamlTree::Place place) { return yaml_where(file, place); };
  YamlTree tree = parse(file.text(), where);
  if (tree.kind == YamlTree::Kind::kNull)
    throw Error(ErrorKind::kConfig, fmt::format("the {} is empty", kind.name), where({}), kind.when_empty);
  if (tree.kind != YamlTree::Kind::kMap)
    throw Error(ErrorKind::kConfig, fmt::format("the {} holds no keys", kind.name), where(tree.place), kind.when_no_map);
  return tree;
}

void check_yaml_bounds(const std::string& text, const std::string& where) {
  within_bounds(text, [&](YamlTree::Place place) { return fmt::format("{}:{}:{}", where, place.line, place.column); });
}

YamlTree read_yaml_value(std::string_view text, const std::string& where) {
  return parse(std::string(text), [&](YamlTree::Place) { return where; });
}

}  // namespace nl::orchestrator
