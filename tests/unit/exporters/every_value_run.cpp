#include "tests/unit/exporters/every_value_run.h"

namespace nl::test {
namespace {

// A value for each metric by its place in the enumeration, so that a row of model/metrics with the wrong metric is seen.
MetricValues by_metric(double first) {
  MetricValues values;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Metric::kCount_); ++i) values[static_cast<Metric>(i)] = first + static_cast<double>(i) + 0.25;
  return values;
}

}  // namespace

// Member by member, by their own names: a list of fields that takes one for another shows in the golden run.json.
Run every_value_run() {
  Run run;
  run.run_id = "run_id 101";
  run.created_at = "2026-01-02T03:04:05Z";
  run.name = "name 102";
  run.mode = "mode 103";
  run.status = RunStatus::kPartial;
  run.summary = RunSummary{.ttft_ms = 2501.5, .tpot_ms = 2502.5, .tpot_unprofiled_ms = 2503.5, .tokens_per_s = 2504.5, .gpu_busy_share = 0.2505,
      .mfu = 2506.5, .mbu = 2507.5, .joules_per_token = 2508.5, .top_finding = "top_finding 2509"};
  run.problems = {Problem{.what = "what 104", .where = "where 105", .fix = "fix 106"}};
  run.hardware = Hardware{.gpus = {Device{.id = 107, .name = "name 108", .uuid = "uuid 109", .bus = "bus 110", .chip = "chip 111",
      .sm_count = 112, .clock_hz = 113, .memory_bytes = 114, .bandwidth_bytes_per_s = 115, .l2_bytes = 116, .compute_major = 117,
      .compute_minor = 118}}, .driver_version = "driver_version 119", .cpu_model = "cpu_model 120", .cpu_count = 121, .memory_bytes = 122,
      .architecture = "architecture 123"};
  run.software = Software{.nl_stage_version = "nl_stage_version 124", .os = "os 125", .kernel = "kernel 126", .cuda_driver_version =
      "cuda_driver_version 127", .nsys_version = "nsys_version 128", .ncu_version = "ncu_version 129", .backend = "backend 1667",
      .versions = {{"versions 1668", "versions value 1669"}}};
  run.model = ModelInfo{.name = "name 130", .attributes = {{"attributes 131", "attributes value 132"}}, .precision = "precision 1701"};
  run.workload = Workload{.command = {"command 133"}, .working_directory = "working_directory 134", .exit_status = 135,
      .repository = Repository{.path = "path 1702", .revision = "revision 1703", .modified = true}};
  run.stages = {StageEntry{.name = "name 136", .ranges = {"ranges 137"}, .wall = {.count = 138, .total_ns = 139, .mean_ns = 140.5,
      .median_ns = 141.5, .p99_ns = 142, .min_ns = 143, .max_ns = 144, .stddev_ns = 145.5}, .warmup_windows = 146, .warmup_wall_ns = 147,
      .source = StageSource::kInferred, .confidence = 0.5, .derived = true, .gpu_busy_ns = 148, .gpu_sum_ns = 149, .kernel_calls = 150, .open_ranges = 151, .budget = Budget{.wall_ns = 152,
      .gpu_compute_ns = 153, .exposed_copy_ns = 154, .queue_wait_ns = 155, .sync_blocked_ns = 156, .launch_starved_ns = 157,
      .other_host_ns = 158, .residual_ns = 159, .launch_latency_ns = 496, .communication_ns = 633}, .foreign_gpu_ns = 160, .activity = StageActivity{.launches = 161, .launch_call_ns = 162,
      .graph_launches = 163, .sync_calls = 164, .sync_call_ns = 165, .kernels = 166, .graph_kernels = 167, .kernel_sum_ns = 168,
      .small_kernels = 169, .small_kernel_ns = 170, .elementwise_ns = 171, .elementwise_kernels = 172, .longest_elementwise_chain = 173,
      .gemm_ns = 174, .gemm_kernels = 175, .attention_ns = 176, .attention_kernels = 177, .reduce_ns = 178, .reduce_kernels = 179,
      .norm_ns = 180, .norm_kernels = 181, .copy_kernel_ns = 182, .copy_kernels = 183, .cache_copy_ns = 184, .cache_copy_kernels = 185,
      .communication_kernel_ns = 635, .communication_kernels = 636, .peer_ns = 637, .peer_bytes = 638, .peer_copies = 639, .h2d_ns = 186, .d2h_ns = 187, .d2d_ns = 188, .memset_ns = 189, .h2d_bytes = 190, .d2h_bytes = 191, .d2d_bytes = 192,
      .h2d_copies = 193, .d2h_copies = 194, .d2d_copies = 195, .memsets = 196, .pageable_ns = 197, .pageable_copies = 198,
      .graph_runs = 199, .longest_gap_ns = 200, .longest_gap_at_ns = 201, .streams_used = 202}, .launch_waits = LaunchWaits{.starved_ns = 1656, .latency_ns = 1665,
      .outside_calls_ns = 1657, .late = {LateLaunches{.before = CallKind::kWait, .launch = CallKind::kGraphLaunch, .count = 1658,
      .starved_ns = 1659, .latency_ns = 1666, .longest_ns = 1660, .longest_at_ns = 1661}}, .calls = {WaitCall{.name = "name 1662", .count = 1663, .time_ns = 1664}}}, .host_code = HostCode{.waited_ns = 1700, .samples = 1701,
      .lines = {HostLine{.frame = {"function 1702", "file 1703", "module 1704", 1705, 1706, "source 1707"}, .kind = HostWork::kTokenizer,
      .samples = 1708, .samples_inside = 1709, .time_ns = 1710, .time_inside_ns = 1711}}, .functions = {HostLine{.frame = {"function 1712",
      "file 1713", "module 1714", 1715, 1716, "source 1717"}, .kind = HostWork::kServer, .samples = 1718, .samples_inside = 1719, .time_ns = 1720,
      .time_inside_ns = 1721}}, .kinds = {HostWorkTime{.kind = HostWork::kGarbage, .samples = 1722, .time_ns = 1723}}, .syncs = {SyncLine{
      .frame = {"function 1724", "file 1725", "module 1726", 1727, 1728, "source 1729"}, .samples = 1730, .time_ns = 1731}}, .collections = 1732,
      .collection_ns = 1733, .os_calls = {WaitCall{.name = "name 1734", .count = 1735, .time_ns = 1736}}}, .devices = {StageDevice{.device = 203,
      .busy_ns = 204, .pid = 601, .windows = 602, .launched_ns = 603, .kernel_sum_ns = 604, .overlapped_communication_ns = 605, .budget = Budget{
      .wall_ns = 98, .gpu_compute_ns = 607, .exposed_copy_ns = 609, .queue_wait_ns = 610, .sync_blocked_ns = 611,
      .launch_starved_ns = 612, .other_host_ns = 613, .residual_ns = 614, .launch_latency_ns = 698, .communication_ns = 608}}}, .gpu_spread = GpuSpread{.busy_share_mean = 0.615,
      .busy_share_min = 0.616, .busy_share_max = 0.617, .compute_spread = 0.618, .slowest_device = 619, .slowest_pid = 620,
      .slowest_by = SlowestBy::kArrival, .slowest_last_share = 0.621}, .communication = {Communication{.kind = Collective::kReduceScatter,
      .device = 622, .pid = 623, .count = 624, .sum_ns = 625, .time_ns = 626, .exposed_ns = 627, .bytes = 628, .bytes_per_s = 629.5,
      .late_peer_ns = 630, .transfer_ns = 631, .last_arrivals = 632}}, .tokens_per_window = 205.5, .tokens_per_s = 206.5, .first_window_ns = 207, .rest_median_ns = 208.5,
      .first_in_iteration_ns = 209.5, .later_in_iteration_ns = 210.5, .longest_window_start_ns = 211, .longest_window_end_ns = 212,
      .counters = StageCounters{.measured_by = Meter::kCupti, .windows = 213, .duration_ns = 214.5, .values = by_metric(2100), .metrics = {{"metrics 215",
      216.5}}, .note = "note 217", .dram_use = {}}, .sampling = StageSampling{.samples = 218, .values = by_metric(2200), .metrics = {{"metrics 219",
      220.5}}, .dram_use = {}}, .series = WindowSeries{.wall_ns = {2404, 2405}, .windows_each = 2406, .throttled = 2407}, .slow_windows = SlowWindows{.count = 2408, .budget = Budget{
      .wall_ns = 2409, .gpu_compute_ns = 2410, .exposed_copy_ns = 2411, .queue_wait_ns = 2412, .sync_blocked_ns = 2413, .launch_starved_ns = 2414,
      .other_host_ns = 2415, .residual_ns = 2416, .launch_latency_ns = 2417, .communication_ns = 2418}, .module_loads = 2419, .module_load_ns = 2420}}};
  run.phases = Phases{.span_ns = 221, .phases = {Phase{.name = "name 222", .wall_ns = 223, .budget = Budget{.wall_ns = 224,
      .gpu_compute_ns = 225, .exposed_copy_ns = 226, .queue_wait_ns = 227, .sync_blocked_ns = 228, .launch_starved_ns = 229,
      .other_host_ns = 230, .residual_ns = 231, .launch_latency_ns = 497, .communication_ns = 634}}}, .ranges_without_gpu_share = 0.232, .gpu_without_range_share = 0.233, .devices = {StageDevice{
      .device = 640, .busy_ns = 641, .pid = 642, .windows = 643, .launched_ns = 644, .kernel_sum_ns = 645, .overlapped_communication_ns = 646,
      .budget = Budget{.wall_ns = 97, .gpu_compute_ns = 648, .exposed_copy_ns = 650, .queue_wait_ns = 651,
      .sync_blocked_ns = 652, .launch_starved_ns = 653, .other_host_ns = 654, .residual_ns = 655, .launch_latency_ns = 699, .communication_ns = 649}}}};
  run.iterations = Iterations{.list = {Iteration{.start_ns = 234, .wall_ns = 235, .warmup = true, .stages = {{"stages 236", 237}},
      .pid = 238, .tid = 239}}, .count = 240, .warmup = 241, .rule = "rule 242"};
  run.latency = Latency{.ttft = TimeSummary{.count = 243, .total_ns = 244, .mean_ns = 245.5, .median_ns = 246.5, .p99_ns = 247,
      .min_ns = 248, .max_ns = 249, .stddev_ns = 250.5}, .prefill = TimeSummary{.count = 498, .total_ns = 499, .mean_ns = 500.5, .median_ns = 501.5, .p99_ns = 502,
      .min_ns = 503, .max_ns = 504, .stddev_ns = 505.5}, .tpot = TimeSummary{.count = 251, .total_ns = 252, .mean_ns = 253.5,
      .median_ns = 254.5, .p99_ns = 255, .min_ns = 256, .max_ns = 257, .stddev_ns = 258.5}, .batch = 259.5, .output_tokens_per_s = 260.5,
      .notes = {"notes 261"}};
  run.kernels = std::vector<KernelEntry>{KernelEntry{.name = "name 262", .mangled_name = "mangled_name 263", .short_name =
      "short_name 264", .kind = KernelClass::kNorm, .device = 265, .time = {.count = 266, .total_ns = 267, .mean_ns = 268.5, .median_ns = 269.5, .p99_ns = 270,
      .min_ns = 271, .max_ns = 272, .stddev_ns = 273.5}, .gpu_share = 0.274, .graph_calls = 275, .stages = {StageSplit{.stage =
      "stage 276", .total_ns = 277, .calls = 278}}, .measured = {StageLaunches{.stage = "stage 2401", .total_ns = 2402, .calls = 2403}}, .measured_ns = 2421, .measured_calls = 2422, .selected = true, .ncu = {NcuSample{.ncu_id = 279, .measured_by = Meter::kNcu,
      .ncu_kernel_name = "ncu_kernel_name 280", .matched_by = KernelMatch::kNormalisedName, .grid = {.x = 281, .y = 282, .z = 283},
      .block = {.x = 284, .y = 285, .z = 286}, .stage = "stage 287", .nsys_median_ns = 288, .nsys_min_ns = 289, .nsys_max_ns = 290,
      .nsys_calls = 291, .ncu_duration_ns = 292, .durations_agree = true, .values = by_metric(2300), .bound_by = Bound::kLatency,
      .bound_memory = MemoryLevel::kL2, .metrics = {{"metrics 293",
      294.5}}}}, .ncu_note = Remark{Code::kNotMeasured, {"ncu_note 295"}, "where 295"}, .stalls = {StallShare{.reason = "reason 296", .samples = 297, .share = 0.298}}}};
  run.kernels_note = Remark{Code::kNotRecorded, {"kernels_note 299"}, "where 299"};
  run.api = {ApiEntry{.name = "name 300", .time = {.count = 301, .total_ns = 302, .mean_ns = 303.5, .median_ns = 304.5, .p99_ns = 305,
      .min_ns = 306, .max_ns = 307, .stddev_ns = 308.5}}};
  run.ranges = {RangeEntry{.domain = "domain 309", .name = "name 310", .style = RangeStyle::kStartEnd, .wall = {.count = 311,
      .total_ns = 312, .mean_ns = 313.5, .median_ns = 314.5, .p99_ns = 315, .min_ns = 316, .max_ns = 317, .stddev_ns = 318.5},
      .gpu_busy_ns = 319, .kernel_calls = 320}};
  run.operators = {OperatorTable{.source = "source 321", .file = "file 322", .entries = {OperatorEntry{.name = "name 323", .type =
      "type 324", .calls = 325, .host_time_known = true, .total_ns = 326, .self_ns = 327, .cuda_total_ns = 328, .cuda_self_ns = 329,
      .shapes = {OperatorShape{.text = "text 330", .calls = 331, .total_ns = 332, .cuda_total_ns = 333, .dtypes = "dtypes 5020"}},
      .kernels = {OperatorKernel{.name = "name 334", .calls = 335, .total_ns = 336}}, .stages = {{"stages 337", 338}}}}, .cuda_ns = 339,
      .gpu_share = 0.340, .graph_unjoined_share = 0.961, .scaled = true, .note = "note 341", .entries_left_out = 342, .ranges_left_out = 343}};
  run.operators_note = "operators_note 344";
  run.operator_steps = {OperatorStep{.stage = "stage 5001", .source = "source 5002", .window = 5003, .windows = 5004,
      .calls = {OperatorCall{.index = 5005, .name = "name 5006", .type = OperatorType::kNorm, .depth = 5007, .shapes = "shapes 5008",
      .dtypes = "dtypes 5009", .layer = "layer 5010", .line = "line 5011", .host_ns = 5012, .gpu_ns = 5013, .gpu_recorded_ns = 5014,
      .kernels = {OperatorKernel{.name = "name 5015", .calls = 5016, .total_ns = 5017}},
      .node = "node 5020", .node_index = 5021, .provider = "provider 5022", .holds = {"holds 5023"}, .output_shapes = "output_shapes 5024",
      .output_dtypes = "output_dtypes 5025", .executions = 5026,
      .host_times = OperatorTimes{.count = 5027, .total_ns = 5028, .median_ns = 5029.5, .min_ns = 5030, .p10_ns = 5031, .p90_ns = 5032, .max_ns = 5033},
      .gpu_times = OperatorTimes{.count = 5034, .total_ns = 5035, .median_ns = 5036.5, .min_ns = 5037, .p10_ns = 5038, .p90_ns = 5039, .max_ns = 5040}}},
      .calls_left_out = 5018, .gpu_outside_ns = 5019, .file = "file 5041", .iterations = 5042, .wall_ns = 5043, .unprofiled_wall_ns = 5044,
      .threads = 5045, .idle_threads = 5046}};
  run.layers = {LayerEntry{.name = "name 345", .type = "type 346", .depth = 347, .calls = 348, .total_ns = 349, .self_ns = 350,
      .cuda_total_ns = 351, .cuda_self_ns = 352, .kernels = {OperatorKernel{.name = "name 353", .calls = 354, .total_ns = 355}}}};
  run.layers_note = "layers_note 356";
  run.peaks = DevicePeaks{.name = "name 357", .source = "source 358", .derived = true, .flops_per_s = {{"flops_per_s 359", 360.5}},
      .bytes_per_s = 361.5, .notes = {"notes 362"}};
  run.efficiency = {StageEfficiency{.stage = "stage 363", .dtype = "dtype 364", .terms = {WorkTerm{.name = "name 365", .formula =
      "formula 366", .flops = 367.5, .bytes = 368.5}}, .flops = 369.5, .bytes = 370.5, .flops_per_s = 371.5, .mfu = 372.5, .mbu = 373.5,
      .mfu_busy = 374.5, .mbu_busy = 375.5, .intensity = 376.5, .ideal_ns = 377.5, .limit = Bound::kCompute, .assumptions = {"assumptions 378"},
      .note = "note 379"}};
  run.roofline = Roofline{.points = {RooflinePoint{.kernel = "kernel 380", .stage = "stage 381", .ncu_id = 382, .flops = 383.5,
      .dram_bytes = 384.5, .duration_ns = 385, .flops_per_s = 386.5, .intensity = 387.5, .precision = "precision 388",
      .roof_flops_per_s = 389.5, .roof_share = 390.5, .bound_by = Bound::kMemory, .bound_memory = MemoryLevel::kL1, .margin = 391.5}}, .notes = {"notes 392"}};
  run.findings = {Finding{.rule = "rule 393", .scope = RuleScope::kKernel, .subject = "subject 394", .about = RuleAbout::kMeasurement,
      .cause = "cause 570", .same_cause_as = "same_cause_as 571", .severity = Severity::kHigh,
      .confidence = 0.395, .message = "message 396", .plain = "plain 397", .action = "action 2510", .evidence = {Evidence{.text = "text 398", .held = false,
      .known = true, .reference = "reference 399", .window_start_ns = 400, .window_end_ns = 401}}, .suggestions = {"suggestions 402"},
      .gain_ns = 403.5, .gain_share = 0.404, .gain_per_window_ns = 572.5, .gain_per_token_ns = 573.5, .gain_unprofiled = true, .gain_note = "gain_note 405"}};
  run.abstentions = {Abstention{.rule = "rule 406", .scope = RuleScope::kOperator, .missing = {"missing 407"}, .why = "why 408", .command =
      "command 409"}};
  run.perturbation = Perturbation{.stages = {StageSlowdown{.profiler = PassKind::kCollector, .stage = "stage 411", .bare_ns = {412.5, 413.5},
      .profiled_ns = {414.5, 415.5}, .slowdown = 416.5, .low = 417.5, .high = 418.5, .verdict = SlowdownVerdict::kOverTenPercent, .summary = "summary 420",
      .note = "note 421"}}, .order = "order 422", .notes = {"notes 423"}, .note = "note 424"};
  run.energy = Energy{.pass = "pass 425", .source = EnergySource::kPower, .stages = {StageEnergy{.stage = "stage 427", .joules_per_window = 428.5,
      .joules_per_token = 429.5, .mean_power_w = 430.5, .samples = 431, .note = "note 432"}}, .devices = {ClockSummary{.device = 433,
      .samples = 434, .power_mean_w = 435.5, .power_max_w = 436.5, .power_limit_w = 2090.5, .sm_clock_min_mhz = 437.5, .sm_clock_median_mhz = 438.5,
      .sm_clock_max_mhz = 439.5, .temperature_max_c = 440.5, .throttled_share = 0.441, .throttle_reasons = {"throttle_reasons 442"}}},
      .note = "note 443"};
  run.session = SessionEntry{.backend = "backend 2001", .version = "version 2002", .provider = "provider 2003", .precision = "precision 2004",
      .model = "model 2005", .inputs_from = "inputs_from 2006", .threads = 2007, .warmup = 2008, .load_ns = 2009,
      .inputs = {TensorInfo{"name 2010", "dtype 2011", "declared 2012", {2013, 2014}}}, .outputs = {TensorInfo{"name 2015", "dtype 2016", "declared 2017", {2018}}},
      .unprofiled = {.count = 2019, .total_ns = 2020, .mean_ns = 2021.5, .median_ns = 2022.5, .p99_ns = 2023, .min_ns = 2024, .max_ns = 2025, .stddev_ns = 2026.5},
      .profiled = {.count = 2027, .total_ns = 2028, .mean_ns = 2029.5, .median_ns = 2030.5, .p99_ns = 2031, .min_ns = 2032, .max_ns = 2033, .stddev_ns = 2034.5},
      .slowdown = 2035.5, .operators_ns = 2036.5, .operators_share = 2037.5, .notes = {"notes 2038"}};
  run.host = HostStacks{.sampler = HostSampler::kNsys, .period_ns = 1740, .cost_share = 0.1741, .samples = 1742, .lost = 1743,
      .frames = {StackFrame{.frame = {"function 1744", "file 1745", "module 1746", 1747, 1748, "source 1749"}, .kind = HostWork::kCompiler}},
      .stacks = {WaitStack{.stage = "stage 1750", .frames = {1751}, .samples = 1752}}, .unlisted = 1753};
  run.timeline = Timeline{.start_ns = 444, .end_ns = 445, .what = "what 446", .names = {"first name", "second name", "third name"},
      .lanes = {TimelineLane{.kind = LaneKind::kGpu, .title = "title 448", .slices = {TimelineSlice{.start_ns = 449, .duration_ns = 450,
      .name = 2, .merged = 451}}}}, .slices_left_out = 452};
  run.activity = {ActivityCurve{.device = 453, .metric = "metric 454", .title = "title 455", .start_ns = 456, .step_ns = 457,
      .values = {458.5, 459.5}}};
  run.coverage = Coverage{.gpu_busy_ns = 460, .kernel_sum_ns = 461, .in_stage_share = 0.462, .unlinked_share = 0.463,
      .graph_only_share = 0.464, .graph_unjoined_share = 0.962, .devices = {CaptureDevice{.device = 656, .pid = 657, .busy_ns = 658, .kernel_sum_ns = 659,
      .communication_ns = 660, .overlapped_communication_ns = 661}}};
  run.communication = {Communication{.kind = Collective::kPeerCopy, .device = 662, .pid = 663, .count = 664, .sum_ns = 665, .time_ns = 666,
      .exposed_ns = 667, .bytes = 668, .bytes_per_s = 669.5, .late_peer_ns = 670, .transfer_ns = 671, .last_arrivals = 672}};
  run.clock = ClockFit{.error_ns = 465, .launch_slack_ns = 466, .wait_slack_ns = 467, .contradictions = 468, .shortest_stage =
      "shortest_stage 469", .shortest_stage_ns = 470.5, .share_of_shortest_stage = 471.5};
  run.import_stats = ImportStats{.source_format = SourceFormat::kKineto, .schema_version = "schema_version 473", .tool_version =
      "tool_version 474", .rows_read = {{"rows_read 475", 476}}, .rows_damaged = {{{Code::kNoThread, {"rows_damaged 477"}, "where 477"}, 478}}, .tables_absent = {"tables_absent 479"},
      .notes = {{Code::kClockFit, {"notes 480"}, "where 480"}}};
  run.ncu_rows_damaged = {{{Code::kUnknownUnit, {"ncu_rows_damaged 481"}, "where 481"}, 482}};
  run.provenance = Provenance{.tracer = Tracer::kCupti, .meter = Meter::kNcu, .counters_missing =
      Problem{.code = Code::kCountersBusy, .what = "what 493", .where = "where 494", .fix = "fix 495"}, .passes = {PassRecord{.kind = PassKind::kNcuExportDetails, .argv = {"argv 485"},
      .exit_status = 486, .duration_ns = 487, .outcome = PassOutcome::kTimeout, .detail = "detail 488", .outputs = {"outputs 489"}}}, .adaptations = {{Code::kNotSampled, {"adaptations 490"}, "where 490"}},
      .inputs_sha256 = {{"inputs_sha256 file", std::string(64, 'b')}}, .workload_starts = 5901, .expected_s = 5902.5,
      .budget_s = 1707.5, .captured_at = "captured_at 1704"};
  return run;
}

}  // namespace nl::test
