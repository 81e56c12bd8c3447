#pragma once

#include <filesystem>
#include <string>
#include <string_view>

// An input as the file that a reader wants. Each lies in one folder of the process, which is emptied before.
namespace nl::fuzz {

std::filesystem::path as_file(std::string_view bytes, const char* name = "input");

// A database: the bytes of one, or its rows as text, which the fuzzer changes more readily. Cells are parted by tabs: numbers, NULL, "blob …",
// "zstd …" (packed) or other text.
//   table	StringIds	id	value
//   1	gemm_kernel
// What SQLite refuses is left out. `empty`: the database that the rows are added to.
std::filesystem::path as_database(std::string_view bytes, std::string_view empty = {});

// An archive: the bytes of one, or its files as text.
//   @@ archive.json
//   {"format": "nl-stage archive", …
std::filesystem::path as_archive(std::string_view bytes);

}  // namespace nl::fuzz
