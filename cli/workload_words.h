#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

// The workload's command among the words of the command line.
namespace nl::cli {

inline constexpr std::string_view kEndOfFlags = "--";

bool is_flag(std::string_view word);  // "-c", "--config"; "-" alone is a word

// Lets this verb take a command, from the first word that is not one of its flags; a "--" may stand before it.
void take_workload(CLI::App& verb, const char* help);

// Where the workload's command begins in argv, or the "--" before it; argc where there is no command. Behind an unknown flag the command is
// taken to begin at the likeliest word: the unknown flag is reported in any case, and a --json before the command still counts.
int workload_begin(const CLI::App& app, int argc, char** argv);

// Cuts the command off the words and keeps it for workload_given(). It happens before CLI11 parses, because the flags of a
// workload are not ours, and because CLI11 would split a word such as "[a,b]" at its commas. Verbs without a command keep all
// of their words.
void cut_workload(const CLI::App& app, int& argc, char** argv);
const std::vector<std::string>& workload_given();  // empty: none

}  // namespace nl::cli
