"""nsys' own reports, made of the SQLite that nl-stage wrote."""
import shutil
import subprocess

from cupti.tracers import clean_env, our_bundle, under_ours

# Those that read what we fill must work; the others are listed with what nsys says.
NEEDED = ["cuda_gpu_kern_sum", "cuda_api_sum", "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum", "cuda_gpu_trace", "cuda_api_trace", "nvtx_sum",
          "nvtx_pushpop_sum", "nvtx_gpu_proj_sum", "nvtx_kern_sum"]
MORE = ["cuda_gpu_sum", "cuda_api_gpu_sum", "cuda_kern_exec_sum", "cuda_kern_exec_trace", "cuda_gpu_kern_gb_sum", "nvtx_pushpop_trace", "nvtx_startend_sum",
        "nvtx_gpu_proj_trace", "cuda_api_sync", "um_sum", "osrt_sum"]


def nsys_stats(setting):
    print("\n== nsys stats on our SQLite")
    if not shutil.which("nsys"):
        print("  there is no nsys here")
        return
    out = setting.fresh("nsys-stats")
    under_ours(setting, [setting.llm, "--layers", "2", "--hidden", "256", "--prompt", "32", "--steps", "8", "--iterations", "2"], out)
    sqlite, _ = our_bundle(setting, out)
    for report in NEEDED + MORE:
        said = subprocess.run(["nsys", "stats", "--report", report, "--format", "csv", "--output", "-", str(sqlite)], env=clean_env(), capture_output=True,
                              text=True)
        table = [line for line in said.stdout.splitlines() if "," in line]
        works = said.returncode == 0 and len(table) >= 2
        last = (said.stdout + said.stderr).strip().splitlines()[-1:] or [""]
        if report in NEEDED:
            setting.verdict("nsys stats", report, works, f"{len(table) - 1} rows" if works else last[0][:200])
        else:
            print(f"  {report:44} {f'{len(table) - 1} rows' if works else 'nothing: ' + last[0][:120]}")
