#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "cli/json_output.h"
#include "cli/ledger_flags.h"
#include "cli/served_place.h"
#include "cli/value_checks.h"
#include "cli/verb_tools.h"
#include "cli/verbs.h"
#include "model/error.h"
#include "orchestrator/bundle/provenance.h"
#include "orchestrator/process/interrupts.h"
#include "servers/http/listener.h"
#include "servers/http/site.h"
#include "servers/mcp/http.h"
#include "servers/mcp/run_resources.h"

// serve: the ledger as pages and JSON for a team, and the tokens that open them.
namespace nl::cli {
namespace {

using servers::http::Role, servers::http::Tokens;

struct ServeFlags {
  std::string root = ".", ledger, tokens;
  servers::http::ListenOptions listen = {.port = 8470};
  double rate = 100;
  bool require_token = false, json = false;
};

std::filesystem::path tokens_file(const std::string& asked) {
  return asked.empty() ? servers::http::default_tokens_file() : std::filesystem::path(asked);
}

void refuse_open_door(const ServeFlags& flags, const Tokens& tokens) {
  const bool loopback = servers::http::is_loopback_address(flags.listen.address);
  if ((!loopback || flags.require_token) && tokens.all().empty())
    throw Error(ErrorKind::kUsage,
                loopback ? "--require-token is given, and there is no token" : "there is no token, and others can reach this address",
                flags.listen.address, "make one first: nl-stage serve token add NAME --role read|write");
  if (flags.listen.certificate.empty() != flags.listen.key.empty())
    throw Error(ErrorKind::kUsage, "TLS needs a certificate and its key", "--tls-cert, --tls-key", "give both files");
}

servers::http::SiteOptions site_options(const ServeFlags& flags, const std::filesystem::path& tokens, std::uint16_t port) {
  servers::http::SiteOptions options{orchestrator::ledger_location(flags.ledger), tokens, {}, flags.rate, orchestrator::version()};
  if (options.ledger.empty())
    throw Error(ErrorKind::kUsage, "the ledger is off, and there is nothing to show", "--ledger", "name a ledger with --ledger");
  options.gate.loopback = servers::http::is_loopback_address(flags.listen.address);
  options.gate.always_token = flags.require_token;
  options.gate.cookie = fmt::format("nl_stage_{}", port);
  return options;
}

std::string address_text(const ServeFlags& flags, std::uint16_t port) {
  const bool brackets = flags.listen.address.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}/", flags.listen.certificate.empty() ? "http" : "https", brackets ? "[" : "", flags.listen.address,
                     brackets ? "]" : "", port);
}

void tell_address(const ServeFlags& flags, std::uint16_t port) {
  const std::string address = address_text(flags, port);
  if (flags.json) write_json({{"address", address}, {"port", port}, {"pid", ::getpid()}});
  else write_out("nl-stage serves {}\n", address);
  std::fflush(stdout);
  if (!servers::http::is_loopback_address(flags.listen.address) && flags.listen.certificate.empty())
    write_err("note:  without TLS, tokens and pages can be read on the way: give --tls-cert and --tls-key, or put a proxy in front\n");
}

void wait_for_signal() {
  while (orchestrator::Interrupts::signal() == 0) {
    pollfd wake = {orchestrator::Interrupts::wake_fd(), POLLIN, 0};
    poll(&wake, 1, 1000);
    orchestrator::Interrupts::drain();
  }
}

// MCP over HTTP, by the same tools as the API.
servers::http::Response answer_agent(servers::mcp::Server& server, const servers::http::Request& request, servers::Access access) {
  const auto header = [&](const char* name) { return request.header(name).value_or(""); };
  const std::string version = header("mcp-protocol-version"), method = header("mcp-method"), name = header("mcp-name");
  const auto reply = servers::mcp::answer_post(server, {request.body, version, method, name}, {.stop = request.stop, .access = access});
  return {reply.status, servers::http::kJson, reply.body};
}

// What is still being answered was asked to stop. What does not stop in this time ends with the process: nothing of it is half written, as a
// ledger takes a change whole or not at all.
void end_soon() {
  static constexpr auto kGrace = std::chrono::milliseconds(700);
  std::thread([] {
    std::this_thread::sleep_for(kGrace);
    std::_Exit(0);
  }).detach();
}

int serve(const ServeFlags& flags) {
  const Tokens tokens(tokens_file(flags.tokens));
  refuse_open_door(flags, tokens);
  const orchestrator::Interrupts interrupts;
  const std::filesystem::path root = served_root(flags.root);
  pass_on_ledger(flags.ledger);
  VerbTools tools({.root = root, .access = servers::Access::kWrite});  // routes ask whether the caller may write
  servers::mcp::RunResources resources(flags.ledger, root);
  servers::mcp::Server agents(tools, resources, {orchestrator::version()});
  std::unique_ptr<servers::http::Site> site;
  servers::http::Counters counters;
  const auto listener = servers::http::listen(
      flags.listen,
      {[&](const auto& request) { return site->answer(request); }, [&](const auto& request) { return site->pace_of(request); }}, counters);
  auto options = site_options(flags, tokens.file(), listener->port());
  options.mcp = [&](const auto& request, servers::Access access) { return answer_agent(agents, request, access); };
  site = std::make_unique<servers::http::Site>(std::move(options), tools, counters);
  std::thread listening([&] { listener->run(); });
  tell_address(flags, listener->port());
  wait_for_signal();
  end_soon();
  listener->stop();
  listening.join();
  return 0;
}

struct TokenFlags {
  std::string name, role = "read", tokens;
  bool json = false;
};

int add_token(const TokenFlags& flags) {
  const auto role = from_key<Role>(flags.role).value_or(Role::kRead);
  Tokens tokens(tokens_file(flags.tokens));
  const std::string token = tokens.add(flags.name, role);
  if (flags.json) write_json({{"name", flags.name}, {"role", flags.role}, {"token", token}, {"file", tokens.file().string()}});
  else
    write_out("{}\nThis is the token of {}, role {}. It is shown once; {} keeps its digest.\n", token, flags.name, flags.role,
              tokens.file().string());
  return 0;
}

int list_tokens(const TokenFlags& flags) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& token : Tokens(tokens_file(flags.tokens)).all()) {
    list.push_back({{"name", token.name}, {"role", key_of(token.role)}, {"made_at", token.made_at}});
    if (!flags.json) write_out("{:<24} {:<6} {}\n", token.name, key_of(token.role), token.made_at);
  }
  if (flags.json) write_json({{"tokens", list}});
  else if (list.empty()) write_out("No tokens.\n");
  return 0;
}

