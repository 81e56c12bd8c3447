#include "cli/load_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "cli/value_checks.h"
#include "load/arrivals.h"
#include "model/error_code.h"
#include "model/load_report.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/config/units.h"

namespace nl::cli {
namespace {

constexpr std::size_t kMostRequests = 1'000'000, kDefaultRequests = 100;
constexpr double kLongest_s = 86'400, kMostRate = 100'000;

[[noreturn]] void refuse(ErrorCode code, std::string what, std::string where, std::string fix) {
  throw CodedError(code, std::move(what), std::move(where), std::move(fix));
}

// "Name: value", of what HTTP allows; what frames a request is ours.
std::string header_line(const std::string& header) {
  static const std::vector<std::string> kOurs = {"host",       "content-length", "transfer-encoding",
                                                 "connection", "x-request-id",   "content-type"};
  const std::size_t colon = header.find(':');
  std::string name = header.substr(0, colon);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto is_token = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
  const auto is_odd = [](unsigned char c) { return c < ' ' || c == 0x7f; };
  if (colon == std::string::npos || name.empty() || !std::all_of(name.begin(), name.end(), is_token) ||
      std::any_of(header.begin(), header.end(), is_odd))
    refuse(ErrorCode::kWrongValue, "this is no header", "--header", "write --header 'Name: value'");
  if (std::find(kOurs.begin(), kOurs.end(), name) != kOurs.end())
    refuse(ErrorCode::kWrongValue, fmt::format("the header {} is set by load", name), "--header",
           fmt::format("leave out one of: {}", fmt::join(kOurs, ", ")));
  return header + "\r\n";
}

std::string header_lines(const LoadFlags& flags) {
  std::string lines;
  for (const std::string& header : flags.headers) lines += header_line(header);
  if (!flags.api_key_env.empty()) {
    const char* key = std::getenv(flags.api_key_env.c_str());
    if (key == nullptr)
      refuse(ErrorCode::kWrongValue, fmt::format("the environment has no {}", flags.api_key_env), "--api-key-env",
             "set it, or name another");
    lines += header_line(fmt::format("Authorization: Bearer {}", key));
  }
  return lines;
}

void check_together(const LoadFlags& flags) {
  const int ways = (flags.rate ? 1 : 0) + (flags.concurrency ? 1 : 0) + (flags.replay.empty() ? 0 : 1);
  if (ways == 0)
    refuse(ErrorCode::kMissingArgument, "it is not said when requests are sent", "nl-stage load",
           "add --rate 4 (an open loop), --concurrency 8 (users who wait for their answers) or --replay FILE");
  if (ways > 1)
    refuse(ErrorCode::kConflictingFlags, "--rate, --concurrency and --replay exclude each other", "nl-stage load", "give one of them");
  if (flags.burstiness && (!flags.rate || from_key<ArrivalKind>(flags.arrivals) != ArrivalKind::kGamma))
    refuse(ErrorCode::kConflictingFlags, "--burstiness needs --rate and --arrivals gamma", "--burstiness", "add --arrivals gamma");
  if (!flags.replay.empty() && !flags.prompts.empty())
    refuse(ErrorCode::kConflictingFlags, "--replay has its own prompts", "--prompts", "leave out one of them");
}

LoadArrivals arrivals_of(const LoadFlags& flags) {
  LoadArrivals arrivals;
  arrivals.seed = flags.seed;
  arrivals.rate_per_s = flags.rate;
  if (flags.concurrency) arrivals.kind = ArrivalKind::kClosed, arrivals.concurrency = *flags.concurrency;
  else if (!flags.replay.empty()) arrivals.kind = ArrivalKind::kReplay;
  else arrivals.kind = from_key<ArrivalKind>(flags.arrivals).value_or(ArrivalKind::kPoisson);
  if (arrivals.kind == ArrivalKind::kGamma) arrivals.burstiness = flags.burstiness.value_or(1);
  return arrivals;
}

}  // namespace

void add_load_flags(CLI::App& verb, LoadFlags& flags) {
  verb.add_option("url", flags.url, "the server: http://127.0.0.1:8000 or unix:/path/of/the/socket; of this machine alone")
      ->type_name("URL");
  verb.add_option("--rate", flags.rate, "an open loop: so many requests a second, whatever became of those before")
      ->type_name("RATE")
      ->check(between(0.001, kMostRate));
  verb.add_option("--arrivals", flags.arrivals, "gaps between requests of an open loop; default: poisson")
      ->type_name("KIND")
      ->check(CLI::IsMember({"poisson", "gamma", "constant"}));
  verb.add_option("--burstiness", flags.burstiness, "of gamma arrivals: 1 is as Poisson, less comes in bursts; default: 1")
      ->type_name("FLOAT")
      ->check(between(0.01, 1000.0));
  verb.add_option("--concurrency", flags.concurrency, "a closed loop: so many users, each of whom waits for the answer")
      ->type_name("N")
      ->check(between(std::size_t{1}, std::size_t{65'536}));
  verb.add_option("--replay", flags.replay,
                  "an open loop by a file: {\"at_s\", \"prompt_tokens\", \"output_tokens\"} a line, or a Mooncake trace")
      ->type_name("FILE");
  verb.add_option("--requests", flags.requests, "default: 100, all of --replay, or as many as fit into --seconds")
      ->type_name("N")
      ->check(between(std::size_t{1}, kMostRequests));
  verb.add_option("--seconds", flags.seconds, "no request begins later; those that are open may end")
      ->type_name("SECONDS")
      ->check(between(0.001, kLongest_s));
  verb.add_option("--prompt-tokens", flags.prompt_tokens, "about so many words, or a range such as 128..1024; default: 512")
      ->type_name("TOKENS");
  verb.add_option("--output-tokens", flags.output_tokens, "at most so many, or a range; default: 128")->type_name("TOKENS");
  verb.add_option("--prompts", flags.prompts, "a prompt a line, as text or as {\"prompt\", \"output_tokens\"}; in turn")->type_name("FILE");
  verb.add_option("--model", flags.model, "default: the first of /v1/models")->type_name("NAME");
  verb.add_option("--endpoint", flags.endpoint, "default: completions")->type_name("KIND")->check(CLI::IsMember({"completions", "chat"}));
  verb.add_flag("--stop-at-eos", flags.stop_at_eos, "let the model end its answers; default: it is asked for all tokens (ignore_eos)");
  verb.add_option("--warmup", flags.warmups, "so many requests before, one after another; not counted")
      ->type_name("N")
      ->check(between(std::size_t{0}, std::size_t{10'000}));
  verb.add_option("--slo", flags.limits, "what a good request keeps, such as ttft=200ms,itl=30ms; of ttft, tpot, itl, e2e")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("LIMITS");
  verb.add_option("--seed", flags.seed, "of arrivals, lengths and prompts; default: 1")
      ->type_name("N")
      ->check(between(std::uint64_t{0}, std::uint64_t{1} << 53));
  verb.add_option("--header", flags.headers, "one more header, as 'Name: value'; repeatable")->allow_extra_args(false)->type_name("HEADER");
  verb.add_option("--api-key-env", flags.api_key_env, "the variable of the environment that has the key")->type_name("NAME");
  verb.add_option("--timeout", flags.timeout_s, "of each request; default: 600")->type_name("SECONDS")->check(between(0.001, kLongest_s));
  verb.add_option("--max-open", flags.most_open, "so many requests at once in an open loop; more are not sent; default: 1024")
      ->type_name("N")
      ->check(between(std::size_t{1}, std::size_t{65'536}));
  verb.add_option("--out", flags.out, "the records of all requests, as JSON")->type_name("FILE");
  verb.add_option("--from", flags.from,
                  "print results that are there: of --out, vLLM, SGLang, aiperf, GuideLLM or inference-perf; repeatable")
      ->allow_extra_args(true)
      ->type_name("FILE")
      ->excludes("url");
  verb.add_flag("--json", flags.json, "print {records, loads}");
}

load::LoadPlan load_plan(const LoadFlags& flags) {
  check_together(flags);
  load::LoadPlan plan;
  plan.target = load::target_of(flags.url);
  plan.endpoint = from_key<LoadEndpoint>(flags.endpoint).value_or(LoadEndpoint::kCompletions);
  plan.headers = header_lines(flags);
  plan.run_id = fmt::format("nl-{:08x}", orchestrator::random_bits());
  plan.arrivals = arrivals_of(flags);
  plan.warmups = flags.warmups;
  plan.most_open = flags.most_open;
  plan.to_the_end = !flags.stop_at_eos;
  plan.timeout_ns = std::llround(flags.timeout_s * 1e9);
  plan.most_ns = std::llround(flags.seconds.value_or(kLongest_s) * 1e9);
  plan.requests = flags.requests.value_or(flags.seconds ? kMostRequests : kDefaultRequests);
  const load::Lengths prompt = load::lengths_of(flags.prompt_tokens, "--prompt-tokens"),
                      output = load::lengths_of(flags.output_tokens, "--output-tokens");
  if (plan.arrivals.kind == ArrivalKind::kReplay) {
    load::Replay replay = load::read_replay(flags.replay);
    const auto late = std::lower_bound(replay.due_ns.begin(), replay.due_ns.end(), plan.most_ns);
    const auto count = std::min(static_cast<std::size_t>(late - replay.due_ns.begin()), flags.requests.value_or(kMostRequests));
    plan.due_ns.assign(replay.due_ns.begin(), replay.due_ns.begin() + static_cast<std::ptrdiff_t>(count));
    plan.prompts = load::Prompts(std::move(replay.prompts), output, flags.seed);
  } else {
    if (plan.arrivals.kind != ArrivalKind::kClosed) plan.due_ns = load::arrival_times(plan.arrivals, plan.requests, plan.most_ns);
    plan.prompts = flags.prompts.empty() ? load::Prompts(prompt, output, flags.seed)
                                         : load::Prompts(load::read_prompts(flags.prompts), output, flags.seed);
  }
  plan.model =
      flags.model.empty() ? load::first_model(plan.target, plan.headers, std::min<Ns>(plan.timeout_ns, 30'000'000'000)) : flags.model;
  return plan;
}

LoadLimits load_limits(const std::vector<std::string>& given) {
  LoadLimits limits;
  for (const std::string& each : given) {
    const std::size_t equals = std::min(each.find('='), each.size());
    const auto figure = from_key<LoadFigure>(each.substr(0, equals));
    const auto seconds = orchestrator::seconds_in(std::string_view(each).substr(std::min(equals + 1, each.size())));
    std::optional<Ns>* limit = figure == LoadFigure::kTtft   ? &limits.ttft_ns
                               : figure == LoadFigure::kTpot ? &limits.tpot_ns
                               : figure == LoadFigure::kItl  ? &limits.itl_ns
                               : figure == LoadFigure::kE2e  ? &limits.e2e_ns
                                                             : nullptr;
    if (limit == nullptr || !seconds || *seconds <= 0 || *seconds > kLongest_s)
      refuse(ErrorCode::kWrongValue, fmt::format("'{}' is no limit of a request", each), "--slo",
             "write --slo ttft=200ms,tpot=50ms,itl=30ms,e2e=5s");
    *limit = std::llround(*seconds * 1e9);
  }
  return limits;
}

}  // namespace nl::cli
