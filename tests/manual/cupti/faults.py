"""Ends and company that programs come to: nothing may be lost but what is stated."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

from cupti.tracers import (
    HOLDS,
    SPINS,
    WARM_UP,
    clean_env,
    collector_env,
    json_line,
    kernel_count,
    notes_of,
    our_bundle,
    rows,
    under_nsys,
    under_ours,
)

AROUND = WARM_UP + SPINS + HOLDS
GRAPHS = ("import torch\nx = torch.ones(64, device='cuda')\ny = x + x\ntorch.cuda.synchronize()\nfor i in range(300):\n  g = torch.cuda.CUDAGraph()\n"
          "  with torch.cuda.graph(g):\n    for k in range(20): y = y + x\n  g.replay()\ntorch.cuda.synchronize()\n")
MATRICES = "import os, time, torch\nx = torch.ones(512, 512, device='cuda')\nfor i in range(2000): x = x @ x * 0.001\ntorch.cuda.synchronize()\n"


def last_kernel(sqlite):
    """When the last kernel ended, in seconds of CLOCK_REALTIME."""
    (start,), = rows(sqlite, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME")
    (last,), = rows(sqlite, "SELECT max(end) FROM CUPTI_ACTIVITY_KIND_KERNEL")
    return (start + last) / 1e9


def killed(setting, name, number):
    out = setting.fresh(f"faults/{name}")
    process = subprocess.Popen([setting.loop, "100000000"], env=collector_env(setting, out / "trace"), stdout=subprocess.DEVNULL)
    time.sleep(4)
    process.send_signal(number)
    died = time.clock_gettime(time.CLOCK_REALTIME)
    process.wait()
    sqlite, _ = our_bundle(setting, out)
    lost = died - last_kernel(sqlite)
    setting.verdict(name, f"{name} loses at most about a second", lost < 1.2, f"{kernel_count(sqlite)} kernels, lost {lost:.2f} s")


def odd_end(setting, name, flag):
    out = setting.fresh(f"faults/{flag[2:]}")
    ran = under_ours(setting, [setting.loop, "20000", flag], out)
    sqlite, _ = our_bundle(setting, out)
    count, said = kernel_count(sqlite), json_line(ran.stdout)
    setting.verdict(name, name, ran.returncode == 0 and count == 20000 + AROUND and said["child_status"] == 0,
                    f"status {ran.returncode}, {count} kernels, child {said['child_status']}, {len(list((out / 'trace').glob('*')))} files {ran.stderr[-200:]}")


def abandoned(setting):
    """The thread goes on into a CUDA runtime that is being torn down. Alone the program says so (1) or just ends (0); with a tracer
    attached it crashes there now and then (-11), after everything is recorded: no oftener under us than under nsys."""
    argv, theirs, statuses, lost = [setting.loop, "100000000", "--abandon"], [], [], []
    for number in range(5):
        theirs.append(under_nsys(argv, setting.fresh("faults/abandon-nsys")).returncode)
        out = setting.fresh(f"faults/abandon{number}")
        statuses.append(under_ours(setting, argv, out).returncode)
        ended = time.clock_gettime(time.CLOCK_REALTIME)
        lost.append(ended - last_kernel(our_bundle(setting, out)[0]))
    crashes, others = statuses.count(-signal.SIGSEGV), theirs.count(128 + signal.SIGSEGV)
    setting.verdict("abandon", "main returns while a thread launches",
                    set(statuses) <= {0, 1, -signal.SIGSEGV} and crashes <= others and max(lost) < 1.2,
                    f"statuses {statuses}, under nsys {theirs}; last kernel at most {max(lost):.2f} s before the end")


def flushed_while_capturing(setting):
    """PyTorch captures in a mode in which any call that may wait for the GPU ends the capture: taking records must not be such a call."""
    out = setting.fresh("faults/capture")
    ran = under_ours(setting, [sys.executable, "-c", GRAPHS], out, NL_STAGE_FLUSH_MS="10")
    (nodes,), = rows(our_bundle(setting, out)[0], "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE graphNodeId IS NOT NULL")
    setting.verdict("capture", "flushes while graphs are captured", ran.returncode == 0 and nodes == 300 * 20,
                    f"status {ran.returncode}, {nodes} nodes {ran.stderr[-200:]}")


def left_running(setting):
    """A program that ends while a kernel runs ends no later under us."""
    took = {}
    for way in ("bare", "ours"):
        began = time.monotonic()
        out = setting.fresh("faults/leave")
        argv = [setting.loop, "--leave"]
        ran = subprocess.run(argv, env=clean_env(), capture_output=True, timeout=60) if way == "bare" else under_ours(setting, argv, out)
        took[way] = time.monotonic() - began
    setting.verdict("leave", "main returns while a kernel runs", ran.returncode == 0 and took["ours"] < took["bare"] + 1,
                    f"status {ran.returncode}, {took['ours']:.2f} s, bare {took['bare']:.2f} s")


def no_cuda(setting):
    for name, argv in (("/bin/true", ["/bin/true"]), ("python -c pass", [sys.executable, "-c", "pass"])):
        out = setting.fresh("faults/no-cuda")
        ran = under_ours(setting, argv, out)
        files = list((out / "trace").glob("*"))
        setting.verdict(name, f"{name}: left alone", ran.returncode == 0 and not files and not ran.stderr,
                        f"status {ran.returncode}, {len(files)} files {ran.stderr[:200]}")


def unwritable(setting):
    env = {**collector_env(setting, setting.fresh("faults/unwritable")), "NL_STAGE_TRACE_DIR": "/proc/nowhere"}
    ran = subprocess.run([setting.loop, "1000"], env=env, capture_output=True, text=True)
    setting.verdict("unwritable folder", "unwritable folder: the program goes on", ran.returncode == 0, ran.stderr.strip()[:200])


def two_at_once(setting, name, **more):
    """Both programs' kernels, in one capture of two files."""
    out = setting.fresh(f"faults/{name}")
    processes = [subprocess.Popen([setting.loop, "20000"], env=collector_env(setting, out / "trace", **more), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True)
                 for _ in range(2)]
    said = [process.communicate(timeout=120) for process in processes]
    if any(process.returncode != 0 for process in processes):
        return setting.verdict(name, name, False, f"{[p.returncode for p in processes]} {said[0][1][-300:]}")
    sqlite, run = our_bundle(setting, out)
    count, files = kernel_count(sqlite), len(list((out / "trace").glob("*.nltrace")))
    setting.verdict(name, f"{name}: all kernels of both", count == 2 * (20000 + AROUND) and files == 2, f"{count} kernels, {files} files")