int remove_token(const TokenFlags& flags) {
  Tokens(tokens_file(flags.tokens)).remove(flags.name);
  if (flags.json) write_json({{"removed", flags.name}});
  else write_out("removed {}\n", flags.name);
  return 0;
}

constexpr const char* kTokensHelp = "file of the tokens; default: nl-stage/tokens.json of your data";

void add_token_verbs(CLI::App& serve_verb, std::function<int()>& action) {
  CLI::App* verb = serve_verb.add_subcommand("token", "Make, list and remove the tokens that open a server");
  verb->require_subcommand(1);
  const auto below = [&](const char* name, const char* about, int (*act)(const TokenFlags&), bool named) {
    auto flags = std::make_shared<TokenFlags>();
    CLI::App* each = verb->add_subcommand(name, about);
    if (named) each->add_option("name", flags->name, "whose it is: letters, digits, . _ @ -")->required()->type_name("NAME");
    if (act == add_token)
      each->add_option("--role", flags->role, "read: pages and figures; write: also tags, notes, and stopping runs")
          ->check(CLI::IsMember({"read", "write"}))
          ->capture_default_str();
    each->add_option("--tokens", flags->tokens, kTokensHelp)->type_name("FILE");
    each->add_flag("--json", flags->json,
                   act == add_token     ? "print {name, role, token, file}"
                   : act == list_tokens ? "print {tokens: [{name, role, made_at}]}"
                                        : "print {removed}");
    each->callback([flags, act, &action] { action = [flags, act] { return act(*flags); }; });
  };
  below("add", "Make a token; it is printed once", add_token, true);
  below("ls", "List the tokens", list_tokens, false);
  below("rm", "Remove a token; a running server forgets it at once", remove_token, true);
}

void add_limits(CLI::App& verb, ServeFlags& flags) {
  verb.add_option("--rate", flags.rate, "requests a second of one client, and twice as many at once; 0: any number")
      ->capture_default_str()
      ->check(not_negative());
  verb.add_option("--connections", flags.listen.connections, "open at once; one more is answered with 503")
      ->capture_default_str()
      ->check(between<std::size_t>(1, 10'000));
}

}  // namespace

void add_serve(CLI::App& app, std::function<int()>& action) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App* verb = app.add_subcommand("serve", "Serve the ledger as pages and as JSON, to this machine or a team");
  add_token_verbs(*verb, action);
  add_ledger_flag(*verb, flags->ledger);
  verb->add_option("--root", flags->root, "bundles and captures that requests name lie below it; runs of the ledger may lie anywhere")
      ->capture_default_str()
      ->type_name("DIR");
  verb->add_option("--address", flags->listen.address, "listen here; beyond loopback it needs tokens")->capture_default_str();
  verb->add_option("--port", flags->listen.port, "0: one that is free")->capture_default_str();
  verb->add_option("--tls-cert", flags->listen.certificate, "certificate chain in PEM: with it, HTTPS alone is spoken")->type_name("FILE");
  verb->add_option("--tls-key", flags->listen.key, "its key in PEM")->type_name("FILE");
  verb->add_option("--tokens", flags->tokens, kTokensHelp)->type_name("FILE");
  verb->add_flag("--require-token", flags->require_token, "reading needs a token on loopback, too: other users of this machine reach it");
  add_limits(*verb, *flags);
  verb->add_flag("--json", flags->json, "print {address, port, pid} when it listens");
  verb->footer(
      "Ctrl-C or SIGTERM ends it. docs/serve.md has the pages, the API, and a unit of systemd.\n"
      "Examples:\n"
      "  nl-stage serve\n"
      "  nl-stage serve --port 0 --json\n"
      "  nl-stage serve token add ci --role read\n"
      "  nl-stage serve --address 0.0.0.0 --tls-cert cert.pem --tls-key key.pem --ledger postgresql://me@host/runs\n"
      "The exit status is 0 when it was ended, 2 if it may not listen without tokens, 8 if the port is taken.");
  verb->callback([flags, verb, &action] {
    if (verb->get_subcommands().empty()) action = [flags] { return serve(*flags); };
  });
}

}  // namespace nl::cli
