#include "parsers/registry.h"

#include <array>

#include "model/error.h"
#include "parsers/collector/sniff.h"
#include "parsers/kineto/sniff.h"
#include "parsers/ncu/sniff.h"
#include "parsers/nsys/sniff.h"
#include "parsers/ort/sniff.h"
#include "parsers/trtexec/sniff.h"

namespace nl::parsers {
namespace {

struct Format {
  SourceFormat format;
  bool (*is_own)(const FileHead& head);
};

// A new format is one row here, one value of SourceFormat with its key, and a folder.
constexpr std::array kFormats = {
    Format{SourceFormat::kNsysSqlite, nsys::is_sqlite_export},
    Format{SourceFormat::kNsysReport, nsys::is_report},
    Format{SourceFormat::kNcu, ncu::is_csv},
    Format{SourceFormat::kNcuReport, ncu::is_report},
    Format{SourceFormat::kCollector, collector_trace::is_trace},
    Format{SourceFormat::kKineto, kineto::is_trace},
    Format{SourceFormat::kOnnxRuntime, ort::is_profile},
    Format{SourceFormat::kTrtexec, trtexec::is_profile},
    Format{SourceFormat::kTrtexecLayers, trtexec::is_layer_list},
};

}  // namespace

SourceFormat sniff(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(status))
    throw Error(ErrorKind::kInput, "there is no such file or folder", path.string(), "check the path");
  if (std::filesystem::is_directory(status))
    return std::filesystem::exists(path / "run.json", ignored) ? SourceFormat::kBundle : SourceFormat::kNone;
  const FileHead head(path);
  for (const Format& format : kFormats)
    if (format.is_own(head)) return format.format;
  return SourceFormat::kNone;
}

}  // namespace nl::parsers
