#include "cli/verb_tools.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <new>

#include "cli/command_line.h"
#include "cli/exit_status.h"
#include "cli/output.h"
#include "cli/print_result.h"
#include "cli/verb_words.h"
#include "cli/verbs.h"
#include "model/error.h"
#include "model/input_bounds.h"
#include "orchestrator/process/own_verb.h"

namespace nl::cli {
namespace {

using nlohmann::ordered_json;
using servers::Answer;

constexpr int kMostProcesses = 4;
constexpr double kReaderGrace = 10;  // seconds that a verb that only reads gets to end

Answer failure(const Error& error) { return {{{"error", error_json(error)}}, exit_status_of(error.kind)}; }

Error interrupted() { return {ErrorKind::kInterrupted, "the call was cancelled", "tools", "call it again"}; }

Answer parsed(const std::string& out, int status, std::string_view verb) {
  ordered_json content = ordered_json::parse(json_within_bounds(out, fmt::format("nl-stage {}", verb)), nullptr, false);
  if (!content.is_discarded()) return {std::move(content), status};
  return failure({ErrorKind::kInternal,
                  status > 128 ? fmt::format("nl-stage {} was ended by signal {}", verb, status - 128)
                               : fmt::format("nl-stage {} ended with status {} and printed no answer", verb, status),
                  fmt::format("nl-stage {}", verb), "call it again; where it happens again, this is a bug in nl-stage: please report it"});
}

// In this process: the verb starts none, and prints to this thread alone.
Answer call_here(std::vector<std::string> words, std::string_view verb) {
  words.insert(words.begin(), "nl-stage");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  KeptOutput printed;
  CLI::App app;
  std::function<int()> action;
  set_up(app, action);
  parse(app, static_cast<int>(words.size()), argv.data(), action);
  const int status = action();
  return parsed(printed.out, status, verb);
}

}  // namespace

VerbTools::VerbTools(Options options) : options_(std::move(options)), processes_(kMostProcesses) {
  CLI::App app;
  std::function<int()> action;
  set_up(app, action);
  for (const ToolRow& row : tool_rows()) {
    const CLI::App* verb = verb_named(app, row.verb);
    if (verb == nullptr) continue;
    entries_.push_back({&row, tool_arguments(row, *verb)});
    const std::string about = row.about.empty() ? "" : fmt::format(" {}", row.about);
    tools_.push_back({std::string(row.name), std::string(row.title), fmt::format("{}.{}", verb->get_description(), about),
                      input_schema(entries_.back().arguments), row.access, row.lasts});
  }
}

Answer VerbTools::call(std::string_view name, const nlohmann::json& arguments, const servers::Call& call) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [name](const Entry& entry) { return entry.row->name == name; });
  if (found == entries_.end())
    throw Error(ErrorKind::kUsage, fmt::format("there is no tool '{}'", name.substr(0, 100)), "tools", "see the list of tools");
  if (found->row->access > options_.access)
    throw Error(ErrorKind::kUsage, fmt::format("{} is not let through", name), "tools", "start the server with --allow-run");
  try {
    return call_verb(*found, arguments, call);
  } catch (const Error& error) {
    return failure(error);
  } catch (const std::bad_alloc&) {
    return failure({ErrorKind::kInput, "the memory is not enough for this call", std::string(name), "ask for less"});
  } catch (const std::exception& broken) {
    return failure({ErrorKind::kInternal, broken.what(), std::string(name), "this is a bug in nl-stage; please report it"});
  }
}

Answer VerbTools::call_verb(const Entry& entry, const nlohmann::json& arguments, const servers::Call& call) {
  const ToolRow& row = *entry.row;
  const std::vector<std::string> words = words_of(row, entry.arguments, arguments, options_.root);
  if (row.starts_none) return call_here(words, row.verb);
  const Turns::Turn alone(row.alone ? captures_ : processes_, call.stop);
  return alone ? run_beside(row, words, call) : failure(interrupted());
}

Answer VerbTools::run_beside(const ToolRow& row, const std::vector<std::string>& words, const servers::Call& call) {
  const bool keeps = row.access != servers::Access::kRead;  // it writes what it has before it ends, however long that takes
  const orchestrator::OwnVerbEnd end = orchestrator::run_own_verb({.words = words,
                                                                   .directory = options_.root,
                                                                   .program = options_.program,
                                                                   .stop = call.stop,
                                                                   .grace_s = keeps ? 0 : kReaderGrace,
                                                                   .progress = call.progress});
  if (end.too_long) return failure({ErrorKind::kInput, "the answer is longer than 64 MB", std::string(row.name), "ask for less"});
  if (end.out.empty() && call.stop.stop_requested()) return failure(interrupted());
  return parsed(end.out, end.exit_status, row.verb);
}

}  // namespace nl::cli
