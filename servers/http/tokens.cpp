#include "servers/http/tokens.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>

#include "model/error.h"
#include "model/input_bounds.h"
#include "model/time.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/bundle/sha256.h"

namespace fs = std::filesystem;

namespace nl::servers::http {
namespace {

constexpr std::size_t kTokenBytes = 32;
constexpr std::string_view kPrefix = "nls_";  // so that scanners of source code know what they found
constexpr const char* kMakeOne = "nl-stage serve token add NAME --role read|write";

std::string random_token() {
  std::array<unsigned char, kTokenBytes> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw Error(ErrorKind::kInternal, "Linux gave no random bytes", "getrandom");
  std::string token(kPrefix);
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

std::string digest_of(std::string_view token) {
  std::string digest = orchestrator::sha256_text(token);
  if (digest.empty())
    throw Error(ErrorKind::kTool, "tokens need libcrypto, and it was not found", "libcrypto.so.3", "sudo apt-get install libssl3");
  return digest;
}

void refuse_readable(const fs::path& file) {
  struct stat about = {};
  if (::stat(file.c_str(), &about) == 0 && (about.st_mode & 077) != 0)
    throw Error(ErrorKind::kInput, "others may read or write the file of the tokens", file.string(),
                fmt::format("chmod 600 {}, and make new tokens", file.string()));
}

std::vector<Token> parsed_tokens(const std::string& text, const fs::path& file) {
  std::vector<Token> tokens;
  try {
    const auto json = nlohmann::json::parse(json_within_bounds(text, file.string()));
    for (const auto& each : json.at("tokens")) {
      const auto role = from_key<Role>(each.at("role").get<std::string>());
      if (!role) throw Error(ErrorKind::kInput, "a token has an unknown role", file.string(), kMakeOne);
      tokens.push_back({each.at("name"), *role, each.at("sha256"), each.at("made_at")});
    }
  } catch (const nlohmann::json::exception&) {
    throw Error(ErrorKind::kInput, "the file of the tokens is damaged", file.string(),
                fmt::format("remove it, and make new tokens: {}", kMakeOne));
  }
  return tokens;
}

std::vector<Token> read_tokens(const fs::path& file) {
  refuse_readable(file);
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return {};
  return parsed_tokens({std::istreambuf_iterator<char>(stream), {}}, file);
}

void write_tokens(const fs::path& file, const std::vector<Token>& tokens) {
  nlohmann::ordered_json json = {{"tokens", nlohmann::ordered_json::array()}};
  for (const Token& token : tokens)
    json["tokens"].push_back({{"name", token.name}, {"role", key_of(token.role)}, {"sha256", token.sha256}, {"made_at", token.made_at}});
  const mode_t before = ::umask(077);  // the file is private from its first byte on
  try {
    orchestrator::write_file_whole(file, json.dump(2) + "\n");
  } catch (...) {
    ::umask(before);
    throw;
  }
  ::umask(before);
}

// Two that add at the same time: the second waits.
class TokensLock {
 public:
  explicit TokensLock(const fs::path& file) {
    std::error_code ignored;
    fs::create_directories(file.parent_path(), ignored);
    fd_ = ::open((file.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd_ < 0 || ::flock(fd_, LOCK_EX) != 0)
      throw Error(ErrorKind::kOutput, "the tokens cannot be written", file.string(), "ask for the right to write there");
  }
  ~TokensLock() { ::close(fd_); }
  TokensLock(const TokensLock&) = delete;
  TokensLock& operator=(const TokensLock&) = delete;

 private:
  int fd_ = -1;
};

void refuse_odd_name(const std::string& name) {
  static const std::regex plain("[A-Za-z0-9][A-Za-z0-9._@-]{0,63}");
  if (!std::regex_match(name, plain))
    throw Error(ErrorKind::kUsage, fmt::format("'{}' is no name of a token", name), "serve token add",
                "take up to 64 letters, digits, and . _ @ -");
}

}  // namespace

bool same_bytes(std::string_view a, std::string_view b) {
  volatile unsigned char different = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    different = static_cast<unsigned char>(different | (static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i])));
  return different == 0;
}

std::vector<Token> Tokens::all() const { return read_tokens(file_); }

std::string Tokens::add(const std::string& name, Role role) {
  refuse_odd_name(name);
  const TokensLock lock(file_);
  std::vector<Token> tokens = read_tokens(file_);
  if (std::any_of(tokens.begin(), tokens.end(), [&](const Token& token) { return token.name == name; }))
    throw Error(ErrorKind::kUsage, fmt::format("there is a token '{}' already", name), file_.string(),
                fmt::format("take another name, or remove it first: nl-stage serve token rm {}", name));
  std::string token = random_token();
  tokens.push_back({name, role, digest_of(token), utc_text(std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()))});
  write_tokens(file_, tokens);
  return token;
}

void Tokens::remove(const std::string& name) {
  const TokensLock lock(file_);
  std::vector<Token> tokens = read_tokens(file_);
  if (std::erase_if(tokens, [&](const Token& token) { return token.name == name; }) == 0)
    throw Error(ErrorKind::kUsage, fmt::format("there is no token '{}'", name), file_.string(), "nl-stage serve token ls");
  write_tokens(file_, tokens);
}

std::optional<Token> Tokens::owner_of(std::string_view token) const {
  const std::string digest = digest_of(token);
  std::optional<Token> owner;
  for (Token& each : read_tokens(file_))  // all of them, whichever it is
    if (same_bytes(each.sha256, digest)) owner = std::move(each);
  return owner;
}

fs::path default_tokens_file() {
  const auto folder = [](const char* variable, const char* below) {
    const char* value = std::getenv(variable);
    return value != nullptr && *value == '/' ? fs::path(value) / below / "nl-stage" : fs::path();
  };
  fs::path data = folder("XDG_DATA_HOME", "");
  if (data.empty()) data = folder("HOME", ".local/share");
  if (data.empty())
    throw Error(ErrorKind::kOutput, "there is no folder for the tokens: neither HOME nor XDG_DATA_HOME is set", "tokens.json",
                "name a file with --tokens");
  return data / "tokens.json";
}

}  // namespace nl::servers::http
