// Real programs, sampled by the real kernel.
#include "orchestrator/sampling/stack_sampler.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "analysis/figures/host/code_origin.h"
#include "orchestrator/process/process.h"
#include "orchestrator/sampling/perf_access.h"
#include "parsers/stacks/stack_file.h"
#include "tests/unit/orchestrator/sampling/compiled_program.h"

using namespace nl;
using namespace nl::orchestrator;
using nl::analysis::CodeOrigin;
using nl::orchestrator::sampling::SampledStacks;
using nl::test::compiled;
using nl::test::Folder;

namespace {

// Runs for half a second of processor time, most of it in the comparisons of a sort, which the compiler puts into the library's templates.
// A word that must not reach any file lies on the stack.
const char* const kAccounts = R"(
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <vector>
struct Account { double balance; int id; };
__attribute__((noinline)) double settle_accounts(std::vector<Account>& accounts, int day) {
  volatile char word[64];
  const char secret[] = "hunter2-on-the-stack";
  for (unsigned i = 0; i < sizeof secret; ++i) word[i] = secret[i];
  auto worth = [&](const Account& each) { return std::fmod(each.balance * (day + 1), 97.0) + (word[0] == 'h' ? 0 : 1); };
  std::sort(accounts.begin(), accounts.end(), [&](const Account& a, const Account& b) { return worth(a) < worth(b); });
  return accounts[0].balance + word[1];
}
__attribute__((noinline)) double keep_books(std::vector<Account>& accounts) {
  double sum = 0;
  for (int day = 0; std::clock() < CLOCKS_PER_SEC / 2; ++day) sum += settle_accounts(accounts, day);
  return sum;
}
int main() {
  std::vector<Account> accounts(20000);
  for (int i = 0; i < 20000; ++i) accounts[i] = {double(i * 7919 % 10007), i};
  std::printf("%g\n", keep_books(accounts));
}
)";

SampledStacks sampled_run(const std::vector<std::string>& argv, int hertz = 499, std::vector<std::string> only_with = {}) {
  ProcessSpec spec;
  spec.argv = argv;
  spec.env = {{"API_TOKEN", "hunter2-in-the-environment"}};
  spec.sample_stacks = {hertz, std::move(only_with)};
  const ProcessResult result = run_process(spec);
  CHECK(result.exit_status == 0);
  return result.stacks;
}

parsers::StackFile read_sampled(const Folder& folder, const std::pair<std::uint32_t, std::string>& file) {
  return parsers::read_stack_file(folder.file(("stacks-" + std::to_string(file.first) + ".txt").c_str(), file.second));
}

// In how many samples each function is the innermost of the user's own.
std::map<std::string, std::size_t> own_function_counts(const HostSamples& host) {
  std::map<std::string, std::size_t> out;
  for (const HostSample& sample : host.samples) {
    const auto& stack = host.stacks.at(sample.stack);
    std::string own = "(none)";
    for (auto frame = stack.rbegin(); frame != stack.rend() && own == "(none)"; ++frame)
      if (analysis::origin_of(host.frames[*frame]) == CodeOrigin::kUser) own = host.frames[*frame].function;
    ++out[own];
  }
  return out;
}

bool may_sample_here() { return sampling::try_perf_events() == 0; }

}  // namespace

#define NL_NEEDS_PERF_EVENTS() \
  if (!may_sample_here()) NL_SKIP("the kernel does not allow perf_event_open here")

TEST_CASE("stack sampler: the user's function is found below the standard library, without frame pointers") {
  NL_NEEDS_PERF_EVENTS();
  const Folder folder;
  const auto program = compiled(folder, "accounts", kAccounts);
  if (program.empty()) NL_SKIP("there is no C++ compiler");
  const SampledStacks stacks = sampled_run({program.string()});
  REQUIRE(stacks.error == 0);
  REQUIRE(stacks.files.size() == 1);
  const parsers::StackFile file = read_sampled(folder, stacks.files[0]);
  CHECK(file.damaged.empty());
  CHECK(file.sampler == HostSampler::kPerf);
  CHECK(file.pid == stacks.files[0].first);
  REQUIRE(file.host.samples.size() > 50);  // of about 250
  auto own = own_function_counts(file.host);
  const auto share = static_cast<double>(own["settle_accounts"]) / static_cast<double>(file.host.samples.size());
  CHECK(share > 0.8);
  // Whole stacks, down to main and its caller.
  std::size_t whole = 0;
  for (const HostSample& sample : file.host.samples) {
    std::vector<std::string> names;
    for (const std::uint32_t frame : file.host.stacks[sample.stack]) names.push_back(file.host.frames[frame].function);
    const auto main = std::find(names.begin(), names.end(), "main"), books = std::find(main, names.end(), "keep_books");
    whole += std::find(books, names.end(), "settle_accounts") != names.end();
  }
  CHECK(static_cast<double>(whole) > 0.8 * static_cast<double>(file.host.samples.size()));
  for (const HostSample& sample : file.host.samples) CHECK(sample.tid == file.pid);
}

