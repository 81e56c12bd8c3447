#include <string>

#include "model/words.h"
#include "tests/catch.h"
#include "tests/unit/analysis/figures/host/stepping_program.h"

using namespace nl;
using nl::test::SteppingProgram;

namespace {

std::vector<const StageGap*> recurring(const Run& run, const char* name = "decode_step") {
  std::vector<const StageGap*> out;
  for (const StageGap& gap : ::stage(run, name).gaps)
    if (gap.kind == GapKind::kRecurring) out.push_back(&gap);
  return out;
}

Ns idle_of(const Budget& budget) { return budget.sum_ns() - budget.busy_ns(); }

// The gaps of a stage are its idle time, bin by bin.
void check_sums(const StageEntry& stage) {
  Budget sum;
  for (const StageGap& gap : stage.gaps) {
    CHECK(gap.budget.wall_ns == idle_of(gap.budget));
    CHECK(gap.not_launching_ns <= gap.budget.wall_ns);
    sum.wall_ns += gap.budget.wall_ns;
    for (const BudgetBinKey& bin : kBudgetBinKeys) sum.*bin.time_ns += gap.budget.*bin.time_ns;
  }
  CHECK(sum.wall_ns == idle_of(*stage.budget));
  for (const auto bin : {&Budget::queue_wait_ns, &Budget::sync_blocked_ns, &Budget::launch_starved_ns, &Budget::other_host_ns,
                         &Budget::launch_latency_ns, &Budget::residual_ns})
    CHECK(sum.*bin == *stage.budget.*bin);
}

}  // namespace

TEST_CASE("gaps: a function of the user's that runs between two launches of every step is one gap with its name") {
  SteppingProgram p;
  const auto main = p.frame("__main__", "main", 40), loop = p.frame("transformers.generation.utils", "GenerationMixin._sample", 2800),
             norm = p.frame("transformers.models.x.modeling_x", "XNorm.forward", 60), put = p.frame("__main__", "Ledger.put", 14),
             tally = p.frame("__main__", "tally_words", 9, "total += len(word)");
  const auto model = p.stack({main, loop, norm}), own = p.stack({main, loop, put, tally});
  for (int i = 0; i < 40; ++i)
    p.step([&] {
      p.work("embed", 20'000, 5'000, model);
      p.work("layer", 60, 20'000, 5'000, model);
      p.work("argmax", 20'000, 5'000, model);
      p.run_host(2'000'000, own);
      p.work("cat", 20'000, 5'000, model);
    });
  const Run run = p.run_all();
  const StageEntry& stage = ::stage(run, "decode_step");
  check_sums(stage);
  const auto gaps = recurring(run);
  REQUIRE(gaps.size() == 1);
  const StageGap& gap = *gaps[0];
  CHECK(gap.windows == 40);
  CHECK(gap.count == 40);
  CHECK(gap.before == "argmax");
  CHECK(gap.after == "cat");
  CHECK_FALSE(gap.at_edge);
  CHECK(gap.mean_ns == Approx(2'000'000).epsilon(0.02));
  CHECK(*gap.median_ns == Approx(2'000'000).epsilon(0.02));
  CHECK(gap.wall_share == Approx(2'000'000 / stage.wall.mean_ns).epsilon(0.02));
  CHECK(gap.budget.launch_starved_ns > gap.budget.wall_ns * 9 / 10);
  CHECK(gap.not_launching_ns > gap.budget.launch_starved_ns * 9 / 10);
  REQUIRE(gap.host);
  CHECK(gap.host->own_samples > gap.host->samples * 9 / 10);
  CHECK(blame_text(*gap.host) == "tally_words (__main__.py:9), called by Ledger.put");
  CHECK(stage.gaps.size() == 2);  // all the others are one
  CHECK(stage.gaps[1].kind == GapKind::kBetweenLaunches);
  CHECK(stage.gaps[1].not_launching_ns == 0);
}

