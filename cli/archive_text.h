#pragma once

#include <string>

#include "orchestrator/archive/archive.h"

// How export and import-bundle end, for people and for programs.
namespace nl::cli {

std::string export_text(const orchestrator::ExportResult& result);
std::string export_json(const orchestrator::ExportResult& result);
std::string import_bundle_text(const orchestrator::ImportBundleResult& result);
std::string import_bundle_json(const orchestrator::ImportBundleResult& result);

}  // namespace nl::cli
