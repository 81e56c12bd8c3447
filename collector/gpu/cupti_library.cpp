#include "collector/gpu/cupti_library.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include <dlfcn.h>
#include <glob.h>
#include <sys/stat.h>

#include "collector/gpu/loaded_driver.h"

namespace nl::collector {
namespace {

struct Soname {
  const char* name;
  int cuda_major;
};
constexpr Soname kSonames[] = {{"libcupti.so.13", 13}, {"libcupti.so.12", 12}, {"libcupti.so.11.8", 11}};

// The CUDA that the driver serves; one of a later CUDA would load and then fail. 0 where it cannot be asked.
int driver_cuda_major() {
  int version = 0;
  int (*get_version)(int*) = nullptr;
  const LoadedDriver driver;
  return driver.find("cuDriverGetVersion", get_version) && get_version(&version) == 0 ? version / 1000 : 0;
}

#define NL_FIND(name) find_symbol(handle, #name, api.name)

bool find_functions(void* handle, cupti::Api& api) {
  bool all = NL_FIND(cuptiGetVersion) && NL_FIND(cuptiSubscribe) && NL_FIND(cuptiUnsubscribe) && NL_FIND(cuptiActivityRegisterCallbacks) &&
             NL_FIND(cuptiActivityEnable) && NL_FIND(cuptiActivityDisable) && NL_FIND(cuptiActivityFlushAll) &&
             NL_FIND(cuptiActivityGetNextRecord) && NL_FIND(cuptiActivityGetNumDroppedRecords) && NL_FIND(cuptiActivitySetAttribute) &&
             NL_FIND(cuptiGetCallbackName) && NL_FIND(cuptiGetTimestamp) && NL_FIND(cuptiSetThreadIdType);
  NL_FIND(cuptiEnableCallback);
  NL_FIND(cuptiSubscribe_v2);
  NL_FIND(cuptiActivityRegisterTimestampCallback);
  NL_FIND(cuptiActivityEnableRuntimeApi);
  NL_FIND(cuptiActivityEnableDriverApi);
  NL_FIND(cuptiActivityEnableAllSyncRecords);
  NL_FIND(cuptiGetResultString);
  NL_FIND(cuptiGetStreamIdEx);
  NL_FIND(cuptiGetGraphNodeId);
  return all;
}

void find_profiler_functions(void* handle, cupti::ProfilerApi& api) {
  NL_FIND(cuptiGetDeviceId);
  NL_FIND(cuptiProfilerInitialize);
  NL_FIND(cuptiProfilerGetCounterAvailability);
  NL_FIND(cuptiDeviceGetChipName);
  NL_FIND(cuptiProfilerHostInitialize);
  NL_FIND(cuptiProfilerHostDeinitialize);
  NL_FIND(cuptiProfilerHostConfigAddMetrics);
  NL_FIND(cuptiProfilerHostGetConfigImageSize);
  NL_FIND(cuptiProfilerHostGetConfigImage);
  NL_FIND(cuptiProfilerHostGetNumOfPasses);
  NL_FIND(cuptiProfilerHostEvaluateToGpuValues);
  NL_FIND(cuptiRangeProfilerEnable);
  NL_FIND(cuptiRangeProfilerDisable);
  NL_FIND(cuptiRangeProfilerGetCounterDataSize);
  NL_FIND(cuptiRangeProfilerCounterDataImageInitialize);
  NL_FIND(cuptiRangeProfilerSetConfig);
  NL_FIND(cuptiRangeProfilerStart);
  NL_FIND(cuptiRangeProfilerStop);
  NL_FIND(cuptiRangeProfilerPushRange);
  NL_FIND(cuptiRangeProfilerPopRange);
  NL_FIND(cuptiRangeProfilerDecodeData);
  NL_FIND(cuptiRangeProfilerGetCounterDataInfo);
  NL_FIND(cuptiRangeProfilerCounterDataGetRangeInfo);
  NL_FIND(cuptiPmSamplingEnable);
  NL_FIND(cuptiPmSamplingDisable);
  NL_FIND(cuptiPmSamplingGetCounterAvailability);
  NL_FIND(cuptiPmSamplingSetConfig);
  NL_FIND(cuptiPmSamplingStart);
  NL_FIND(cuptiPmSamplingStop);
  NL_FIND(cuptiPmSamplingGetCounterDataSize);
  NL_FIND(cuptiPmSamplingCounterDataImageInitialize);
  NL_FIND(cuptiPmSamplingDecodeData);
  NL_FIND(cuptiPmSamplingGetCounterDataInfo);
  NL_FIND(cuptiPmSamplingCounterDataGetSampleInfo);
  NL_FIND(cuptiPCSamplingEnable);
  NL_FIND(cuptiPCSamplingDisable);
  NL_FIND(cuptiPCSamplingSetConfigurationAttribute);
  NL_FIND(cuptiPCSamplingGetData);
  NL_FIND(cuptiPCSamplingGetNumStallReasons);
  NL_FIND(cuptiPCSamplingGetStallReasons);
}

#undef NL_FIND

class Search {
 public:
  Search(CuptiLibrary& library, char* trouble, std::size_t bytes) : library_(library), trouble_(trouble), bytes_(bytes) {}

  bool serves(const Soname& soname) const { return driver_ == 0 || soname.cuda_major <= driver_; }

  bool file(const char* path) {
    // Local: the program's own symbols stay what they were.
    void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* reason = dlerror();
      if (*trouble_ == '\0') std::snprintf(trouble_, bytes_, "%s", reason != nullptr ? reason : path);
      return false;
    }
    if (!find_functions(handle, library_.api)) {
      std::snprintf(trouble_, bytes_, "%s lacks functions that CUDA 11.8 and later have", path);
      dlclose(handle);
      return false;
    }
    find_profiler_functions(handle, library_.profiler);
    std::snprintf(library_.path, sizeof library_.path, "%s", path);
    return library_.loaded = true;
  }