TEST_CASE("stack sampler: nothing of a stack's bytes or of the environment is kept") {
  NL_NEEDS_PERF_EVENTS();
  const Folder folder;
  const auto program = compiled(folder, "accounts", kAccounts);
  if (program.empty()) NL_SKIP("there is no C++ compiler");
  const SampledStacks stacks = sampled_run({program.string()}, 199);
  REQUIRE(stacks.files.size() == 1);
  CHECK(nl::test::has(stacks.files[0].second, "settle_accounts"));
  CHECK_FALSE(nl::test::has(stacks.files[0].second, "hunter2"));
  // Every line is of a known kind, with names and numbers only.
  std::istringstream lines(stacks.files[0].second);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    const bool known = line.starts_with("nl-stage stacks\t") || line == "sampler\tperf" || line.starts_with("period\t") ||
                       line.starts_with("f\t") || line.starts_with("k\t") || line.starts_with("s\t") || line.starts_with("c\t");
    CHECK(known);
  }
}

TEST_CASE("stack sampler: children, threads and what replaces a shell are followed, each process by itself") {
  NL_NEEDS_PERF_EVENTS();
  const Folder folder;
  const auto program = compiled(folder, "accounts", kAccounts);
  if (program.empty()) NL_SKIP("there is no C++ compiler");
  const auto threads = compiled(folder, "threads", R"(
#include <ctime>
#include <cmath>
#include <thread>
#include <unistd.h>
#include <sys/wait.h>
double kept = 0;
void spin_one(double seconds) { double x = 0; for (timespec now{}; now.tv_sec + now.tv_nsec * 1e-9 < seconds; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)) x = std::sin(x + 1); kept = x; }
void spin_two(double seconds) { double x = 1; for (timespec now{}; now.tv_sec + now.tv_nsec * 1e-9 < seconds; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)) x = std::cos(x + 1); kept = x; }
int main() {
  if (fork() == 0) { spin_two(0.3); _exit(0); }
  std::thread one([] { spin_one(0.3); });
  one.join();
  wait(nullptr);
})");
  REQUIRE_FALSE(threads.empty());
  const SampledStacks stacks = sampled_run({"/bin/sh", "-c", "'" + program.string() + "'; exec '" + threads.string() + "'"});
  REQUIRE(stacks.error == 0);
  std::map<std::string, std::pair<std::uint32_t, std::uint32_t>> found;  // process and thread of most samples
  for (const auto& each : stacks.files) {
    const parsers::StackFile file = read_sampled(folder, each);
    for (const auto& [function, samples] : own_function_counts(file.host))
      if (samples > 20) found[function] = {file.pid, file.host.samples.back().tid};
  }
  REQUIRE((found.contains("settle_accounts") && found.contains("spin_one") && found.contains("spin_two")));
  CHECK(found["settle_accounts"].first != found["spin_one"].first);
  CHECK(found["spin_two"].first != found["spin_one"].first);
  CHECK(found["spin_one"].second != found["spin_one"].first);  // a thread, not the first one
}

TEST_CASE("stack sampler: only processes that are asked for, and none of Python's") {
  NL_NEEDS_PERF_EVENTS();
  const Folder folder;
  const auto program = compiled(folder, "accounts", kAccounts);
  if (program.empty()) NL_SKIP("there is no C++ compiler");
  CHECK(sampled_run({program.string()}, 199, {"libno_such_library"}).files.empty());
  CHECK(sampled_run({program.string()}, 199, {"libno_such_library", "libm.so"}).files.size() == 1);
  CHECK(sampled_run({program.string()}, 0).files.empty());
  if (std::system("python3 -c '' > /dev/null 2>&1") != 0) NL_SKIP("there is no Python");
  const SampledStacks both = sampled_run({"/bin/sh", "-c", "python3 -c 'sum(range(9000000))'; '" + program.string() + "'"});
  REQUIRE_FALSE(both.files.empty());
  for (const auto& each : both.files) CHECK_FALSE(nl::test::has(each.second, "python"));
}

TEST_CASE("stack sampler: a program without symbols has its libraries' names, and its own without one") {
  NL_NEEDS_PERF_EVENTS();
  const Folder folder;
  const auto program = compiled(folder, "bare", kAccounts, "-O2 -fomit-frame-pointer -s");
  if (program.empty()) NL_SKIP("there is no C++ compiler");
  const SampledStacks stacks = sampled_run({program.string()}, 199);
  REQUIRE(stacks.files.size() == 1);
  const parsers::StackFile file = read_sampled(folder, stacks.files[0]);
  std::size_t nameless = 0;
  for (const HostFrame& frame : file.host.frames) nameless += frame.file == program.string() && frame.function == "(no symbol)";
  CHECK(nameless == 1);  // one for the whole program: its addresses say nothing to a reader
}

TEST_CASE("stack sampler: a program that is not there leaves nothing running") {
  ProcessSpec spec;
  spec.argv = {"/no/such/program"};
  spec.sample_stacks = {97, {}};
  CHECK_THROWS_AS(run_process(spec), Error);
}
