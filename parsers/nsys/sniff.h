#pragma once

#include "parsers/file_head.h"

namespace nl::parsers::nsys {

// An SQLite file with tables of `nsys export`. One that is damaged or cut short is taken for an export too: no other format
// here is SQLite, and the reader says what is wrong with it.
bool is_sqlite_export(const FileHead& head);
// REPORT.nsys-rep, or .qdrep as it was called before 2021.
bool is_report(const FileHead& head);

}  // namespace nl::parsers::nsys