  bool folder(const char* path) {
    char name[1024];
    for (const Soname& soname : kSonames) {
      if (!serves(soname)) continue;
      int length = std::snprintf(name, sizeof name, "%s/%s", path, soname.name);
      struct stat status{};
      if (length > 0 && static_cast<std::size_t>(length) < sizeof name && stat(name, &status) == 0 && file(name)) return true;
    }
    return false;
  }

  bool folders(const char* pattern) {
    glob_t found{};
    bool good = false;
    if (glob(pattern, 0, nullptr, &found) == 0)
      for (std::size_t i = found.gl_pathc; i-- > 0 && !good;) good = folder(found.gl_pathv[i]);  // the newest first
    globfree(&found);
    return good;
  }

  bool below(const char* root, const char* rest) {
    char pattern[1024];
    int length = std::snprintf(pattern, sizeof pattern, "%s%s", root, rest);
    return length > 0 && static_cast<std::size_t>(length) < sizeof pattern && folders(pattern);
  }

  bool cuda_root(const char* root) {
    return root != nullptr && *root != '\0' &&
           (below(root, "/extras/CUPTI/lib64") || below(root, "/lib64") || below(root, "/targets/*/lib") || below(root, "/lib"));
  }

  // A Python environment's packages: nvidia-cuda-cupti-cu12, nvidia-cuda-cupti.
  bool packages(const char* site) { return below(site, "/nvidia/cu*/lib") || below(site, "/nvidia/cuda_cupti/lib"); }

 private:
  CuptiLibrary& library_;
  char* trouble_;
  std::size_t bytes_;
  int driver_ = driver_cuda_major();
};

// Calls visit(path) for every file that is mapped into this process, until it says true.
template <typename Visit>
bool mapped_files(Visit visit) {
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return false;
  char line[4352];
  bool done = false;
  while (!done && std::fgets(line, sizeof line, maps) != nullptr) {
    char* path = std::strchr(line, '/');
    if (path == nullptr) continue;
    path[std::strcspn(path, "\n")] = '\0';
    done = visit(path);
  }
  std::fclose(maps);
  return done;
}

const char* base_name(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

bool in_process(Search& search) {
  return mapped_files([&](const char* path) { return std::strncmp(base_name(path), "libcupti.so", 11) == 0 && search.file(path); });
}

bool in_python(Search& search) {
  char last[1024] = "";
  return mapped_files([&](char* path) {
    char* site = std::strstr(path, "/site-packages/");
    if (site == nullptr) site = std::strstr(path, "/dist-packages/");
    if (site == nullptr) return false;
    site[std::strlen("/site-packages")] = '\0';
    if (std::strlen(path) >= sizeof last || std::strcmp(path, last) == 0) return false;
    std::strcpy(last, path);
    return search.packages(path);
  });
}

bool in_environment(Search& search) {
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const char* root = std::getenv(variable);
    if (root == nullptr || *root == '\0') continue;
    if (search.below(root, "/lib/python3*/site-packages/nvidia/cu*/lib") ||
        search.below(root, "/lib/python3*/site-packages/nvidia/cuda_cupti/lib") || search.below(root, "/lib"))
      return true;
  }
  return false;
}

bool where_the_user_says(Search& search, const char* path) {
  struct stat status{};
  bool is_folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
  return is_folder ? search.folder(path) || search.cuda_root(path) : search.file(path);
}

}  // namespace

bool load_cupti(CuptiLibrary& library, char* trouble, std::size_t trouble_bytes) {
  *trouble = '\0';
  Search search(library, trouble, trouble_bytes);
  // The user asked for this one, so no other is tried.
  if (const char* path = std::getenv("NL_STAGE_CUPTI"); path != nullptr && *path != '\0') {
    bool good = where_the_user_says(search, path);
    if (!good && *trouble == '\0') std::snprintf(trouble, trouble_bytes, "no libcupti in %s", path);
    return good;
  }
  if (in_process(search)) return true;
  if (search.cuda_root(std::getenv("CUDA_HOME")) || search.cuda_root(std::getenv("CUDA_PATH"))) return true;
  if (in_python(search) || in_environment(search)) return true;
  if (search.folders("/usr/local/cuda/extras/CUPTI/lib64") || search.folders("/usr/local/cuda/lib64") ||
      search.folders("/usr/local/cuda-*/extras/CUPTI/lib64") || search.folders("/usr/local/cuda-*/lib64"))
    return true;
  for (const Soname& soname : kSonames)
    if (search.serves(soname) && search.file(soname.name)) return true;
  std::snprintf(trouble, trouble_bytes, "libcupti was not found: name it in NL_STAGE_CUPTI (tools.cupti of the configuration)");
  return false;
}

void name_cupti_clients(char* names, std::size_t bytes) {
  constexpr const char* kClients[] = {"libkineto",         "libtorch_cpu.so", "libToolsInjection", "libInterceptorInjection",
                                      "libcuda-injection", "libTreeLauncher", "libcuinj",          "libdcgm",
                                      "libtensorflow",     "libproton",       "xla_extension",     "libvtune"};
  *names = '\0';
  mapped_files([&](const char* path) {
    const char* name = base_name(path);
    for (const char* client : kClients)
      if (std::strncmp(name, client, std::strlen(client)) == 0 && std::strstr(names, name) == nullptr) {
        std::size_t used = std::strlen(names);
        std::snprintf(names + used, bytes - used, "%s%s", used != 0 ? ", " : "", name);
      }
    return false;
  });
}

}  // namespace nl::collector
