#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/words.h"

// Who may read and who may change something: random tokens, of which the file keeps digests only.
namespace nl::servers::http {

enum class Role { kRead, kWrite };

struct Token {
  std::string name;
  Role role = Role::kRead;
  std::string sha256;   // of the token, in hexadecimal
  std::string made_at;  // RFC 3339, UTC
};

// A file of mode 0600. Every function reads it anew where it was changed, so that a running server knows a new token, and forgets a removed
// one, at once. May be used by several threads. Throws Error: kInput where the file is damaged or others may read it, kOutput where it cannot be written,
// kTool where this machine has no libcrypto.
class Tokens {
 public:
  explicit Tokens(std::filesystem::path file) : file_(std::move(file)) {}

  std::vector<Token> all() const;  // in the order in which they were made
  // The token itself, to be shown once. Throws Error(kUsage) for a name that is taken, or odd.
  std::string add(const std::string& name, Role role);
  void remove(const std::string& name);  // Error(kUsage) where there is none
  // Whose it is; nothing where there is no such token. Takes the same time for every wrong one.
  std::optional<Token> owner_of(std::string_view token) const;

  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
};

// tokens.json in nl-stage's folder of the user's data, beside the default ledger. Throws Error(kOutput) where there is no home folder.
std::filesystem::path default_tokens_file();

bool same_bytes(std::string_view a, std::string_view b);  // in a time that does not tell where they differ

}  // namespace nl::servers::http

namespace nl {
template <>
inline constexpr auto kKeys<servers::http::Role> = std::to_array<std::string_view>({"read", "write"});
}  // namespace nl
