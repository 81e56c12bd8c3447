#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "tests/catch.h"

// Exports made for one test, in a folder that goes away with it.
namespace nl::test {

class CraftedExport {
 public:
  CraftedExport() {
    std::string name = (std::filesystem::temp_directory_path() / "nl-stage-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()));
    folder = name;
    file = folder / "export.sqlite";
  }
  ~CraftedExport() { std::filesystem::remove_all(folder); }
  CraftedExport(const CraftedExport&) = delete;
  CraftedExport& operator=(const CraftedExport&) = delete;

  void sql(const std::string& statements) {
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    database.exec("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY");  // else each statement waits for the disk
    database.exec(statements);
  }
  void bytes(const std::string& content) { std::ofstream(file, std::ios::binary) << content; }
  void copy_of(const std::string& fixture) {
    std::filesystem::copy_file(std::filesystem::path(NL_FIXTURES) / fixture, file, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::permissions(file, std::filesystem::perms::owner_write, std::filesystem::perm_options::add);
  }

  std::filesystem::path folder, file;
};

// hardware 0, virtual machine 1
constexpr long long global_tid(long long pid, long long tid) { return 1LL << 48 | pid << 24 | tid; }

// The least that nsys 2022 wrote: no mangledName, graphNodeId, greenContextId, endGlobalTid or textId.
inline const char* const kOldSchema = R"(
  CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
  CREATE TABLE EXPORT_META_DATA (name TEXT, value TEXT);
  INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_SCHEMA_VERSION_MAJOR', '3'), ('EXPORT_SCHEMA_VERSION_MINOR', '0'),
    ('EXPORT_SCHEMA_VERSION_MICRO', '0'), ('EXPORT_PRODUCT_VERSION', '2022.4.2.1');
  CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER,
    correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER, registersPerThread INTEGER, gridX INTEGER,
    gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER);
  CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER,
    nameId INTEGER, returnValue INTEGER);
  CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, domainId INTEGER);
)";

}  // namespace nl::test
