#include "model/glossary.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

namespace nl {
namespace {

constexpr auto kOfWorkload = GlossaryGroup::kWorkload;
constexpr auto kOfBudget = GlossaryGroup::kBudget;
constexpr auto kGpuWork = GlossaryGroup::kGpuWork;
constexpr auto kOfCounters = GlossaryGroup::kCounters;
constexpr auto kEfficiency = GlossaryGroup::kEfficiency;
constexpr auto kOfTables = GlossaryGroup::kTables;
constexpr auto kMeasuring = GlossaryGroup::kMeasuring;
constexpr auto kConclusions = GlossaryGroup::kConclusions;

constexpr std::string_view kFromTrace = "trace (nsys, collector)";
constexpr std::string_view kFromMarks = "marks of requests and steps";
constexpr std::string_view kFromCounters = "counters (ncu, CUPTI)";
constexpr std::string_view kFromModel = "trace and the model's description";
constexpr std::string_view kFromNvml = "NVML";
constexpr std::string_view kUnprofiledRuns = "unprofiled runs";

constexpr GlossaryEntry kGlossary[] = {
    {kOfWorkload, "stage", "", "", "",
     "a named part of the work, marked by NVTX ranges: prefill, decode, decode_step, or a name of your own", ""},
    {kOfWorkload, "queue of a request", "ms", kFromMarks, "first step begins − arrived", "a server has it and does not work on it yet",
     "queue|request_queue_ms"},
    {kOfWorkload, "interference", "ms", kFromMarks, "mixed step − median of steps of as many decodes",
     "what prompts of other requests add to the steps in which a request gets its tokens", "request_interference_ms"},
    {kOfWorkload, "preemption", "ms", kFromMarks, "", "a request's cache blocks were taken: it waits, and computes its tokens again",
     "request_preemption_ms"},
    {kOfWorkload, "time between steps", "ms", kFromMarks, "",
     "no step of the worker runs although a request waits for one: scheduling, messages, host work",
     "between steps|request_between_steps_ms"},
    {kOfWorkload, "detokenising", "ms", kFromMarks, "text is made − finished",
     "turning tokens into text, as far as a request waits for it after its last token", "request_detokenising_ms"},
    {kOfWorkload, "time of a request", "ms", kFromMarks, "all of its text is made − arrived",
     "how long a server takes for a request, without the network", "request_median_ms|request_p90_ms|request_p99_ms"},
    {kOfWorkload, "decode of a request", "ms", kFromMarks, "",
     "the steps that write a request's tokens, as long as they take without prompts of others", "request_decode_ms"},
    {kOfWorkload, "recorder", "", "", "", "records ranges and marks of a server all the time, and the work of its GPUs in windows", ""},
    {kOfWorkload, "requests of a server", "count", kFromMarks, "",
     "what clients asked of it; of a step: those that it computes something for, prompts of some and tokens of others",
     "Requests|Requests a step|Prompts|Decodes"},
    {kOfWorkload, "prompt tokens", "count", kFromMarks, "", "tokens that a server reads", "Prompt|Prompt tokens"},
    {kOfWorkload, "tokens written", "count", kFromMarks, "", "tokens that a server writes", "Output tokens"},
    {kOfWorkload, "steps of a worker", "count", kFromMarks, "", "what it computes at once, for a batch of requests", "Steps"},
    {kOfWorkload, "time in steps", "ms", kFromMarks, "", "a step of the worker runs", "In steps"},
    {kOfWorkload, "time without a request", "ms", kFromMarks, "", "no request of the worker is there", "No request"},
    {kOfWorkload, "part of a request", "ms", kFromMarks, "",
     "its time is divided into parts that do not overlap; on average, and of the slowest", "Mean of a request|Of the slowest"},
    {kOfWorkload, "other steps", "ms", kFromMarks, "", "a step of the worker without the request, between its own", ""},
    {kOfWorkload, "undivided mixed steps", "ms", kFromMarks, "", "mixed steps of which it is not known what they take without prompts",
     "not divided"},
    {kOfWorkload, "network", "ms", "records of the client", "",
     "from sending a request until it has arrived, and from its last text until the client has all of it", ""},
    {kOfWorkload, "GPU time of steps", "ms", kFromTrace, "", "of the work that they launched", "GPU time"},
    {kOfWorkload, "traced windows", "count", kFromTrace, "",
     "whose GPU work was recorded from beginning to end, where not all of it was; the mean of others is that of their ranges",
     "Traced|Traced, mean|Untraced, mean"},
    {kOfWorkload, "error by sampling", "%", kFromTrace, "half of the 95 % interval ÷ the value",
     "how far what was traced may be from the mean of all windows, because only some were traced", "Error by sampling (95 %)|Its error"},
    {kOfWorkload, "extrapolated GPU time", "ms", kFromTrace, "mean of the traced windows × all windows",
     "of all windows of a stage, traced or not", "GPU time of all"},
    {kOfWorkload, "mixed step", "", "", "", "a step that computes prompts of some requests and tokens of others", ""},
    {kOfWorkload, "shared part of a step", "ms", kFromMarks, "median of steps with a single token",
     "what a step costs whatever is in it: weights are read once for all", "shared|of it shared"},
    {kOfWorkload, "source of a stage", "", "", "",
     "where its windows come from: marked by the workload or by stages.map, ranges of an engine, or inferred from the trace", "inferred"},
    {kOfWorkload, "window", "ms", kFromTrace, "end - start of one range", "one execution of a stage", "Windows|n"},
    {kOfWorkload, "prefill", "", "", "", "the stage that reads the prompt and yields the first token", ""},
    {kOfWorkload, "decode", "", "", "", "the stage that yields the other tokens, from its first step to its last", ""},
    {kOfWorkload, "step", "ms", kFromTrace, "end - start of one decode_step range",
     "one decode step: one token for each sequence of the batch", "decode_step"},
    {kOfWorkload, "kind of program", "", "", "",
     "what the program does again and again: generation, serving, encoding, training, diffusion, collective steps, or unknown", "kind"},
    {kOfWorkload, "unit of work", "", "", "", "the stage whose windows are counted: decode_step, train_step, batch, denoise_step, step",
     "unit_stage"},
    {kOfWorkload, "token", "", "", "", "a piece of a word, the unit in which models read and write", ""},
    {kOfWorkload, "iteration", "ms", kFromTrace, "start of its first stage to the end of its last",
     "one pass through all stages, such as one request; each thread has its own", "request"},
    {kOfWorkload, "warm-up", "count", kFromTrace,
     "leading iterations longer than 1.5 × the median of the later ones, or beside those of another rank, or as configured",
     "leading iterations that are slower than the others; all figures leave them out", ""},
    {kOfWorkload, "measured", "", "", "", "not warm-up", "measured time"},
    {kOfWorkload, "span", "ms", kFromTrace, "start of the first stage to the end of the last, warm-up iterations left out",
     "the time that shares of the measured time are of", "of the span"},
    {kOfWorkload, "phase", "ms", kFromTrace, "",
     "a part of the span in which one stage is open; mixed: stages of several threads; idle: none", ""},
    {kOfWorkload, "batch size", "count", "marks or the model's description", "", "sequences that are computed together", "batch"},
    {kOfWorkload, "TTFT", "ms", kFromTrace, "end of the last prefill before decode - arrival of the request",
     "time to first token; known where a range is around each request",
     "Time to first token|ttft_ms|ttft_median_ms|ttft_p90_ms|ttft_p95_ms|ttft_p99_ms|request_ttft_median_ms|request_ttft_p99_ms"},
    {kOfWorkload, "prefill time", "ms", kFromTrace, "end of the last prefill before decode - start of the iteration",
     "time to first token where no arrival is known", "prefill_ms|prefill_median_ms|prefill_unprofiled_ms|request_prefill_ms"},
    {kOfWorkload, "TPOT", "ms per token", kFromTrace, "a decode window ÷ its steps", "time per output token of one sequence",
     "Time per output token|tpot_ms|tpot_median_ms|tpot_p90_ms|tpot_p95_ms|tpot_p99_ms|tpot_unprofiled_ms|per "
     "token|request_tpot_median_ms"},
    {kOfWorkload, "output tokens per second", "tokens/s", kFromTrace, "generated tokens of all sequences ÷ time of the iterations",
     "how fast whole requests are answered, prefill included", "Output|tokens_per_s|tokens_unprofiled_per_s"},
    {kOfWorkload, "tokens/s of a stage", "tokens/s", kFromTrace, "tokens of a window ÷ its time",
     "tokens that a stage reads or writes in a second", "Tokens/s"},
    {kOfWorkload, "tokens per window", "count", "marks or the model's description", "",
     "tokens that one window of a stage reads or writes, of all sequences", ""},
    {kOfWorkload, "stage time", "ms", kFromTrace, "over the measured windows",
     "how long a window of the stage takes on the host's clock: mean, median (p50), 90th, 95th and 99th percentile (p90, p95, p99), "
     "longest. "
     "Percentiles need windows: p90 and p95 20 of them, p99 100, because that of fewer is the longest",
     "Mean|Median|p50|p90|p95|p99|Longest|median_ms|mean_ms|p90_ms|p95_ms|p99_ms"},
    {kOfWorkload, "unprofiled stage time", "ms", kUnprofiledRuns, "median of the passes, each by its median window",
     "how long a window takes without a profiler", "unprofiled_ms"},
    {kOfWorkload, "inference time", "ms", "a backend's own clock", "median of the unprofiled iterations",
     "one iteration of a model file that a backend runs", "inference_ms|Longest iteration"},
    {kOfWorkload, "load time", "ms", "a backend's own clock", "", "loading a model file", "load_ms"},

    {kOfBudget, "GPU compute", "ms, % of wall time", kFromTrace, "", "a kernel runs that is no communication",
     "gpu_compute|gpu_compute_ms|GPU computing|GPU computes|Compute"},
    {kOfBudget, "exposed communication", "ms, % of wall time", kFromTrace, "", "communication with other GPUs runs, and no compute kernel",
     "communication|communication_ms|Exposed"},
    {kOfBudget, "exposed copy", "ms, % of wall time", kFromTrace, "", "a copy or memset runs, and no kernel",
     "exposed_copy|exposed_copy_ms|Exposed copies|Copies and sets"},
    {kOfBudget, "queue wait", "ms, % of wall time", kFromTrace, "", "the GPU is idle, although its next work is already launched",
     "queue_wait|queue_wait_ms"},
    {kOfBudget, "sync-blocked", "ms, % of wall time", kFromTrace, "", "the GPU is idle, and the host waits for it inside a call",
     "sync_blocked|sync_blocked_ms|blocked in sync"},
    {kOfBudget, "launch-starved", "ms, % of wall time", kFromTrace, "", "the GPU is idle until the host begins the next launch call",
     "launch_starved|launch_starved_ms|before the call"},
    {kOfBudget, "launch latency", "ms, % of wall time", kFromTrace, "",
     "the GPU is idle, the launch call has begun, and its work has not started: driver and hardware", "launch_latency|launch_latency_ms"},
    {kOfBudget, "waiting for launches", "ms, % of wall time", kFromTrace, "launch-starved + launch latency",
     "the GPU is idle, and its next work is not launched or has not started",
     "GPU waits for launches|Mean wait|of all such waits|of the wait"},
    {kOfBudget, "other host work", "ms, % of wall time", kFromTrace, "", "the GPU is idle, and the window launches nothing more",
     "other_host|other_host_ms"},
    {kOfBudget, "residual", "ms, % of wall time", kFromTrace, "",
     "the GPU is idle, and the launch call of its next work is not in the capture", ""},
    {kOfBudget, "idle", "ms, % of wall time", kFromTrace,
     "queue wait + sync-blocked + launch-starved + launch latency + other host work + residual", "nothing runs on the GPU", "Nothing runs"},
    {kOfBudget, "host code", "% of the wait", "sampled stacks", "samples of a line ÷ samples in the wait",
     "the lines of the program that the launching threads run while the GPU is launch-starved", "Samples"},
    {kOfBudget, "wall time", "ms", kFromTrace, "", "time on the clock, from the start to the end of a window", "Wall|of wall|%"},
    {kOfBudget, "GPU busy time", "ms, % of wall time", kFromTrace, "union of the intervals of its kernels, copies and sets",
     "GPU work of a stage runs, on one GPU; never the sum of what overlaps; of several GPUs, the mean",
     "GPU busy|Busy|of busy|gpu_busy_share"},
    {kOfBudget, "left of a window", "%", kFromTrace, "time left ÷ mean wall time",
     "what would remain of a window without launch waits, without idle time, or at the hardware's limit", "of the measured"},
    {kOfBudget, "GPU sum", "ms", kFromTrace, "plain sum of its kernels, copies and sets",
     "GPU work of a stage with overlapping work counted twice", "Kernels, summed"},
    {kOfBudget, "rank", "", "", "", "one process of a workload on several GPUs, with its GPU", "Process"},
    {kOfBudget, "collective", "", "", "", "communication of several ranks: all-reduce, all-gather, all-to-all …", ""},
    {kOfBudget, "overlapped communication", "ms", kFromTrace, "",
     "communication while a compute kernel runs on the same GPU; the budget counts it as GPU compute", ""},
    {kOfBudget, "late rank", "ms", kFromTrace, "", "the last one to reach a collective; the others wait for it inside",
     "Waits for a late rank"},
    {kOfBudget, "lateness of a rank", "ms", kFromTrace, "its arrival - that of the last but one",
     "by how much it came to collectives after all others, and how often; computing: its GPU computed longer than theirs; waiting: it "
     "waited longer for "
     "its program",
     "Last|of them|Late by, sum|Computing|Waiting for its program"},
    {kOfBudget, "exchange between ranks", "ms, % of wall time", kFromTrace, "",
     "communication runs and no compute kernel, once all members have come", "Exchange|rank_exchange_ms"},
    {kOfBudget, "waiting for a partner", "% of wall time", kFromTrace, "",
     "a send or receive runs and no compute kernel, before its other end has come: the bubble of a pipeline", "Waits for a partner"},
    {kOfBudget, "waiting for other ranks", "ms, % of wall time", kFromTrace, "arrival of the last - its own",
     "what a rank spent inside collectives before the last one came", "Waits for others|rank_wait_ms"},
    {kOfBudget, "imbalance of experts", "ms", kFromTrace, "of each exchange the busiest - the mean, summed",
     "how much longer the busiest experts compute than the mean from one all-to-all to the next; all ranks of the group wait for them",
     "Exchanges|Busiest of each|Longer|Its experts|Busiest in"},
    {kOfBudget, "clock of a rank", "ms, ppm", kFromTrace, "",
     "how far its clock was ahead of that of the first rank, and how much faster it ran, by the ends of collectives",
     "Ahead by|Drift (ppm)|Collectives"},
    {kOfBudget, "residual of a clock", "us", kFromTrace, "1.48 × the median distance from the line",
     "how far ends of collectives are from the line that the clock was fitted by", "Residual (1 sigma)|Largest"},
    {kOfBudget, "transfer", "ms, B/s", kFromTrace, "communication - waits for a late rank", "the part of communication in which data moves",
     "Rate|Transfer"},
    {kOfBudget, "algorithm bandwidth", "B/s", kFromTrace, "bytes ÷ transfer",
     "how fast a collective moves its data once all members are there; bytes: the larger of what a member gives and gets, as nccl-tests "
     "count",
     "Bytes per call"},
    {kOfBudget, "bus bandwidth", "B/s", kFromTrace, "algorithm bandwidth × 2 (n - 1) ÷ n of an all-reduce, × (n - 1) ÷ n of others",
     "what each link carries, so that groups of any size can be compared with the link's speed", ""},
    {kOfBudget, "sends and receives", "ms", kFromTrace, "", "of two ranks: how long each was there before the other one, and both together",
     "Lower waits|Higher waits"},

    {kGpuWork, "kernel", "", "", "", "one program on the GPU; a kernel name has many calls", "kernels|Calls|nsys calls"},
    {kGpuWork, "kernel time", "µs per call", kFromTrace, "end - start on the GPU", "how long a call of a kernel runs, warm-up included",
     "median_us|mean_us|p50 µs|p99 µs|longest µs|nsys median µs|min–max µs|total_ms|Shortest|GPU ms"},
    {kGpuWork, "GPU", "number", kFromTrace, "", "which GPU, by CUDA's number", "device"},
    {kGpuWork, "share of GPU time", "%", kFromTrace, "time of the kernel ÷ time of all kernels of its GPU",
     "how much of the GPU's computing one kernel takes, over the whole capture", "Share|share %"},
    {kGpuWork, "share of a stage's kernels", "%", kFromTrace, "time of the kernels of a kind ÷ time of all kernels that a window launches",
     "how much of a stage's computing one kind of kernel takes", "of the kernels"},
    {kGpuWork, "kernel launch", "µs of host time", kFromTrace, "", "the CUDA call that hands a kernel to the GPU", "launch"},
    {kGpuWork, "CUDA graph", "", "", "", "recorded GPU work that one launch replays", ""},
    {kGpuWork, "node level, graph level", "", "", "",
     "how a CUDA graph is captured: each kernel inside, or the graph as one item (kernels inside not visible)", "node level|graph level"},
    {kGpuWork, "pageable, pinned", "", "", "", "host memory that the GPU cannot or can reach directly", "pageable|pinned"},
    {kGpuWork, "node", "ms", "a backend's own clock", "",
     "an operator of a model file as a backend runs it, under a name of its own (`/block/MatMul`)", "Nodes"},
    {kGpuWork, "provider", "", "", "", "what runs a node: an execution provider of ONNX Runtime, or a device", ""},
    {kGpuWork, "operator, layer", "ms", "ranges, torch.profiler, a backend", "",
     "a function of the framework (`aten::mm`), a module of the model (`model.layers.0.mlp`)", "operator|layer"},
    {kGpuWork, "total, self", "ms", "ranges, torch.profiler, a backend", "self = total - what it calls",
     "time of an operator with and without the operators it calls, on the host or on the GPU",
     "Total|Host, total|Host, self|GPU, total|GPU, self|Host ms|host_ms|self_ms|cuda_ms|cuda_self_ms|cuda_time_ms|total_time_ms|Host"},

    {kOfCounters, "counters", "% of peak", kFromCounters, "",
     "what the hardware counts while a kernel or stage runs: SM, DRAM, tensor pipe, occupancy", ""},
    {kOfCounters, "sampling", "% of peak", "samples (CUPTI, nsys)", "mean of the samples in the windows",
     "counters over time, read at a fixed interval", ""},
    {kOfCounters, "SM", "", "", "", "streaming multiprocessor, one of the GPU's processors", ""},
    {kOfCounters, "SM %", "% of peak", kFromCounters, "sm__throughput", "throughput of the SMs", "sm_pct"},
    {kOfCounters, "SM active %", "% of cycles", "counters or samples", "sm__cycles_active ÷ cycles", "cycles with a warp on the SMs",
     "sm_active_pct"},
    {kOfCounters, "DRAM %", "% of peak", "counters or samples", "dram__throughput; of a stage: DRAM bytes ÷ (time × peak bytes/s)",
     "how much of the memory's peak rate is used", "dram_pct"},
    {kOfCounters, "DRAM traffic", "B, B/s", "counters or samples", "dram__bytes_read + dram__bytes_write",
     "bytes read from and written to the GPU's memory, of a kernel call, a window or a second",
     "dram_bytes|DRAM MB|DRAM read|DRAM written|dram_read_bytes|dram_write_bytes|dram_read_bytes_per_s|dram_write_bytes_per_s"},
    {kOfCounters, "L2 %", "% of peak", kFromCounters, "lts__throughput", "throughput of the L2 cache", "l2_pct"},
    {kOfCounters, "L2 traffic", "B", kFromCounters, "lts__t_bytes", "bytes through the L2 cache in one window", "l2_bytes"},
    {kOfCounters, "tensor pipe %", "% of cycles", "counters or samples", "sm__pipe_tensor_cycles_active ÷ active cycles",
     "cycles in which the tensor cores, the GPU's matrix units, work", "tensor %|tensor_pct"},
    {kOfCounters, "occupancy", "%", "counters or samples", "active warps ÷ the most an SM can hold", "how full the SMs are with warps",
     "occupancy %|occupancy_pct"},
    {kOfCounters, "bound by", "", kFromCounters,
     "compute or memory from 60 % of its peak on and 5 points above the other; latency where both are below",
     "what limits a kernel: compute, memory (L1, L2 or DRAM) or latency", ""},
    {kOfCounters, "window on the GPU", "ms", kFromCounters, "",
     "one window of a stage on the GPU's clock in the counter pass, idle time included", ""},
    {kOfCounters, "ncu duration", "µs", kFromCounters, "",
     "one launch alone, as ncu times it; nsys' median of the same launch stands beside it", "ncu µs"},

    {kEfficiency, "FLOPs", "FLOP", "the model's description", "a multiply-add is two", "floating-point operations that a stage needs",
     "FLOP"},
    {kEfficiency, "needed bytes", "B", "the model's description", "weights + KV cache + activations, each moved once",
     "bytes that a stage has to move at the least", "Bytes"},
    {kEfficiency, "peak", "FLOP/s, B/s", "data sheet, or the GPU's clock", "", "dense FLOP/s or bytes/s of the GPU, without sparsity", ""},
    {kEfficiency, "MFU", "%", kFromModel, "needed FLOPs ÷ (time × peak FLOP/s)",
     "model FLOPs utilisation: how much of the GPU's arithmetic the model's own work uses", "mfu"},
    {kEfficiency, "MBU", "%", kFromModel, "needed bytes ÷ (time × peak bytes/s)",
     "model bandwidth utilisation: how much of the GPU's memory rate the model's own work uses", "mbu"},
    {kEfficiency, "MFU, GPU busy", "%", kFromModel, "needed FLOPs ÷ (GPU busy time × peak FLOP/s)",
     "MFU without the time in which the GPU is idle", ""},
    {kEfficiency, "MBU, GPU busy", "%", kFromModel, "needed bytes ÷ (GPU busy time × peak bytes/s)",
     "MBU without the time in which the GPU is idle", ""},
    {kEfficiency, "arithmetic intensity", "FLOP/B", "counters, or the model's description", "FLOPs ÷ bytes of DRAM traffic",
     "how much is computed for each byte moved", "FLOP/B"},
    {kEfficiency, "roofline", "FLOP/s", "counters and the GPU's peaks", "min(peak FLOP/s, intensity × peak bytes/s)",
     "the highest FLOP/s that peak and bandwidth allow at an intensity", "Roof|of roof"},
    {kEfficiency, "achieved", "FLOP/s", kFromCounters, "FLOPs ÷ duration", "the arithmetic rate that a kernel reaches", ""},
    {kEfficiency, "margin", "percentage points", kFromCounters, "", "what decides what a kernel is bound by; small: a close call", ""},
    {kEfficiency, "ideal time", "ms", "the model's description and the GPU's peaks", "max(FLOPs ÷ peak FLOP/s, bytes ÷ peak bytes/s)",
     "the time of a stage at the hardware limit", "Ideal"},
    {kEfficiency, "energy", "J, J per token, W", kFromNvml, "energy counter, or power × time, over the windows",
     "energy that the GPU takes in a window, or for each token of it",
     "joules|joules_per_token|Energy per token|Mean power|Power, mean|Readings"},
    {kEfficiency, "throttled share", "%", kFromNvml, "readings under load with a reason that slows ÷ readings under load",
     "how often the GPU lowered its clocks against its will: heat, power", "throttled_share|Slowed"},
    {kEfficiency, "SM clock, temperature", "MHz, °C", kFromNvml, "", "clock of the SMs and the hottest reading", "SM clock, min|Hottest"},

    {kOfTables, "std", "as the mean", kFromTrace, "standard deviation, n - 1",
     "how far the windows are from their mean; one measurement has none", ""},
    {kOfTables, "sum", "ms", kFromTrace, "", "of all measured windows together", ""},
    {kOfTables, "p10 to p90", "ms", "a backend's own clock", "", "the range that eight of ten iterations are in", "p10 to p90 ms"},
    {kOfTables, "count", "count", "", "", "how many there are", "Times|Rows|Passes|#|max"},
    {kOfTables, "per window", "as the column", kFromTrace, "sum ÷ windows", "of one window on average", ""},
    {kOfTables, "duration of a pass", "s", "the clock of the machine", "", "how long a process that nl-stage started took",
     "Took|Exit status|Time"},

    {kMeasuring, "pass", "", "", "", "one process that a run starts: nsys, ncu, an export, an unprofiled run", ""},
    {kMeasuring, "capture", "", "", "", "what the passes leave: traces and counters", ""},
    {kMeasuring, "trace", "", "", "", "the timed events of a capture: ranges, CUDA calls, kernels, copies", ""},
    {kMeasuring, "collector", "", "", "", "nl-stage's own injected library; it replaces nsys and ncu where they are missing", ""},
    {kMeasuring, "operator pass", "", "", "",
     "the run of a Python workload that records PyTorch's operators and the model's layers in a few steps (files: `operators/`)", ""},
    {kMeasuring, "unprofiled", "", "", "",
     "a run without a profiler; only the times of its ranges, or of its launches, are taken (files: `unprofiled/`)", ""},
    {kMeasuring, "overhead, slowdown", "%", kUnprofiledRuns, "profiled ÷ unprofiled - 1, by the median windows",
     "how much longer a stage takes under a profiler than unprofiled", "overhead|slowdown|Slower by|Adds|95 % interval"},
    {kMeasuring, "calibration", "us", "a loop of calls", "traced - untraced, by the medians of its blocks",
     "what a tracer adds to one call on this machine (files: `calibration/`)", "Untraced"},
    {kMeasuring, "undecidable", "", "", "", "the range of the slowdown includes the limit (`perturbation.limit`, 5 %)", ""},
    {kMeasuring, "bundle", "", "", "", "the folder that a run leaves", ""},
    {kMeasuring, "not captured", "", "", "", "a value that no pass recorded; it is never zero", ""},

    {kConclusions, "rule", "", "", "", "a condition on the figures of a run, with its texts ([rules.md](rules.md))", ""},
    {kConclusions, "finding", "", "", "", "what a rule concludes about a run, stage, kernel or operator", "top_finding"},
    {kConclusions, "action", "", "", "", "what to do about a finding, in one sentence of everyday words", ""},
    {kConclusions, "severity", "", "", "", "info, low, medium or high", ""},
    {kConclusions, "evidence", "", "", "", "a figure for or against a finding, with its place in run.json", ""},
    {kConclusions, "confidence", "%", "rules", "(1 + weight of the evidence that holds) ÷ (2 + weight of all)",
     "how much of the evidence holds", ""},
    {kConclusions, "saving", "ms per step or per token", "rules", "limited to the stage's time, the roofline and the measured time",
     "the time that a fix can save: an upper bound, or what a replay predicts; savings overlap and must not be added",
     "Saves at most|Saves"},
    {kConclusions, "prediction", "ms, %", "a replay of the trace", "",
     "what a stage's window would take after a change, with its interval ([whatif.md](whatif.md))",
     "Now, ms|Predicted, ms|Interval, ms|Change of time|Traced, ms|Without the tracer, ms|Unprofiled, ms"},
    {kConclusions, "fix", "", "", "", "what removes the cause of an error, a doctor line or a finding", ""},
    {kConclusions, "abstention", "", "", "", "a rule without its inputs; it names what is missing", ""},
    {kConclusions, "problem", "", "", "", "something that a run planned and did not get", ""},
};

bool same_letters(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

bool goes_by(const GlossaryEntry& entry, std::string_view name) {
  if (same_letters(entry.term, name)) return true;
  for (std::string_view rest = entry.names; !rest.empty();) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    if (same_letters(rest.substr(0, end), name)) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

}  // namespace

std::span<const GlossaryEntry> glossary() { return kGlossary; }

const GlossaryEntry* glossary_entry(std::string_view name) {
  const auto table = glossary();
  const auto found = std::find_if(table.begin(), table.end(), [&](const GlossaryEntry& entry) { return goes_by(entry, name); });
  return found != table.end() ? &*found : nullptr;
}

std::string glossary_text(const GlossaryEntry& entry) {
  std::string out(entry.sentence);
  if (!out.empty()) out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  out += '.';
  if (!entry.formula.empty()) out += fmt::format(" Formula: {}.", entry.formula);
  if (!entry.unit.empty()) out += fmt::format(" Unit: {}.", entry.unit);
  if (!entry.source.empty()) out += fmt::format(" From: {}.", entry.source);
  return out;
}

}  // namespace nl
