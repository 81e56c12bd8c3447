// A recorder is in every process of the tree, those too that are started with an environment of their own making: where this library is
// preloaded, what starts a program hands our variables on. Outside of a recorder all of this only passes its arguments on.
#include <alloca.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <dlfcn.h>
#include <spawn.h>
#include <unistd.h>

#include "collector/record/settings.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

constexpr const char* kPrefixes[] = {"NL_STAGE_", "NVTX_INJECTION64_PATH=", "CUDA_INJECTION64_PATH=", "LD_PRELOAD="};
constexpr std::size_t kMostOurs = 64, kMostBytes = 16 * 1024;

using Exec = int (*)(const char*, char* const*, char* const*);
using Spawn = int (*)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*, char* const*);

struct Follow {
  bool on = false;
  char text[kMostBytes] = {};
  std::size_t used = 0;
  char* ours[kMostOurs] = {};
  std::size_t count = 0;
  Exec execve = nullptr, execvpe = nullptr;
  Spawn spawn = nullptr, spawnp = nullptr;
};
constinit Follow follow;

bool is_ours(const char* entry) {
  for (const char* prefix : kPrefixes)
    if (std::strncmp(entry, prefix, std::strlen(prefix)) == 0) return true;
  return false;
}

void keep(const char* entry) {
  const std::size_t bytes = std::strlen(entry) + 1;
  if (follow.count == kMostOurs || follow.used + bytes > kMostBytes) return;
  follow.ours[follow.count++] = std::strcpy(follow.text + follow.used, entry);
  follow.used += bytes;
}

template <typename Function>
void find(const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

// Before main(), so that a child of vfork() need look for nothing. NVTX and CUDA find this library by their own variables.
__attribute__((constructor)) void start_following() {
  find("execve", follow.execve);
  find("execvpe", follow.execvpe);
  find("posix_spawn", follow.spawn);
  find("posix_spawnp", follow.spawnp);
  Dl_info self{};
  if (!nl::collector::record_is_asked_for() || dladdr(reinterpret_cast<void*>(start_following), &self) == 0) return;
  for (const char* variable : {"NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH"})
    if (const char* value = std::getenv(variable); value == nullptr || *value == '\0') setenv(variable, self.dli_fname, 1);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (is_ours(*entry)) keep(*entry);
  follow.on = true;
}

// A program that says NL_STAGE_RECORD himself, if only 0, is left alone.
bool lacks_ours(char* const* environment) {
  if (!follow.on || environment == nullptr) return follow.on;
  for (; *environment != nullptr; ++environment)
    if (std::strncmp(*environment, "NL_STAGE_RECORD=", 16) == 0) return false;
  return true;
}

std::size_t length_of(char* const* list) {
  std::size_t length = 0;
  for (; list != nullptr && list[length] != nullptr; ++length) {
  }
  return length;
}

// The environment with ours in place of entries of the same names. `to` has room for both.
void join(char** to, char* const* environment) {
  for (; environment != nullptr && *environment != nullptr; ++environment)
    if (!is_ours(*environment)) *to++ = *environment;
  for (std::size_t i = 0; i < follow.count; ++i) *to++ = follow.ours[i];
  *to = nullptr;
}

// In the child of vfork() there is the stack and nothing else.
template <typename Call>
int with_ours(char* const* environment, Call call) {
  if (!lacks_ours(environment)) return call(environment);
  char** joined = static_cast<char**>(alloca((length_of(environment) + follow.count + 1) * sizeof(char*)));
  join(joined, environment);
  return call(joined);
}

}  // namespace

EXPORTED int execve(const char* path, char* const* arguments, char* const* environment) {
  if (follow.execve == nullptr) return errno = ENOSYS, -1;
  return with_ours(environment, [&](char* const* list) { return follow.execve(path, arguments, list); });
}

EXPORTED int execvpe(const char* file, char* const* arguments, char* const* environment) {
  if (follow.execvpe == nullptr) return errno = ENOSYS, -1;
  return with_ours(environment, [&](char* const* list) { return follow.execvpe(file, arguments, list); });
}

EXPORTED int execv(const char* path, char* const* arguments) { return execve(path, arguments, environ); }
EXPORTED int execvp(const char* file, char* const* arguments) { return execvpe(file, arguments, environ); }

EXPORTED int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
                         char* const* arguments, char* const* environment) {
  if (follow.spawn == nullptr) return ENOSYS;
  return with_ours(environment, [&](char* const* list) { return follow.spawn(pid, path, actions, attributes, arguments, list); });
}

EXPORTED int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
                          char* const* arguments, char* const* environment) {
  if (follow.spawnp == nullptr) return ENOSYS;
  return with_ours(environment, [&](char* const* list) { return follow.spawnp(pid, file, actions, attributes, arguments, list); });
}
