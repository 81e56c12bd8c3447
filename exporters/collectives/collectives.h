#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "model/collective_report.h"

// What the evidence on collectives says, each text whole.
namespace nl::exporters {

std::string collectives_markdown(const CollectiveReport& report);
std::string collectives_text(const CollectiveReport& report, std::size_t width);  // for a terminal so wide
nlohmann::ordered_json collectives_json(const CollectiveReport& report);          // {flight, inspector}

}  // namespace nl::exporters
