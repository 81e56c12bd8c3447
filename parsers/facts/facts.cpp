#include "parsers/facts/facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>

#include "model/error.h"
#include "model/input_bounds.h"
#include "parsers/hf/config.h"
#include "parsers/input_files.h"

namespace fs = std::filesystem;

namespace nl::parsers {
namespace {

using Json = nlohmann::json;

constexpr std::uintmax_t kMaxFactsBytes = 16 << 20;

// Discarded where the file is damaged.
Json facts_document(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  try {
    return Json::parse(json_within_bounds(text, file.string()), nullptr, false);
  } catch (const Error&) {
    return Json(Json::value_t::discarded);
  }
}

const Json& member(const Json& object, const char* name) {
  static const Json kNothing;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() ? *found : kNothing;
}

std::string text_of_member(const Json& object, const char* name) {
  const Json& value = member(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::uint64_t count_of_member(const Json& object, const char* name) {
  const Json& value = member(object, name);
  return value.is_number_unsigned() ? value.get<std::uint64_t>() : 0;
}

// The type of the model as loaded counts, not the one it was saved with; nested configurations repeat it.
Json as_loaded(const Json& model) {
  Json config = member(model, "config");
  const std::string dtype = text_of_member(model, "dtype");
  if (dtype.empty()) return config;
  config["torch_dtype"] = dtype;
  for (const char* nested : {"text_config", "llm_config", "language_config"})
    if (config.contains(nested) && config[nested].is_object()) config[nested]["torch_dtype"] = dtype;
  return config;
}

class Facts {
 public:
  void add(const fs::path& file) {
    const Json facts = facts_document(file);
    if (!facts.is_object()) {
      out_.notes.push_back({Code::kFactsDamaged, {file.filename().string()}});
      return;
    }
    for (const auto& [name, version] : member(facts, "versions").items())
      if (version.is_string()) out_.versions.try_emplace(name, version.get<std::string>());
    for (const auto& [place, count] : member(facts, "errors").items())
      if (count.is_number()) out_.notes.push_back({Code::kMarksFailed, {place, fmt::format("{}", count.get<double>())}});
    for (const Json& model : member(facts, "models")) add_model(model, file.filename().string());
    if (out_.model && member(facts, "models").size() == 1) add_inputs(member(facts, "steps"));
    for (const Json& process : member(facts, "processes")) add_rank(process);
    add_xla_flags(member(member(facts, "jax"), "xla_flags"));
    if (const std::string backend = text_of_member(facts, "backend"); out_.backend.empty()) out_.backend = backend;
  }
  ProcessFacts take() { return std::move(out_); }

 private:
  void add_rank(const Json& process) {
    const auto number = [&](const char* name) -> std::optional<std::uint32_t> {
      const Json& value = member(process, name);
      const bool fits = value.is_number_unsigned() && value.get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max();
      return fits ? std::optional(value.get<std::uint32_t>()) : std::nullopt;
    };
    if (const auto pid = number("pid"), rank = number("rank"); pid && rank)
      out_.ranks[*pid] = {rank, number("world_size"), RankSource::kEnvironment, {}};
  }

  // ["--xla_dump_to", "--xla_gpu_autotune_level=2"]: with a value only where it is a number or a truth value
  void add_xla_flags(const Json& flags) {
    std::vector<std::string> names;
    for (const Json& flag : flags)
      if (flag.is_string()) names.push_back(flag.get<std::string>());
    if (!names.empty()) out_.versions.try_emplace("xla_flags", fmt::format("{}", fmt::join(names, " ")));
  }

  void add_model(const Json& model, const std::string& where) {
    const std::uint64_t tokens = count_of_member(model, "new_tokens");
    if (out_.model && !out_.model->attributes.empty() && tokens <= most_tokens_) return;
    if (!member(model, "config").is_object()) return add_plain(model);
    try {
      HfConfig config = parse_hf_config(as_loaded(model).dump(), where);
      if (config.name.empty()) config.name = text_of_member(model, "class");
      if (!config.notes.empty()) config.attributes["notes"] = fmt::format("{}", fmt::join(config.notes, "; "));
      add_loaded(model, config.attributes);
      add_training(model, config.attributes);
      out_.model = ModelInfo{config.name, config.attributes, text_of_member(model, "precision")};
      most_tokens_ = tokens;
    } catch (const Error& error) {
      out_.notes.push_back({Code::kModelShapeUnknown, {text_of_member(model, "class"), error.message}});
    }
  }

  // What the one model of the process was called with: "8x512:30,8x128:4", as llm_shape.h has it. The first of several ranks tells.
  void add_inputs(const Json& steps) {
    const std::pair<const char*, const char*> kKinds[] = {{"call", "inputs"}, {"train", "training_inputs"}};
    for (const auto& [kind, key] : kKinds) {
      std::string sizes;
      for (const Json& step : steps) {
        const std::uint64_t batch = count_of_member(step, "batch"), tokens = count_of_member(step, "tokens");
        if (text_of_member(step, "kind") != kind || batch == 0 || tokens <= batch || tokens % batch != 0) continue;
        sizes += fmt::format("{}{}x{}:{}", sizes.empty() ? "" : ",", batch, tokens / batch, count_of_member(step, "count"));
      }
      if (!sizes.empty()) out_.model->attributes.try_emplace(key, sizes);
    }
  }

  // A model with a head for words that is trained computes it for all of them.
  static void add_training(const Json& model, std::map<std::string, std::string>& attributes) {
    const Json& kind = member(model, "kind");
    if (member(kind, "trains") != Json(true)) return;
    const std::string name = text_of_member(model, "class");
    const bool generates = member(kind, "generates") == Json(true);
    const bool head = generates || name.find("MaskedLM") != std::string::npos || name.find("LMHead") != std::string::npos;
    attributes["output_head"] = head ? "all" : "none";
    if (generates && member(member(model, "config"), "is_encoder_decoder") != Json(true)) attributes["attention_mask"] = "causal";
    if (member(model, "gradient_checkpointing") == Json(true)) attributes["gradient_checkpointing"] = "true";
  }

  // A module of the workload's own: no shape, but a type.
  void add_plain(const Json& model) {
    const std::string precision = text_of_member(model, "precision"), known = short_dtype(precision);
    if (!out_.model && !precision.empty()) out_.model = ModelInfo{text_of_member(model, "class"), {}, known.empty() ? precision : known};
  }

  static void add_loaded(const Json& model, std::map<std::string, std::string>& attributes) {
    const std::uint64_t parameters = count_of_member(member(model, "parameters"), "count");
    if (parameters > 0 && !attributes.contains("quantization")) attributes["parameters"] = std::to_string(parameters);
    if (const std::string attention = text_of_member(model, "attention"); !attention.empty())
      attributes["attention_implementation"] = attention;
  }

  ProcessFacts out_;
  std::uint64_t most_tokens_ = 0;
};

void add_dtypes_of(const fs::path& file, RecordedDtypes& out) {
  const Json document = facts_document(file);
  const Json& operators = member(document, "operators");
  if (!operators.is_array()) return out.notes.push_back(fmt::format("{} is no whole JSON", file.filename().string()));
  for (const Json& row : operators) {
    OperatorDtypes recorded{text_of_member(row, "name"), text_of_member(row, "shapes"), text_of_member(row, "dtypes")};
    if (!recorded.name.empty() && !recorded.dtypes.empty()) out.operators.push_back(std::move(recorded));
  }
}

}  // namespace

ProcessFacts read_facts(const fs::path& folder) {
  Facts facts;
  for (const fs::path& file : process_files(folder, "", ".json", kMaxFactsBytes)) facts.add(file);
  return facts.take();
}

std::string process_ranks_json(const std::map<std::uint32_t, RankFacts>& ranks) {
  Json processes = Json::array();
  for (const auto& [pid, told] : ranks) {
    processes.push_back({{"pid", pid}, {"rank", *told.rank}});
    if (told.world_size) processes.back()["world_size"] = *told.world_size;
  }
  return Json{{"processes", processes}}.dump(1) + "\n";
}

void join_process_ranks(const std::map<std::uint32_t, RankFacts>& ranks, Trace& trace) {
  for (Process& process : trace.processes)
    if (const auto told = ranks.find(process.pid); told != ranks.end() && !process.rank) process.rank = told->second.rank;
}

RecordedDtypes read_dtypes(const fs::path& folder) {
  RecordedDtypes out;
  for (const fs::path& file : process_files(folder, "dtypes-", ".json", kMaxFactsBytes)) add_dtypes_of(file, out);
  std::sort(out.operators.begin(), out.operators.end(), [](const OperatorDtypes& a, const OperatorDtypes& b) {
    return std::tie(a.name, a.shapes, a.dtypes) < std::tie(b.name, b.shapes, b.dtypes);
  });
  out.operators.erase(std::unique(out.operators.begin(), out.operators.end()), out.operators.end());
  return out;
}

}  // namespace nl::parsers
