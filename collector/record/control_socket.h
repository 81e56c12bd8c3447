#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>

// The recorder's socket in this process: FOLDER/PID.sock, mode 0600, for the same user only. Lines come in, lines go out.
namespace nl::collector {

class ControlSocket {
 public:
  static constexpr std::size_t kMost = 8;  // connections at once

  bool open(const char* folder);  // false: it cannot be made
  void close_all();               // and the file goes
  void forget();                  // in a child of fork: it is the parent's

  std::size_t polled(pollfd* entries) const;  // of at most kMost + 1
  // Reads what has come, and calls `line` for each whole line, `gone` for a connection that has ended.
  template <typename Line, typename Gone>
  void serve(const pollfd* entries, std::size_t count, Line line, Gone gone) {
    for (std::size_t i = 0; i < count; ++i) {
      if (entries[i].revents == 0) continue;
      if (entries[i].fd == listening_) accept_one();
      for (Connection& each : connections_)
        if (each.fd >= 0 && each.fd == entries[i].fd && !read_lines(each, line)) {
          gone(each.fd);
          drop(each);
        }
    }
  }
  // A reader that does not read is dropped: the recorder waits for no client. -1: to none.
  void send(int fd, const char* line);

 private:
  struct Connection {
    int fd = -1;
    std::size_t used = 0;
    char text[2048] = {};
  };

  void accept_one();
  bool fill(Connection& connection);
  void drop(Connection& connection);
  template <typename Line>
  bool read_lines(Connection& connection, Line line) {
    if (!fill(connection)) return false;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < connection.used; ++i)
      if (connection.text[i] == '\n') {
        connection.text[i] = '\0';
        line(connection.fd, connection.text + begin);
        begin = i + 1;
      }
    for (std::size_t i = begin; i < connection.used; ++i) connection.text[i - begin] = connection.text[i];
    connection.used -= begin;
    return connection.used < sizeof connection.text;  // a line without an end
  }

  int listening_ = -1;
  char path_[108] = {};
  Connection connections_[kMost];
};

}  // namespace nl::collector
