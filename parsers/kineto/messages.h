#pragma once

#include <cstdint>
#include <optional>

#include "model/trace.h"
#include "parsers/kineto/event.h"

namespace nl::parsers {

// How much a collective moves, of the event of its kernel. PyTorch 2.4 and later say so; nothing where it does not, or of a type that is not known.
std::optional<MessageSize> message_of(const KinetoEvent& event, std::uint32_t kernel);

}  // namespace nl::parsers
