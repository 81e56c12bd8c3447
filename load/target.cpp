#include "load/target.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include "model/error_code.h"

namespace nl::load {
namespace {

constexpr std::string_view kHttp = "http://", kHttps = "https://", kUnix = "unix:";

[[noreturn]] void refuse(const std::string& what, const std::string& url, const char* fix) {
  throw CodedError(ErrorCode::kWrongValue, what, url, fix);
}

bool is_own(int family, const void* bytes, std::size_t size) {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return false;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(first, freeifaddrs);
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != family) continue;
    const void* own = family == AF_INET ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr)
                                        : static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(each->ifa_addr)->sin6_addr);
    if (std::memcmp(own, bytes, size) == 0) return true;
  }
  return false;
}

// All of 127.0.0.0/8 and ::1, and what the interfaces of this machine have.
bool is_of_this_machine(const std::string& address) {
  in_addr four{};
  in6_addr six{};
  if (inet_pton(AF_INET, address.c_str(), &four) == 1) return (ntohl(four.s_addr) >> 24) == 127 || is_own(AF_INET, &four, sizeof four);
  if (inet_pton(AF_INET6, address.c_str(), &six) == 1) return IN6_IS_ADDR_LOOPBACK(&six) || is_own(AF_INET6, &six, sizeof six);
  return false;
}

bool is_numeric(const std::string& address) {
  in6_addr bytes{};
  return inet_pton(AF_INET, address.c_str(), &bytes) == 1 || inet_pton(AF_INET6, address.c_str(), &bytes) == 1;
}

// "127.0.0.1:8000", "[::1]:8000", "localhost"
void read_place(std::string_view place, const std::string& url, Target& target) {
  std::optional<std::string_view> given;
  if (place.starts_with('[')) {
    const std::size_t end = std::min(place.find(']'), place.size());
    target.address = place.substr(1, end - 1);
    if (end + 1 < place.size() && place[end + 1] == ':') given = place.substr(end + 2);
    else if (end + 1 < place.size() || end == place.size()) target.address.clear();
  } else {
    const std::size_t colon = place.find(':');
    target.address = place.substr(0, colon);
    if (colon != std::string_view::npos) given = place.substr(colon + 1);
  }
  const std::string_view port = given.value_or("80");
  const auto read = std::from_chars(port.data(), port.data() + port.size(), target.port);
  if (target.address.empty() || read.ec != std::errc() || read.ptr != port.data() + port.size() || target.port == 0)
    refuse("this is no address of a server", url, "write http://127.0.0.1:8000, http://[::1]:8000 or unix:/path/of/the/socket");
}

}  // namespace

std::string Target::host() const {
  if (!socket.empty()) return "localhost";
  return address.find(':') == std::string::npos ? fmt::format("{}:{}", address, port) : fmt::format("[{}]:{}", address, port);
}

Target target_of(const std::string& url) {
  Target target;
  target.url = url.substr(0, url.find_last_not_of('/') + 1);
  std::string_view rest = target.url;
  const auto odd = [](unsigned char c) { return c <= ' ' || c == 0x7f; };
  if (std::any_of(rest.begin(), rest.end(), odd))
    refuse("an address has no blanks and no control characters", url, "write http://127.0.0.1:8000");
  if (rest.starts_with(kUnix)) {
    target.socket = rest.substr(kUnix.size());
    if (target.socket.empty() || target.socket.size() >= sizeof(sockaddr_un::sun_path))
      refuse("this is no path of a socket", url, "write unix:/path/of/the/socket, of at most 107 bytes");
    return target;
  }
  if (rest.starts_with(kHttps)) refuse("load speaks HTTP without TLS", url, "give the server's own HTTP address on this machine");
  if (rest.starts_with(kHttp)) rest.remove_prefix(kHttp.size());
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  target.base = rest.substr(slash);
  if (target.base.ends_with("/v1")) target.base.resize(target.base.size() - 3);
  read_place(rest.substr(0, slash), url, target);
  if (target.address == "localhost") target.address = "127.0.0.1";
  if (!is_numeric(target.address))
    refuse(fmt::format("'{}' is a name, and load looks up no names", target.address), url,
           "give localhost or a numeric address of this machine: load sends nothing over a network");
  if (!is_of_this_machine(target.address))
    refuse(fmt::format("{} is not an address of this machine", target.address), url,
           "run nl-stage load where the server runs: load sends nothing over a network");
  return target;
}

}  // namespace nl::load
