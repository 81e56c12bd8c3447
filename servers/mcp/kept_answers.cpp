#include "servers/mcp/kept_answers.h"

#include <fmt/format.h>

#include <algorithm>

#include "orchestrator/bundle/bundle.h"
#include "servers/mcp/resources.h"

namespace nl::servers::mcp {
namespace {

constexpr std::size_t kMostAnswers = 64, kMostBytes = 64 << 20;

}  // namespace

std::string random_name() {
  using orchestrator::random_bits;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random_bits(), random_bits(), random_bits(), random_bits());
}

std::string KeptAnswers::keep(std::string text) {
  std::string uri = fmt::format("{}answer/{}", kScheme, random_name());
  const std::lock_guard lock(mutex_);
  bytes_ += text.size();
  kept_.push_back({uri, std::move(text)});
  while (kept_.size() > 1 && (kept_.size() > kMostAnswers || bytes_ > kMostBytes)) {
    bytes_ -= kept_.front().text.size();
    kept_.pop_front();
  }
  return uri;
}

std::optional<std::string> KeptAnswers::read(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) { return kept.uri == uri; });
  return found == kept_.end() ? std::nullopt : std::optional(found->text);
}

}  // namespace nl::servers::mcp
