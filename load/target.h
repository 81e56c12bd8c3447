#pragma once

#include <cstdint>
#include <string>

namespace nl::load {

// A server on this machine.
struct Target {
  std::string address;  // "127.0.0.1", "::1"; empty: a socket of this machine
  std::uint16_t port = 80;
  std::string socket = {};   // its path
  std::string base = {};     // what stands before /v1: "", "/api"
  std::string url = {};      // as it was given, without a slash at its end
  std::string host() const;  // for the header: "127.0.0.1:8000"
};

// Of "http://127.0.0.1:8000", "http://[::1]:8000/api", "localhost:8000" or "unix:/run/llm.sock". Throws Error(kUsage) where it is none, and where it is not
// an address of this machine: nothing is sent over a network. Names other than localhost are not looked up.
Target target_of(const std::string& url);

}  // namespace nl::load
