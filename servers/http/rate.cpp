#include "servers/http/rate.h"

#include <algorithm>
#include <string_view>

namespace nl::servers::http {
namespace {

constexpr std::size_t kMostClients = 10'000;  // kept in mind at once
constexpr double kBurstSeconds = 2;

// "2001:db8:1:2:3:4:5:6" → "2001:db8:1:2": who has one such network has all of its addresses. A shortened address stays as it is.
std::string network_of(const std::string& client) {
  std::size_t end = 0;
  for (int i = 0; i < 4; ++i) {
    end = client.find(':', end);
    if (end == std::string::npos || client.compare(end, 2, "::") == 0) return client;
    ++end;
  }
  return client.substr(0, end - 1);
}

}  // namespace

bool RateLimit::allows(const std::string& client, Clock::time_point now) {
  if (per_second_ <= 0) return true;
  const double most = per_second_ * kBurstSeconds;
  const std::lock_guard lock(mutex_);
  if (clients_.size() >= kMostClients) forget_idle(now);
  auto [found, fresh] = clients_.try_emplace(network_of(client), Left{most, now});
  Left& left = found->second;
  left.requests = std::min(most, left.requests + per_second_ * std::chrono::duration<double>(now - left.at).count());
  left.at = now;
  if (left.requests < 1) return false;
  left.requests -= 1;
  return true;
}

void RateLimit::forget_idle(Clock::time_point now) {
  std::erase_if(clients_, [&](const auto& entry) { return now - entry.second.at > std::chrono::duration<double>(kBurstSeconds); });
  if (clients_.size() >= kMostClients) clients_.clear();
}

}  // namespace nl::servers::http
