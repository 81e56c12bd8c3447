#include "load/results.h"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "exporters/load/records.h"
#include "model/error_code.h"
#include "parsers/load/results.h"

namespace nl::load {
namespace {

constexpr std::uintmax_t kMostBytes = std::uintmax_t{4} << 30;

std::string whole_text(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::error_code failure;
  const std::uintmax_t size = std::filesystem::file_size(file, failure);
  if (!stream || failure)
    throw CodedError(ErrorCode::kNoSuchFile, "the file cannot be read", file.string(), "check its path and permissions");
  if (size > kMostBytes)
    throw Error(ErrorKind::kInput, "the file is larger than 4 GiB", file.string(), "give the results of fewer requests");
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

std::vector<LoadRun> read_results(const std::filesystem::path& file) {
  const std::string text = whole_text(file), where = file.string();
  if (exporters::is_load_records(text)) return {exporters::read_load_records(text, where)};
  const parsers::LoadDocuments documents = parsers::load_documents(text, where);
  return parsers::load_format_of(documents).read(documents);
}

}  // namespace nl::load