TEST_CASE("gaps: where a thread of the library launches, the thread that has the stage says what it waited for") {
  SteppingProgram p;
  const auto main = p.frame("__main__", "main", 40), own = p.stack({main, p.frame("__main__", "augment", 12)}), rest = p.stack({main});
  const auto helper = static_cast<std::uint32_t>(p.trace.threads.size());
  p.trace.threads.push_back({p.trace.threads[0].process, 99, ""});
  for (int i = 0; i < 40; ++i)
    p.step([&] {
      p.work("fit", 40, 20'000, 15'000, rest);
      p.run_host(2'000'000, own);
      p.work("copy", 20'000, 5'000, rest);
      p.trace.api_calls.back().thread = helper;
      p.wait_for_gpu(rest);
    });
  const Run run = p.run_all();
  const auto gaps = recurring(run);
  REQUIRE(gaps.size() == 1);
  REQUIRE(gaps[0]->host);
  CHECK(blame_text(*gaps[0]->host) == "augment (__main__.py:12), called by main");
}

TEST_CASE("gaps: a function that exchanges data with other processes is named with the call that waits for them") {
  SteppingProgram p;
  const auto spawn = p.frame("multiprocessing.process", "BaseProcess.run", 103), main = p.frame("__main__", "main", 40),
             average = p.frame("__main__", "average", 12), reduce = p.frame("torch.distributed.distributed_c10d", "all_reduce", 3000);
  const auto own = p.stack({spawn, main, average, reduce}), rest = p.stack({spawn, main});
  for (int i = 0; i < 40; ++i)
    p.step([&] {
      p.work("k", 40, 20'000, 15'000, rest);
      p.run_host(2'000'000, own);
      p.work("k2", 20'000, 5'000, rest);
    });
  const Run run = p.run_all();
  const auto gaps = recurring(run);
  REQUIRE(gaps.size() == 1);
  REQUIRE(gaps[0]->host);
  CHECK(gaps[0]->host->kind == HostWork::kExchange);
  CHECK(blame_text(*gaps[0]->host).starts_with("average (__main__.py:12) in all_reduce"));
  CHECK(gaps[0]->not_launching_ns > gaps[0]->budget.launch_starved_ns * 9 / 10);
}

