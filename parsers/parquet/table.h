#pragma once

#include <filesystem>

#include "parsers/columns/table_file.h"

// Parquet files, as far as tables without nesting need them. Their parts are described in https://parquet.apache.org/docs/file-format/
namespace nl::parsers::parquet {

// Throws Error(kInput) where the file is damaged, encrypted, or packed in a way that is not read.
columns::Table open_table(const std::filesystem::path& file);

}  // namespace nl::parsers::parquet
