#include "orchestrator/sampling/perf_access.h"

#include <cerrno>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <functional>

#include "orchestrator/sampling/stack_sampler.h"
#include "tests/catch.h"

using namespace nl::orchestrator::sampling;

namespace {

// As a container's filter of system calls does it.
bool forbid_perf_events(int error) {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{4, rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// What a child that may not use perf events returns.
int status_where_refused(int error, const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(forbid_perf_events(error) ? work() : 255);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 254;
}

}  // namespace

TEST_CASE("perf access: a kernel that refuses is met with its error, and nothing else happens") {
  if (status_where_refused(EPERM, [] { return 0; }) == 255) NL_SKIP("this machine allows no filter of system calls");
  for (const int error : {EPERM, EACCES, ENOSYS}) {
    CHECK(status_where_refused(error, [] { return try_perf_events(); }) == error);
    CHECK(status_where_refused(error, [] {
            StackSampler sampler({97, {}});
            const SampledStacks stacks = sampler.finish();
            return stacks.files.empty() && stacks.samples == 0 ? stacks.error : 253;
          }) == error);
    CHECK(is_refusal(error));
  }
}

TEST_CASE("perf access: what would allow it depends on what forbids it") {
  CHECK(perf_trouble(EACCES, 4) == "perf_event_open is forbidden (perf_event_paranoid is 4)");
  CHECK(perf_fix(EACCES, 4) == "sudo sysctl kernel.perf_event_paranoid=2");
  CHECK(perf_trouble(EPERM, 2) == "perf_event_open is forbidden by a filter of system calls, as containers have one");
  CHECK(perf_fix(EPERM, 2) == "docker run --cap-add=PERFMON …");
  CHECK(perf_fix(EPERM, std::nullopt) == "docker run --cap-add=PERFMON …");
  CHECK(perf_trouble(ENOSYS, 2) == "perf_event_open is not there, or a filter of system calls hides it");
  CHECK_FALSE(is_refusal(EMFILE));
  CHECK(perf_fix(EMFILE, 2).empty());
  CHECK(perf_trouble(EMFILE, 2) == "perf_event_open failed: Too many open files");
}
