#pragma once

#include <string>

#include "runs/archive/archive.h"

// How export and import-bundle end, for people and for programs.
namespace nl::cli {

std::string export_text(const runs::ExportResult& result);
std::string export_json(const runs::ExportResult& result);
std::string import_bundle_text(const runs::ImportBundleResult& result);
std::string import_bundle_json(const runs::ImportBundleResult& result);

}  // namespace nl::cli
