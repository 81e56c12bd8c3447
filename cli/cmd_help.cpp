#include <algorithm>

#include "cli/json_output.h"
#include "cli/manual/help_json.h"
#include "cli/manual/topics.h"
#include "cli/usage_error.h"
#include "cli/verbs.h"
#include "model/error_code.h"
#include "model/visible_text.h"
#include "orchestrator/config/nearest.h"

namespace nl::cli {
namespace {

constexpr std::string_view kListOfTopics = "topics";
constexpr std::string_view kPageEnding = ".md";  // a name with it is no verb's

struct HelpFlags {
  std::vector<std::string> words;
  bool json = false;
};

int list_topics(bool json) {
  const auto topics = all_topics();
  auto list = nlohmann::ordered_json::array();
  std::size_t widest = 0;
  for (const Topic& topic : topics) {
    list.push_back({{"name", topic.name}, {"title", topic.title}, {"file", "docs/" + topic.name + ".md"}});
    widest = std::max(widest, topic.name.size());
  }
  if (json) return write_json({{"topics", list}}), 0;
  for (const Topic& topic : topics)
    write_out("{:<{}}  {}\n", topic.name, widest, wrapped(topic.title, line_width(), widest + 2, widest + 2));
  return 0;
}

int print_topic(const Topic& topic, bool json) {
  if (json) write_json({{"name", topic.name}, {"title", topic.title}, {"markdown", topic.text}});
  else write_text(page_text(topic.text, line_width()));
  return 0;
}

int print_verb_help(const CLI::App& verb, bool json) {
  const VerbReference reference = reference_of_verb(verb);
  if (json) return write_json(help_json(reference)), 0;
  write_text(help_text(reference, line_width()));
  if (const orchestrator::PackedText* page = find_topic(reference.name); page != nullptr && !reference.name.empty())
    write_out("\n{}\n", wrapped(fmt::format("`nl-stage help {}` prints the page of this name: {}.", page->file, read_topic(*page).title),
                                line_width(), 0, 0));
  return 0;
}

// A word that is the name of neither a verb nor a page.
CodedError unknown_help(const CLI::App& app, const std::string& word) {
  const Error as_verb = unknown_verb(app, word);
  const std::string topic = orchestrator::nearest_name(word, topic_names());
  const bool verb_is_near = !orchestrator::nearest_name(word, verb_names(app)).empty();
  const std::string fix = verb_is_near    ? as_verb.fix
                          : topic.empty() ? as_verb.fix + "; `nl-stage help topics` lists the pages"
                                          : fmt::format("did you mean '{}'?", topic);
  return {ErrorCode::kUnknownTopic, fmt::format("there is no verb and no page '{}'", word), "help", fix};
}

// A verb, a verb of a verb ("fingerprint search"), or a page. A verb's name comes first: "compare.md" is the page.
int print_named(const CLI::App& app, const HelpFlags& flags) {
  if (flags.words.size() == 1) {
    const std::string& word = flags.words.front();
    const CLI::App* verb = verb_named(app, word);
    if (verb == nullptr && word == kListOfTopics) return list_topics(flags.json);
    const orchestrator::PackedText* page = find_topic(word);
    if (page != nullptr && (verb == nullptr || word.ends_with(kPageEnding))) return print_topic(read_topic(*page), flags.json);
    if (verb == nullptr) throw unknown_help(app, word);
  }
  const CLI::App* verb = &app;
  for (const std::string& word : flags.words) {
    const CLI::App* const next = verb_named(*verb, word);
    if (next == nullptr) throw unknown_verb(*verb, word);
    verb = next;
  }
  return print_verb_help(*verb, flags.json);
}

}  // namespace

void add_help(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<HelpFlags>();
  CLI::App* verb = app.add_subcommand("help", "Print the flags and examples of a verb, or a page of the documentation");
  verb->add_option("name", flags->words, "a verb, a page, or `topics` for the list of pages; none: the list of verbs")
      ->type_name("VERB|TOPIC");
  verb->add_flag("--json", flags->json,
                 "print {name, command, description, positionals, flags, verbs, examples …}; of a page {name, title, markdown}");
  verb->footer(
      "The pages are those that messages name: docs/rules.md is `nl-stage help rules`. Where a verb has the name of a page, the page has "
      ".md "
      "behind it.\n"
      "Examples:\n"
      "  nl-stage help\n"
      "  nl-stage help import\n"
      "  nl-stage help fingerprint search --json\n"
      "  nl-stage help topics\n"
      "  nl-stage help exit-status\n"
      "  nl-stage help compare.md");
  verb->callback([flags, &app, &action] { action = [flags, &app] { return print_named(app, *flags); }; });
}

}  // namespace nl::cli
