#pragma once

#include <filesystem>

#include "model/trace.h"

namespace nl::exporters {

// Writes a trace as the SQLite that `nsys export` would have made of it: the tables and columns of schema 3.20
// that a trace can fill, so that nsys stats, our own importer and other people's scripts read it. What a trace
// does not keep (a call's result, a graph node's number) is 0, what it never had is NULL. Replaces the file;
// throws Error(kOutput) where it cannot be written.
void write_nsys_sqlite(const Trace& trace, const std::filesystem::path& file);

}  // namespace nl::exporters
