#include "cli/manual/topics.h"

#include <algorithm>

namespace nl::cli {
namespace {

constexpr std::string_view kPageSuffix = ".md", kPageFolder = "docs/", kTitleMark = "# ";

std::string_view topic_name(const orchestrator::PackedText& page) { return page.file.substr(0, page.file.size() - kPageSuffix.size()); }

}  // namespace

Topic read_topic(const orchestrator::PackedText& page) {
  Topic topic{std::string(topic_name(page)), {}, unpacked(page)};
  const std::string first = topic.text.substr(0, topic.text.find('\n'));
  topic.title = first.starts_with(kTitleMark) ? first.substr(kTitleMark.size()) : topic.name;
  std::erase(topic.title, '`');
  return topic;
}

std::vector<Topic> all_topics() {
  std::vector<Topic> topics;
  for (const orchestrator::PackedText& page : kPackedPages) topics.push_back(read_topic(page));
  return topics;
}

std::vector<std::string> topic_names() {
  std::vector<std::string> names;
  for (const orchestrator::PackedText& page : kPackedPages) names.emplace_back(topic_name(page));
  return names;
}

const orchestrator::PackedText* find_topic(std::string_view name) {
  if (name.starts_with(kPageFolder)) name.remove_prefix(kPageFolder.size());
  if (name.ends_with(kPageSuffix)) name.remove_suffix(kPageSuffix.size());
  const auto found = std::find_if(kPackedPages.begin(), kPackedPages.end(),
                                  [name](const orchestrator::PackedText& page) { return topic_name(page) == name; });
  return found == kPackedPages.end() ? nullptr : &*found;
}

}  // namespace nl::cli
