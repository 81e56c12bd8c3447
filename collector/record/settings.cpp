#include "collector/record/settings.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/stat.h>
#include <unistd.h>

#include "collector/host_program.h"
#include "collector/trace_file.h"

namespace nl::collector {
namespace {

bool is_ours_alone(const char* folder) {
  struct stat status{};
  return lstat(folder, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & 077) == 0;
}

bool is_trusted(const char* folder) {
  struct stat status{};
  const bool there = stat(folder, &status) == 0 && S_ISDIR(status.st_mode) && (status.st_uid == geteuid() || status.st_uid == 0);
  return there && ((status.st_mode & 022) == 0 || (status.st_mode & S_ISVTX) != 0);
}

// All of its folders, the ones that are missing for us alone. One of another user is refused: it could be put in our folder's place.
bool make_folders(const char* path) {
  char part[sizeof RecordSettings::folder];
  for (const char* slash = path + 1; slash != nullptr;) {
    slash = std::strchr(slash, '/');
    const std::size_t length = slash != nullptr ? static_cast<std::size_t>(slash++ - path) : std::strlen(path);
    std::memcpy(part, path, length);
    part[length] = '\0';
    if ((mkdir(part, 0700) != 0 && errno != EEXIST) || !is_trusted(part)) return false;
  }
  return true;
}

// Named by the process that was given no folder; its children find it in their environment.
bool choose_folder(char* folder, std::size_t bytes) {
  const char* runtime = text_from("XDG_RUNTIME_DIR");
  const int length = runtime != nullptr
                         ? std::snprintf(folder, bytes, "%s/nl-stage/recorders/pid-%d", runtime, static_cast<int>(getpid()))
                         : std::snprintf(folder, bytes, "/tmp/nl-stage-%u/recorders/pid-%d", geteuid(), static_cast<int>(getpid()));
  return length > 0 && static_cast<std::size_t>(length) < bytes && setenv("NL_STAGE_RECORD_DIR", folder, 1) == 0;
}

}  // namespace

// A run of nl-stage inside of a recorder has its own trace.
bool record_is_asked_for() {
  const char* text = text_from("NL_STAGE_TRACE_DIR") == nullptr ? text_from("NL_STAGE_RECORD") : nullptr;
  return text != nullptr && std::strcmp(text, "0") != 0;
}

bool read_settings(RecordSettings& settings) {
  const char* given = text_from("NL_STAGE_RECORD_DIR");
  if (given != nullptr) std::snprintf(settings.folder, sizeof settings.folder, "%s", given);
  else if (!choose_folder(settings.folder, sizeof settings.folder)) return false;
  errno = 0;
  // What comes after a slash at the end would be a folder without a name.
  for (std::size_t length = std::strlen(settings.folder); length > 1 && settings.folder[length - 1] == '/';)
    settings.folder[--length] = '\0';
  if (settings.folder[0] != '/' || !make_folders(settings.folder) || !is_ours_alone(settings.folder)) {
    TraceFile::complain("NL_STAGE_RECORD_DIR is no folder of this user alone (mode 0700):", settings.folder, errno);
    return false;
  }
  const char* names = text_from("NL_STAGE_RECORD_STEPS");
  std::snprintf(settings.step_names, sizeof settings.step_names, "%s", names != nullptr ? names : kUsualSteps);
  settings.seconds = static_cast<std::uint32_t>(number_from("NL_STAGE_RECORD_SECONDS", 30, 1, 3600));
  settings.megabytes = static_cast<std::uint32_t>(number_from("NL_STAGE_RECORD_MB", 64, 1, 16 * 1024));
  settings.attach_early = number_from("NL_STAGE_RECORD_ATTACH", 0, 0, 1) == 1;
  return true;
}

}  // namespace nl::collector
