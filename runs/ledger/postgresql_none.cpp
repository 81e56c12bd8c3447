#include "model/error.h"
#include "orchestrator/config/ledger_location.h"
#include "runs/ledger/connection.h"

namespace nl::runs::database {

std::unique_ptr<Connection> open_postgresql(const std::string& url, const ServerLimits&) {
  throw Error(ErrorKind::kTool, "this nl-stage was built without PostgreSQL", without_password(url),
              "name a file with --ledger, or build nl-stage with libpq's headers (-Dpostgresql=enabled)");
}

}  // namespace nl::runs::database
