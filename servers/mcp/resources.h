#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

// What is too large for an answer, by its address: "nl-stage://run/20261116-173757-llama-deep/report.md".
namespace nl::servers::mcp {

inline constexpr const char* kScheme = "nl-stage://";

struct Resource {
  std::string uri, name, title, mime_type;
};

struct ResourceTemplate {
  std::string uri_template, name, description, mime_type;
};

struct ResourceText {
  std::string mime_type, text;
};

class Resources {
 public:
  virtual ~Resources() = default;
  virtual std::vector<ResourceTemplate> templates() const = 0;
  // The newest first. May be called by several threads, as read() may.
  virtual std::vector<Resource> list(std::size_t from, std::size_t most) = 0;
  // None: there is no such thing. Throws Error where it cannot be read.
  virtual std::optional<ResourceText> read(const std::string& uri) = 0;
};

}  // namespace nl::servers::mcp