def under_mps(setting):
    control = shutil.which("nvidia-cuda-mps-control")
    if not control:
        print("  MPS: there is no nvidia-cuda-mps-control here: not tried")
        return
    # A socket's path is short: 108 characters.
    folder = pathlib.Path("/tmp") / f"nl-mps-{os.getpid()}"
    folder.mkdir()
    env = {"CUDA_MPS_PIPE_DIRECTORY": str(folder), "CUDA_MPS_LOG_DIRECTORY": str(setting.fresh("faults/mps-log"))}
    started = subprocess.run([control, "-d"], env=clean_env(**env), capture_output=True, text=True)
    if started.returncode != 0:
        print("  MPS does not start here: not tried:", (started.stdout + started.stderr).strip()[:200])
    else:
        try:
            two_at_once(setting, "two processes under MPS", **env)
        finally:
            subprocess.run([control], input="quit\n", env=clean_env(**env), capture_output=True, text=True)
    shutil.rmtree(folder, ignore_errors=True)


def admin_only():
    try:
        return "RmProfilingAdminOnly: 1" in pathlib.Path("/proc/driver/nvidia/params").read_text()
    except OSError:
        return False


def no_permission(setting):
    """As the user `nobody`: copies of what is needed lie where it may read, the counters are refused, the program is not."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        print("  no permission: needs root and setpriv: not tried")
        return
    if not admin_only():
        print("  no permission: the driver lets everybody read the counters here (RmProfilingAdminOnly: 0): not tried")
        return
    folder = pathlib.Path("/tmp") / f"nl-nobody-{os.getpid()}"
    folder.mkdir()
    for file in (setting.llm, setting.collector):
        shutil.copy(file, folder)
    (folder / "trace").mkdir()
    for path in (folder, *folder.iterdir()):
        path.chmod(0o777)
    library = str(folder / "libnl_collector.so")
    env = clean_env(CUDA_INJECTION64_PATH=library, NVTX_INJECTION64_PATH=library, NL_STAGE_TRACE_DIR=str(folder / "trace"), NL_STAGE_COUNTERS="stages",
                    NL_STAGE_COUNTER_METRICS="gpu__time_duration.sum", NL_STAGE_COUNTER_RANGES="LLM@prefill", HOME=str(folder))
    ran = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", str(folder / "nl-llm-cuda"), "--layers", "2", "--hidden", "256",
                          "--steps", "4"],
                         env=env, capture_output=True, text=True)
    out = setting.fresh("faults/no-permission")
    shutil.copytree(folder / "trace", out / "trace")
    shutil.rmtree(folder, ignore_errors=True)
    _, run = our_bundle(setting, out)
    told = [note for note in notes_of(run) if "NVreg_RestrictProfilingToAdminUsers" in note]
    setting.verdict("no permission", "no permission: reported with its fix, the program goes on", ran.returncode == 0 and bool(told),
                    f"status {ran.returncode}, {told or notes_of(run)} {ran.stderr[-200:]}")


def by_exit(setting):
    out = setting.fresh("faults/_exit")
    under_ours(setting, [sys.executable, "-c", MATRICES + "time.sleep(1.5); os._exit(0)"], out)
    sqlite, _ = our_bundle(setting, out)
    setting.verdict("_exit", "_exit keeps what was flushed", kernel_count(sqlite) >= 4000, f"{kernel_count(sqlite)} kernels")


def second_client(setting):
    """torch.profiler in the same process: one of the two records, and the other is told why it does not."""
    out = setting.fresh("faults/torch.profiler")
    code = ("import torch\nx = torch.ones(512, 512, device='cuda')\nwith torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as p:\n"
            "  y = x @ x; torch.cuda.synchronize()\nprint('{\"kineto\":', len([e for e in p.events() if e.device_type.name == 'CUDA']), '}')")
    ran = under_ours(setting, [sys.executable, "-c", code], out)
    sqlite, run = our_bundle(setting, out)
    theirs = json_line(ran.stdout)["kineto"] if "kineto" in ran.stdout else None
    told = [note for note in notes_of(run) if "another CUPTI client" in note]
    setting.verdict("torch.profiler", "a second CUPTI client: the program goes on", ran.returncode == 0, ran.stderr[-300:])
    setting.verdict("torch.profiler", "kernels are recorded, or it is said who holds CUPTI", kernel_count(sqlite) > 0 or bool(told),
                    f"{kernel_count(sqlite)} kernels of ours, {theirs} of torch.profiler's, {told}")


def faults(setting):
    print("\n== faults")
    setting.attempt("SIGKILL", killed, "SIGKILL", signal.SIGKILL)
    setting.attempt("SIGTERM", killed, "SIGTERM", signal.SIGTERM)
    setting.attempt("fork without exec", odd_end, "fork without exec", "--fork")
    setting.attempt("a thread that outlives main", odd_end, "a thread that outlives main", "--outlive")
    setting.attempt("main returns while a thread launches", abandoned)
    setting.attempt("main returns while a kernel runs", left_running)
    setting.attempt("no CUDA", no_cuda)
    setting.attempt("unwritable folder", unwritable)
    setting.attempt("two processes at once", two_at_once, "two processes at once")
    setting.attempt("MPS", under_mps)
    setting.attempt("no permission", no_permission)
    if setting.torch:
        setting.attempt("_exit", by_exit)
        setting.attempt("a second CUPTI client", second_client)
        setting.attempt("flushes while a graph is captured", flushed_while_capturing)
