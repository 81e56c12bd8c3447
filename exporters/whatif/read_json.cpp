#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "exporters/whatif/whatif.h"
#include "model/error.h"
#include "model/input_bounds.h"
#include "model/words.h"

namespace nl::exporters {
namespace {

using nlohmann::json;

// A prediction takes about 20 values, and a run has a few dozen predictions.
constexpr InputBounds kBounds{16, 100'000};
constexpr std::size_t kMostText = 2'000, kMostChanges = 50;
constexpr double kMostTime_ns = 1e18, kMostScale = 1e6;

// Reads one file. Every complaint names the place in it.
class PredictionReader {
 public:
  explicit PredictionReader(const std::string& where) : where_(where) {}

  WrittenPredictions read(std::string_view text) const {
    const json root = parsed(text);
    if (!root.is_object()) refuse("it is not the JSON of whatif", "");
    WrittenPredictions out;
    out.origin.hardware = text_in(root, "hardware", "");
    out.origin.tracer = text_in(root, "tracer", "");
    if (const auto scale = number_in(root, "interval_scale", "", kMostScale)) out.origin.interval_scale = *scale;
    const json& predictions = list_in(root, "predictions", "");
    for (std::size_t i = 0; i < predictions.size(); ++i)
      out.predictions.push_back(prediction(predictions[i], fmt::format("predictions[{}]", i)));
    return out;
  }

 private:
  [[noreturn]] void refuse(const std::string& what, const std::string& place) const {
    throw Error(ErrorKind::kInput, what, place.empty() ? where_ : fmt::format("{}, {}", where_, place),
                "name a file that whatif wrote: nl-stage whatif RUN --json > whatif.json");
  }

  json parsed(std::string_view text) const {
    try {
      return json::parse(json_within_bounds(text, where_, kBounds));
    } catch (const json::exception&) {
      refuse("it is not JSON", "");
    }
  }

  static std::string place_of(const std::string& place, const char* key) { return place.empty() ? key : place + "." + key; }

  // Empty where it is absent or null.
  std::string text_in(const json& object, const char* key, const std::string& place) const {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return {};
    if (!found->is_string() || found->get_ref<const std::string&>().size() > kMostText) refuse("it is not a text", place_of(place, key));
    return found->get<std::string>();
  }

  // Nothing where it is absent or null; above zero else.
  std::optional<double> number_in(const json& object, const char* key, const std::string& place, double most) const {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return std::nullopt;
    const double value = found->is_number() ? found->get<double>() : 0;
    if (!(value > 0 && value <= most)) refuse("it is not a number above zero", place_of(place, key));
    return value;
  }

  static bool is_set(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_boolean() && found->get<bool>();
  }

  double time_in(const json& object, const char* key, const std::string& place) const {
    const auto time = number_in(object, key, place, kMostTime_ns);
    if (!time) refuse("the time is missing", place_of(place, key));
    return *time;
  }

  const json& list_in(const json& object, const char* key, const std::string& place) const {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_array()) refuse("there is no list", place_of(place, key));
    return *found;
  }

  Prediction prediction(const json& entry, const std::string& place) const {
    if (!entry.is_object()) refuse("it is not a prediction", place);
    Prediction out;
    const json& changes = list_in(entry, "changes", place);
    if (changes.size() > kMostChanges) refuse(fmt::format("there are more than {} changes", kMostChanges), place);
    for (const json& change : changes) {
      if (!change.is_string() || change.get_ref<const std::string&>().size() > kMostText)
        refuse("a change is not a text", place_of(place, "changes"));
      out.changes.push_back(change.get<std::string>());
    }
    out.stage = text_in(entry, "stage", place);
    if (const std::string why = text_in(entry, "refused", place); !why.empty()) {
      out.refused = from_key<NoPrediction>(why).value_or(NoPrediction::kNothingToChange);  // of a newer nl-stage
      return out;
    }
    if (out.stage.empty()) refuse("the stage is missing", place_of(place, "stage"));
    out.unperturbed_ns = time_in(entry, "unperturbed_ns", place);
    out.measured_ns = number_in(entry, "measured_ns", place, kMostTime_ns).value_or(out.unperturbed_ns);
    out.predicted_ns = time_in(entry, "predicted_ns", place);
    out.low_ns = time_in(entry, "low_ns", place);
    out.high_ns = time_in(entry, "high_ns", place);
    if (out.low_ns > out.predicted_ns || out.predicted_ns > out.high_ns) refuse("the predicted time is not in its interval", place);
    out.ceiling = is_set(entry, "ceiling");
    return out;
  }

  const std::string& where_;
};

}  // namespace

WrittenPredictions predictions_from_json(std::string_view text, const std::string& where) { return PredictionReader(where).read(text); }

}  // namespace nl::exporters
