#include <fmt/format.h>

#include "model/error.h"
#include "servers/http/listener_parts.h"

// The listener of an nl-stage that was built without OpenSSL.
namespace nl::servers::http {

std::unique_ptr<Listener> listen(const ListenOptions& options, Answers answers, Counters& counters) {
  if (!options.certificate.empty())
    throw Error(ErrorKind::kTool, "this nl-stage was built without TLS", "--tls-cert",
                "install libssl-dev and build again, or put a proxy with TLS in front of it");
  return std::make_unique<BeastListener>(options, std::move(answers), counters);
}

}  // namespace nl::servers::http
