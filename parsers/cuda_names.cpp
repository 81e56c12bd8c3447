#include "parsers/cuda_names.h"

#include <cstdlib>
#include <iterator>
#include <memory>

#include <cxxabi.h>

namespace nl::parsers {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

// Where the parameters begin: the first parenthesis outside of <> that does not name a namespace.
std::size_t parameters_at(std::string_view name) {
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    else if (name[i] == '>' && depth > 0) --depth;
    else if (name[i] == '(' && depth == 0) {
      if (name.substr(i, kAnonymous.size()) != kAnonymous) return i;
      i += kAnonymous.size() - 1;
    }
  }
  return name.size();
}

}  // namespace

std::string demangled_kernel(const std::string& mangled) {
  if (mangled.rfind("_Z", 0) != 0) return mangled;
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : mangled;
}

std::string_view kernel_base_name(std::string_view demangled) {
  std::string_view name = demangled.substr(0, parameters_at(demangled));
  if (!name.empty() && name.back() == '>') {  // its template arguments, back to the bracket that opens them
    int depth = 0;
    for (std::size_t i = name.size(); i-- > 0;) {
      if (name[i] == '>') ++depth;
      if (name[i] == '<' && --depth == 0) {
        name = name.substr(0, i);
        break;
      }
    }
  }
  // What is left may still have <> in the names of namespaces: a::b<c::d>::e.
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    if (name[i] == '>') ++depth;
    if (name[i] == '<') --depth;
    if (depth == 0 && (name[i] == ' ' || name[i] == ':')) return name.substr(i + 1);
  }
  return name.empty() ? demangled : name;
}

MemOpKind copy_kind(std::int64_t number) {
  switch (number) {
    case 1:
    case 3:
    case 11: return MemOpKind::kHostToDevice;
    case 2:
    case 4:
    case 12: return MemOpKind::kDeviceToHost;
    case 5:
    case 6:
    case 7:
    case 8:
    case 13: return MemOpKind::kDeviceToDevice;
    case 9: return MemOpKind::kHostToHost;
    case 10: return MemOpKind::kPeerToPeer;
    default: return MemOpKind::kOther;
  }
}

std::string copy_label(std::int64_t number) {
  constexpr const char* kNames[] = {
      "Unknown",        "Host-to-Device",         "Device-to-Host",         "Host-to-Array",           "Array-to-Host",
      "Array-to-Array", "Array-to-Device",        "Device-to-Array",        "Device-to-Device",        "Host-to-Host",
      "Peer-to-Peer",   "Unified Host-to-Device", "Unified Device-to-Host", "Unified Device-to-Device"};
  bool known = number >= 0 && number < static_cast<std::int64_t>(std::size(kNames));
  return std::string("[CUDA memcpy ") + kNames[known ? number : 0] + "]";
}

}  // namespace nl::parsers
