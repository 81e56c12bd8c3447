#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/catch.h"

namespace nl::test {

// What is written to standard output and standard error from here until text() is asked for.
class CapturedOutput {
 public:
  CapturedOutput() : out_(stdout), err_(stderr) {}
  std::string out() { return out_.text(); }
  std::string err() { return err_.text(); }

 private:
  class Stream {
   public:
    explicit Stream(std::FILE* stream) : stream_(stream) {
      std::fflush(stream_);
      kept_ = ::dup(::fileno(stream_));
      const int file = ::mkstemp(name_.data());
      REQUIRE(file >= 0);
      ::dup2(file, ::fileno(stream_));
      ::close(file);
    }
    ~Stream() {
      restore();
      std::filesystem::remove(name_);
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    std::string text() {
      restore();
      std::ifstream in(name_, std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(in), {});
    }

   private:
    void restore() {
      if (kept_ < 0) return;
      std::fflush(stream_);
      ::dup2(kept_, ::fileno(stream_));
      ::close(kept_);
      kept_ = -1;
    }
    std::FILE* stream_;
    std::string name_ = (std::filesystem::temp_directory_path() / "nl-stage-output-XXXXXX").string();
    int kept_ = -1;
  };
  Stream out_, err_;
};

}  // namespace nl::test
