#pragma once

#include <filesystem>

#include "parsers/columns/table_file.h"

// Arrow's files and streams (IPC), as far as tables without nesting need them: https://arrow.apache.org/docs/format/Columnar.html
namespace nl::parsers::arrow {

// Throws Error(kInput) where the file is damaged, or has something that is not read.
columns::Table open_table(const std::filesystem::path& file);

}  // namespace nl::parsers::arrow
