#pragma once

#include <nlohmann/json_fwd.hpp>

namespace CLI {
class App;
}

namespace nl::cli {

// {name, description, flags: [{names, description, required}], verbs: [{name, description}]}
nlohmann::ordered_json help_json(const CLI::App& verb);

}  // namespace nl::cli
