#include "cli/manual/topics.h"

#include <zlib.h>

#include <algorithm>

#include "model/error.h"

namespace nl::cli {
namespace {

constexpr std::string_view kPageSuffix = ".md", kPageFolder = "docs/", kTitleMark = "# ";

std::string_view topic_name(const PackedPage& page) { return page.file.substr(0, page.file.size() - kPageSuffix.size()); }

std::string unpacked_page(const PackedPage& page) {
  std::string text(page.size, '\0');
  uLongf size = text.size();
  const int result = uncompress(reinterpret_cast<Bytef*>(text.data()), &size, reinterpret_cast<const Bytef*>(page.packed.data()),
                                static_cast<uLong>(page.packed.size()));
  if (result != Z_OK || size != page.size)
    throw Error(ErrorKind::kInternal, "a page of the documentation cannot be unpacked", std::string(page.file));
  return text;
}

}  // namespace

Topic read_topic(const PackedPage& page) {
  Topic topic{std::string(topic_name(page)), {}, unpacked_page(page)};
  const std::string first = topic.text.substr(0, topic.text.find('\n'));
  topic.title = first.starts_with(kTitleMark) ? first.substr(kTitleMark.size()) : topic.name;
  std::erase(topic.title, '`');
  return topic;
}

std::vector<Topic> all_topics() {
  std::vector<Topic> topics;
  for (const PackedPage& page : kPackedPages) topics.push_back(read_topic(page));
  return topics;
}

std::vector<std::string> topic_names() {
  std::vector<std::string> names;
  for (const PackedPage& page : kPackedPages) names.emplace_back(topic_name(page));
  return names;
}

const PackedPage* find_topic(std::string_view name) {
  if (name.starts_with(kPageFolder)) name.remove_prefix(kPageFolder.size());
  if (name.ends_with(kPageSuffix)) name.remove_suffix(kPageSuffix.size());
  const auto found =
      std::find_if(kPackedPages.begin(), kPackedPages.end(), [name](const PackedPage& page) { return topic_name(page) == name; });
  return found == kPackedPages.end() ? nullptr : &*found;
}

}  // namespace nl::cli
