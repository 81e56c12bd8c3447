#include "parsers/registry.h"

#include <algorithm>
#include <array>

namespace nl::parsers {

extern const Format kNsysFormat, kNcuFormat, kCollectorFormat, kCountersFormat, kKinetoFormat, kOrtFormat, kTrtexecFormat, kStacksFormat,
    kGraphCapturesFormat;

namespace {

// A new format is one entry here and a source that defines it.
constexpr std::array kFormats = {&kNsysFormat, &kNcuFormat,     &kCollectorFormat, &kCountersFormat,     &kKinetoFormat,
                                 &kOrtFormat,  &kTrtexecFormat, &kStacksFormat,    &kGraphCapturesFormat};

}  // namespace

std::span<const Format* const> formats() { return kFormats; }

const Format* sniff(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) {
    const auto found = std::find_if(kFormats.begin(), kFormats.end(),
                                    [&](const Format* format) { return format->is_own_folder && format->is_own_folder(file); });
    return found != kFormats.end() ? *found : nullptr;
  }
  const FileHead head(file);
  for (const Format* format : kFormats)
    if ((format->is_own && format->is_own(head)) || (is_report(*format, file) && !head.bytes.empty())) return format;
  return nullptr;
}

bool is_report(const Format& format, const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  return !extension.empty() && format.report_extensions.find(" " + extension + " ") != std::string_view::npos;
}

}  // namespace nl::parsers
