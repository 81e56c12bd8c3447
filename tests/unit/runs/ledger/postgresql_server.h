#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "tests/unit/files.h"

namespace nl::test {

// A PostgreSQL of the tests' own: a new cluster in a temporary folder, reached by a Unix socket in it and by nothing else. As root it runs
// as another user, since PostgreSQL refuses root. It ends with its owner, or with the test program.
class PostgresqlServer {
 public:
  PostgresqlServer();  // `why_not` says where it could not be started
  ~PostgresqlServer();
  PostgresqlServer(const PostgresqlServer&) = delete;
  PostgresqlServer& operator=(const PostgresqlServer&) = delete;

  void start();
  void stop(int signal);  // SIGINT: at once, but in order; SIGKILL: as when the machine fails
  std::string url(const std::string& database = "postgres") const;
  std::string new_database() const;  // its URL

  std::string why_not;

 private:
  Folder folder_;
  std::filesystem::path programs_;
  pid_t pid_ = 0;
};

// The one that most tests share.
PostgresqlServer& shared_postgresql();

}  // namespace nl::test