TEST_CASE("gaps: a gap between two windows is one, and a wait before it is told") {
  SteppingProgram p;
  const auto loop = p.stack({p.frame("__main__", "decode", 20)}),
             check = p.stack({p.frame("__main__", "decode", 24), p.frame("__main__", "verify", 5)});
  for (int i = 0; i < 20; ++i)
    p.step([&] {
      p.run_host(400'000, check);  // this half lies at the start of the window, the other at its end
      p.work("layer", 50, 10'000, 30'000, loop);
      p.wait_for_gpu(loop);
      p.run_host(600'000, check);
    });
  const Run run = p.run_all();
  check_sums(::stage(run, "decode_step"));
  const auto gaps = recurring(run);
  REQUIRE(gaps.size() == 1);
  CHECK(gaps[0]->at_edge);
  CHECK(gaps[0]->windows == 20);
  CHECK(*gaps[0]->median_ns == Approx(1'000'000).epsilon(0.02));  // the first and the last window have only one part of it
  CHECK(gaps[0]->mean_ns == Approx(1'000'000).epsilon(0.06));
  CHECK(gaps[0]->after_wait_ns == Approx(gaps[0]->budget.wall_ns).epsilon(0.05));
  CHECK(gaps[0]->budget.other_host_ns > gaps[0]->budget.launch_starved_ns);
  CHECK(blame_text(*gaps[0]->host) == "verify (__main__.py:5), called by decode");
}

TEST_CASE("gaps: two gaps of one step between kernels of the same names are two, each with its own function") {
  SteppingProgram p;
  const auto loop = p.stack({p.frame("__main__", "run", 20)}), first = p.stack({p.frame("__main__", "route", 30)}),
             second = p.stack({p.frame("__main__", "score", 50)});
  for (int i = 0; i < 30; ++i)
    p.step([&] {
      p.work("k", 30, 12'000, 6'000, loop);
      p.run_host(700'000, first);
      p.work("k", 30, 12'000, 6'000, loop);
      p.run_host(500'000, second);
      p.work("k", 30, 12'000, 6'000, loop);
    });
  const Run run = p.run_all();
  check_sums(::stage(run, "decode_step"));
  const auto gaps = recurring(run);
  REQUIRE(gaps.size() == 2);
  CHECK(gaps[0]->host->function->function == "route");
  CHECK(gaps[1]->host->function->function == "score");
  CHECK(gaps[0]->mean_ns == Approx(700'000).epsilon(0.05));
  CHECK(gaps[1]->mean_ns == Approx(500'000).epsilon(0.05));
}

TEST_CASE("gaps: steps that have some kernels more now and then keep their gap") {
  SteppingProgram p;
  const auto loop = p.stack({p.frame("__main__", "run", 20)}), own = p.stack({p.frame("__main__", "pack", 30)});
  for (int i = 0; i < 30; ++i)
    p.step([&] {
      p.work("k", 30 + i % 3, 12'000, 6'000, loop);
      p.work("last", 12'000, 6'000, loop);
      p.run_host(700'000, own);
      p.work("first", 12'000, 6'000, loop);
    });
  const auto run = p.run_all();
  const auto gaps = recurring(run);
  REQUIRE(gaps.size() == 1);
  CHECK(gaps[0]->windows == 30);
  CHECK(gaps[0]->host->function->function == "pack");
}

TEST_CASE("gaps: a launch-bound step has no recurring gap, and one long gap in a few steps is occasional") {
  SteppingProgram p;
  const auto main = p.frame("__main__", "main", 3);
  const auto model = p.stack({main, p.frame("transformers.models.x.modeling_x", "X.forward", 60)}), own = p.stack({main});
  for (int i = 0; i < 30; ++i)
    p.step([&] {
      p.work("k", 200, 20'000, 5'000, model);
      if (i % 10 == 5) p.run_host(3'000'000, own);
      p.work("k", 20'000, 5'000, model);
    });
  const Run run = p.run_all();
  const StageEntry& stage = ::stage(run, "decode_step");
  check_sums(stage);
  CHECK(recurring(run).empty());
  REQUIRE(stage.gaps.size() == 2);
  CHECK(stage.gaps[0].kind == GapKind::kOccasional);
  CHECK(stage.gaps[0].count == 3);
  CHECK(stage.gaps[1].kind == GapKind::kBetweenLaunches);
  CHECK(stage.gaps[1].wall_share > 0.5);
}

TEST_CASE("gaps: of few samples no line is named, of fewer no function") {
  const auto blamed = [](int lines, int functions, int samples) {
    SteppingProgram p;
    p.period = 1'000'000'000'000;
    p.next_sample = p.period;
    std::vector<std::uint32_t> stacks;
    for (int f = 0; f < functions; ++f)
      for (int l = 0; l < lines; ++l)
        stacks.push_back(p.stack({p.frame("__main__", ("f" + std::to_string(f)).c_str(), static_cast<std::uint32_t>(10 + l))}));
    const auto loop = p.stack({p.frame("__main__", "run", 5)});
    for (int i = 0; i < samples; ++i)
      p.step([&] {
        p.work("k", 20, 12'000, 6'000, loop);
        p.next_sample = p.now + 300'000;
        p.run_host(700'000, stacks[static_cast<std::size_t>(i) % stacks.size()]);
        p.next_sample = p.period;
        p.work("k", 12'000, 6'000, loop);
      });
    const Run run = p.run_all();
    const auto gaps = recurring(run);
    REQUIRE(gaps.size() == 1);
    REQUIRE(gaps[0]->host);
    return *gaps[0]->host;
  };
  const HostBlame line = blamed(1, 1, 12), function = blamed(2, 1, 12), kind = blamed(1, 2, 12), few = blamed(1, 1, 3);
  CHECK(blame_text(line) == "f0 (__main__.py:10)");
  CHECK_FALSE(function.line);
  CHECK(function.function);
  CHECK_FALSE(kind.function);
  CHECK(blame_text(kind) == "the program's own code");
  CHECK_FALSE(few.function);  // 3 of 3: the interval begins at 44 %
}

TEST_CASE("gaps: without samples a gap after a wait is not launching, another may be") {
  for (const bool waits : {true, false}) {
    SteppingProgram p;
    p.next_sample = p.period = 1'000'000'000'000;
    for (int i = 0; i < 10; ++i)
      p.step([&] {
        p.work("k", 20, 12'000, 6'000, 0);
        if (waits) p.wait_for_gpu(0);
        p.run_host(700'000, 0);
        p.work("j", 20, 12'000, 6'000, 0);
      });
    const Run run = p.run_all();
    const auto gaps = recurring(run);
    REQUIRE(gaps.size() == 1);
    CHECK_FALSE(gaps[0]->host);
    CHECK((gaps[0]->not_launching_ns > 0) == waits);
  }
}

TEST_CASE("gaps: a native program's own functions are those of its executable and its libraries") {
  SteppingProgram p;
  const auto native = [&](const char* function, const char* library) {
    p.trace.host.frames.push_back({function, library, "", 0, 0, ""});
    return static_cast<std::uint32_t>(p.trace.host.frames.size() - 1);
  };
  const auto start = native("_start", "/srv/bin/server"), loop = native("Server::step", "/srv/bin/server"),
             pick = native("Grammar::allowed", "/srv/lib/libgrammar.so"), copy = native("memmove", "/usr/lib/libc.so.6"),
             launch = native("cudaLaunchKernel", "/usr/local/cuda/lib64/libcudart.so.12");
  const auto in_launch = p.stack({start, loop, launch}), in_pick = p.stack({start, loop, pick, copy});
  for (int i = 0; i < 20; ++i)
    p.step([&] {
      p.work("k", 20, 12'000, 6'000, in_launch);
      p.run_host(700'000, in_pick);
      p.work("k", 12'000, 6'000, in_launch);
    });
  const Run run = p.run_all();
  const auto gaps = recurring(run);
  REQUIRE(gaps.size() == 1);
  CHECK(blame_text(*gaps[0]->host) == "libgrammar.so!Grammar::allowed in memmove, called by Server::step");
  CHECK(gaps[0]->not_launching_ns > gaps[0]->budget.wall_ns * 8 / 10);
}

TEST_CASE("gaps: templates and a CUDA runtime that are linked into the program are not its own code") {
  SteppingProgram p;
  const auto native = [&](const char* function, const char* library) {
    p.trace.host.frames.push_back({function, library, "", 0, 0, ""});
    return static_cast<std::uint32_t>(p.trace.host.frames.size() - 1);
  };
  const char *const program = "/srv/accounts", *const libc = "/usr/lib/libc.so.6";
  const auto main = native("main", program), settle = native("settle_accounts", program), sort = native("std::__introsort_loop", program),
             clock = native("__vdso_clock_gettime", "[vdso]"), copy = native("memmove", libc), call = native("cudaLaunchKernel", program),
             inside = native("__cudart512", program), wait = native("cudaDeviceSynchronize", program),
             driver = native("(no symbol)", "/usr/lib/x86_64-linux-gnu/libcuda.so.580.65.06"),
             collector = native("nl::collector::call_entered", "/home/me/build/collector/libnl_collector.so");
  const auto launching = p.stack({main, call, inside, driver}), traced = p.stack({main, call, driver, collector}),
             waiting = p.stack({main, wait, inside, driver});
  const std::uint32_t settling[] = {p.stack({main, settle, sort, copy}), p.stack({main, settle, sort, settle, sort, clock}),
                                    p.stack({main, settle, sort})};
  for (int i = 0; i < 20; ++i)
    p.step([&] {
      p.run_host(900'000, settling[i % 3]);
      p.work("k", 10, 12'000, 40'000, launching);
      p.work("k", 10, 12'000, 40'000, traced);
      p.wait_for_gpu(waiting);
    });
  p.trace.host.sampler = HostSampler::kPerf;
  const Run run = p.run_all();
  const auto gaps = recurring(run);
  REQUIRE(gaps.size() == 1);
  REQUIRE(gaps[0]->host);
  CHECK(gaps[0]->host->kind == HostWork::kUser);
  CHECK(blame_text(*gaps[0]->host) == "accounts!settle_accounts in std::__introsort_loop, called by main");
  CHECK(gaps[0]->not_launching_ns > gaps[0]->budget.wall_ns * 8 / 10);
}

TEST_CASE("gaps: one window with many steps shows what comes again inside it") {
  SteppingProgram p;
  const auto loop = p.stack({p.frame("__main__", "run", 5)}), own = p.stack({p.frame("__main__", "shuffle", 9)});
  p.step(
      [&] {
        for (int i = 0; i < 20; ++i) {
          p.work("k", 20, 12'000, 6'000, loop);
          p.work("end", 12'000, 6'000, loop);
          p.run_host(500'000, own);
        }
        p.work("k", 12'000, 6'000, loop);
      },
      "generate");
  const Run run = p.run_all();
  const auto gaps = recurring(run, "generate");
  REQUIRE(gaps.size() == 1);
  CHECK(gaps[0]->count == 20);
  CHECK(gaps[0]->windows == 1);
  CHECK(gaps[0]->mean_ns == Approx(20 * 500'000).epsilon(0.05));
  CHECK_FALSE(gaps[0]->median_ns);
  CHECK(gaps[0]->host->function->function == "shuffle");
}
