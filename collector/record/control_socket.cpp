#include "collector/record/control_socket.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace nl::collector {

bool ControlSocket::open(const char* folder) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int length = std::snprintf(path_, sizeof path_, "%s/%d.sock", folder, static_cast<int>(getpid()));
  if (length <= 0 || static_cast<std::size_t>(length) >= sizeof path_) return false;
  std::memcpy(address.sun_path, path_, static_cast<std::size_t>(length) + 1);
  listening_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listening_ < 0) return false;
  unlink(path_);  // of a program that this process was before
  // No client can connect before listen(), so that the mode is set in time.
  if (bind(listening_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 && chmod(path_, 0600) == 0 &&
      listen(listening_, kMost) == 0)
    return true;
  close_all();
  return false;
}

void ControlSocket::close_all() {
  for (Connection& each : connections_) drop(each);
  if (listening_ < 0) return;
  unlink(path_);
  close(listening_);
  listening_ = -1;
}

void ControlSocket::forget() {
  for (Connection& each : connections_) drop(each);
  if (listening_ >= 0) close(listening_);
  listening_ = -1;
}

std::size_t ControlSocket::polled(pollfd* entries) const {
  std::size_t count = 0;
  entries[count++] = {listening_, POLLIN, 0};
  for (const Connection& each : connections_)
    if (each.fd >= 0) entries[count++] = {each.fd, POLLIN, 0};
  return count;
}

// The folder lets only us in; the kernel's word on who connects is asked for all the same, because a folder's mode can be changed.
void ControlSocket::accept_one() {
  const int fd = accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  ucred peer{};
  socklen_t length = sizeof peer;
  const bool ours = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && (peer.uid == geteuid() || peer.uid == 0);
  for (Connection& each : connections_)
    if (ours && each.fd < 0) {
      each.fd = fd;
      each.used = 0;
      return;
    }
  send(fd, ours ? "error too many connections" : "error another user");
  close(fd);
}

bool ControlSocket::fill(Connection& connection) {
  const ssize_t got = recv(connection.fd, connection.text + connection.used, sizeof connection.text - connection.used, 0);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  connection.used += static_cast<std::size_t>(got);
  return got > 0;
}

void ControlSocket::drop(Connection& connection) {
  if (connection.fd >= 0) close(connection.fd);
  connection.fd = -1;
}

void ControlSocket::send(int fd, const char* line) {
  if (fd < 0) return;
  char text[1024];
  const int length = std::snprintf(text, sizeof text, "%s\n", line);
  if (length <= 0 || static_cast<std::size_t>(length) >= sizeof text) return;
  if (::send(fd, text, static_cast<std::size_t>(length), MSG_NOSIGNAL | MSG_DONTWAIT) == length) return;
  shutdown(fd, SHUT_RDWR);  // the next poll finds it gone
}

}  // namespace nl::collector
