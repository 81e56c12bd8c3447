#pragma once

#include <memory>
#include <vector>

#include "servers/http/parts.h"
#include "servers/http/rate.h"

namespace nl::servers::http {

// The whole server but its sockets: a request in, its answer out. May be used by several threads.
class Site {
 public:
  Site(SiteOptions options, Tools& tools, Counters& counters);

  Response answer(const Request& request) noexcept;
  Pace pace_of(const Request& request) const;
  const std::vector<Route>& routes() const { return routes_; }

 private:
  Response checked_answer(const Request& request, std::string& path);
  Response routed_answer(const Route& route, Ask ask);
  Response answer_of(const Route& route, Ask ask) const;
  Response refused(const Request& request, const Refusal& refusal, const Route* route) const;

  Parts parts_;
  RateLimit rate_;
  std::vector<Route> routes_;
};

}  // namespace nl::servers::http
