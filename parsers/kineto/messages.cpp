#include "parsers/kineto/messages.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace nl::parsers {
namespace {

// As c10::toString() spells them: "BFloat16", "Float8_e4m3fn".
std::uint64_t bytes_of_type(std::string_view name) {
  static constexpr auto kSizes = std::to_array<std::pair<std::string_view, std::uint64_t>>({{"Byte", 1},
                                                                                            {"Char", 1},
                                                                                            {"Bool", 1},
                                                                                            {"Short", 2},
                                                                                            {"UInt16", 2},
                                                                                            {"Half", 2},
                                                                                            {"BFloat16", 2},
                                                                                            {"Int", 4},
                                                                                            {"UInt32", 4},
                                                                                            {"Float", 4},
                                                                                            {"Long", 8},
                                                                                            {"UInt64", 8},
                                                                                            {"Double", 8},
                                                                                            {"ComplexHalf", 4},
                                                                                            {"ComplexFloat", 8},
                                                                                            {"ComplexDouble", 16}});
  for (const auto& [type, bytes] : kSizes)
    if (type == name) return bytes;
  return name.starts_with("Float8_") ? 1 : 0;
}

// "_allgather_base", "all_gather", "allgather_into_tensor_coalesced", "all_to_allv", "send"
Collective kind_of(std::string_view name) {
  static constexpr auto kNames = std::to_array<std::pair<std::string_view, Collective>>({{"allreduce", Collective::kAllReduce},
                                                                                         {"allgather", Collective::kAllGather},
                                                                                         {"reducescatter", Collective::kReduceScatter},
                                                                                         {"alltoall", Collective::kAllToAll},
                                                                                         {"broadcast", Collective::kBroadcast},
                                                                                         {"reduce", Collective::kReduce},
                                                                                         {"send", Collective::kSendRecv},
                                                                                         {"recv", Collective::kSendRecv}});
  std::string plain(name);
  std::erase(plain, '_');
  for (const auto& [part, kind] : kNames)
    if (plain.find(part) != std::string::npos) return kind;
  return Collective::kOther;
}

}  // namespace

std::optional<MessageSize> message_of(const KinetoEvent& event, std::uint32_t kernel) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 56, kMostMembers = 1 << 24;
  const std::int64_t elements = std::max(event.in_elements.value_or(0), event.out_elements.value_or(0));
  const std::uint64_t size = bytes_of_type(event.data_type);
  if (event.collective.empty() || size == 0 || elements <= 0 || elements > kMostElements) return std::nullopt;
  MessageSize message;
  message.kernel = kernel;
  message.bytes = static_cast<std::uint64_t>(elements) * size;
  message.kind = kind_of(event.collective);
  const std::int64_t members = event.group_size.value_or(0);
  if (members < 0 || members > kMostMembers) return std::nullopt;
  // The group of a send or receive may be larger than the two that it is between.
  message.members = message.kind == Collective::kSendRecv ? 2 : static_cast<std::uint32_t>(members);
  return message;
}

}  // namespace nl::parsers
