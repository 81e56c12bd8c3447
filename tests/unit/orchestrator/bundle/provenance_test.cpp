// What a bundle says about the machine, its tools and its inputs, and which files it has.
#include "orchestrator/bundle/provenance.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <set>
#include <thread>

#include "model/error.h"
#include "orchestrator/bundle/bundle.h"
#include "orchestrator/bundle/files.h"
#include "orchestrator/bundle/redact.h"
#include "orchestrator/bundle/sha256.h"
#include "tests/catch.h"
#include "tests/unit/exporters/sample_run.h"
#include "tests/unit/files.h"
#include "tests/unit/orchestrator/machine/fake_tree.h"

namespace fs = std::filesystem;
using namespace nl::orchestrator;
using nl::test::FakeTree;
using nl::test::Folder;
using nl::test::read_text;

namespace {

// 2026-11-15 01:02:03 UTC
const auto kThen = std::chrono::system_clock::from_time_t(1794704523);

std::set<std::string> files_below(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) names.insert(fs::relative(entry.path(), folder).generic_string());
  return names;
}

std::string refusal_of(const std::function<void()>& work, const fs::path& root) {
  try {
    work();
  } catch (const nl::Error& error) {
    CHECK(error.kind == nl::ErrorKind::kOutput);
    std::string text = error.message + " | " + error.where + " | " + error.fix;
    for (std::size_t at; (at = text.find(root.string())) != std::string::npos;) text.replace(at, root.string().size(), "ROOT");
    return text;
  }
  return "accepted";
}

}  // namespace

TEST_CASE("env.json of an import: every fact in its place, and null where there is none") {
  nl::Run run;
  run.provenance.tracer = nl::Tracer::kImport;
  run.hardware.gpus.resize(2);
  run.hardware.gpus[0].name = "NVIDIA H200";
  run.hardware.gpus[1].name = "NVIDIA L4";
  run.hardware.driver_version = "580.1";
  run.hardware.cpu_model = "EPYC";
  run.hardware.cpu_count = 16;
  run.hardware.architecture = "x86_64";
  run.software.cuda_driver_version = "13.0";
  run.software.os = "Ubuntu 24.04";
  run.software.kernel = "6.8";
  run.software.nsys_version = "2025.3.1";
  run.software.ncu_version = "2025.3.2";
  run.software.nl_stage_version = "9.9";
  Config config;
  config.workload.command = {"python3", "x.py"};  // of this machine: nothing of it is told
  CHECK(env_json(run, config) == R"({
  "gpu": "NVIDIA H200",
  "gpu_count": 2,
  "cuda": "13.0",
  "cuda_driver": "13.0",
  "cuda_runtime": null,
  "cuda_toolkit": null,
  "torch": null,
  "transformers": null,
  "python": null,
  "driver": "580.1",
  "os": "Ubuntu 24.04",
  "kernel": "6.8",
  "cpu": "EPYC",
  "cpu_count": 16,
  "architecture": "x86_64",
  "nsys": "2025.3.1",
  "ncu": "2025.3.2",
  "nl_stage": "9.9"
}
)");
  nl::Run empty;
  empty.provenance.tracer = nl::Tracer::kImport;
  CHECK(
      env_json(empty, config)
          .starts_with("{\n  \"gpu\": null,\n  \"gpu_count\": 0,\n  \"cuda\": null,\n  \"cuda_driver\": null,\n  \"cuda_runtime\": null,"));
  // What the process runs with comes before what the driver could do.
  run.software.versions["cuda_runtime"] = "12.9";
  CHECK(env_json(run, config).find("\"cuda\": \"12.9\",\n  \"cuda_driver\": \"13.0\",\n  \"cuda_runtime\": \"12.9\"") != std::string::npos);
}

TEST_CASE("env.json of a run here names the interpreter and its packages, from either folder of a virtual environment") {
  const FakeTree tree;
  const std::string python = tree.program("venv/bin/python3.12").string();
  nl::Run run;
  run.provenance.tracer = nl::Tracer::kNsys;
  Config config;
  config.workload.command = {python, "x.py"};
  fs::create_directories(tree.root() / "venv/lib/python3.12/site-packages/torch-2.5.1+cu124.dist-info");
  fs::create_directories(tree.root() / "venv/lib/other/site-packages/transformers-0.dist-info");
  fs::create_directories(tree.root() / "venv/local/lib/python3.12/dist-packages/transformers-4.46.dist-info");
  fs::create_directories(tree.root() / "venv/local/lib/python3.12/dist-packages/transformersx-9.dist-info");
  fs::create_directories(tree.root() / "venv/local/lib/python3.12/dist-packages/a-1.egg-info");
  const std::string text = env_json(run, config);
  CHECK(text.find("\"torch\": \"2.5.1+cu124\"") != std::string::npos);
  CHECK(text.find("\"cuda\": \"12.4\",") != std::string::npos);  // by the build of PyTorch
  CHECK(text.find("\"cuda_runtime\": \"12.4\"") != std::string::npos);
  CHECK(text.find("\"transformers\": \"4.46\"") != std::string::npos);
  CHECK(text.find("\"python\": \"" + python + "\"") != std::string::npos);
  CHECK(python_package_version({python}, "a") == "");
  fs::create_directories(tree.root() / "venv/lib/python3/dist-packages/torch-1.dist-info");
  CHECK(python_package_version({python}, "torch") == "1");
  // bin/python is a link out of the environment, beside the packages of the system.
  fs::create_directories(tree.root() / "env/bin");
  fs::create_symlink(python, tree.root() / "env/bin/python");
  CHECK(python_package_version({(tree.root() / "env/bin/python").string()}, "transformers") == "4.46");
  CHECK(python_package_version({(tree.root() / "none/python3").string()}, "torch") == "");
  CHECK(python_package_version({}, "torch") == "");
}

TEST_CASE("this machine's facts, each in its place") {
  Toolset tools;
  tools.driver_version = "580.1";
  tools.cuda_driver_version = 12080;
  nl::Hardware hardware;
  nl::Software software;
  describe_machine(tools, hardware, software);
  utsname names = {};
  REQUIRE(uname(&names) == 0);
  CHECK(hardware.driver_version == "580.1");
  CHECK(software.cuda_driver_version == "12.8");
  CHECK(hardware.architecture == names.machine);
  CHECK(software.kernel == names.release);
  CHECK(software.nl_stage_version == version());
  CHECK(hardware.cpu_count == std::thread::hardware_concurrency());
  CHECK(hardware.memory_bytes == static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
  const std::string release = read_text("/etc/os-release"), key = "PRETTY_NAME=\"";
  if (release.find(key) != std::string::npos) {
    const std::size_t start = release.find(key) + key.size();
    CHECK(software.os == release.substr(start, release.find('"', start) - start));
  }
  const std::string cpus = read_text("/proc/cpuinfo");
  CHECK(hardware.cpu_model.empty() == (cpus.find("model name\t") == std::string::npos));
  CHECK(cpus.find(hardware.cpu_model) != std::string::npos);
}

TEST_CASE("the machine that an export was made on, each fact in its place") {
  const FakeTree tree;
  const fs::path file = tree.root() / "run.sqlite";
  {
    SQLite::Database db(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    db.exec("CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT)");
    db.exec(
        "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('NvDriverVersion', '580.1'), ('CpuDescription', 'EPYC'), ('CpuCores', '96'), "
        "('CpuArchitecture', 'x86_64'), ('OsDescription', 'Ubuntu'), ('SoftwareReleaseVersion', '6.8'), ('CudaDriverVersion', '12040')");
  }
  nl::Trace trace;
  trace.stats.tool_version = "2025.3.1";
  nl::Hardware hardware;
  nl::Software software;
  describe_capture_machine(file, trace, hardware, software);
  CHECK(hardware.driver_version == "580.1");
  CHECK(hardware.cpu_model == "EPYC");
  CHECK(hardware.cpu_count == 96);
  CHECK(hardware.architecture == "x86_64");
  CHECK(software.os == "Ubuntu");
  CHECK(software.kernel == "6.8");
  CHECK(software.cuda_driver_version == "12.4");
  CHECK(software.nsys_version == "2025.3.1");
  CHECK(software.nl_stage_version == version());
  nl::Software other;
  describe_capture_machine(tree.write("no.sqlite", "no database"), trace, hardware, other);
  CHECK(other.nsys_version == "2025.3.1");
  {
    SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec("UPDATE TARGET_INFO_SYSTEM_ENV SET value = 'x'");
  }
  describe_capture_machine(file, trace, hardware, other);
  CHECK(other.cuda_driver_version == "");
}

TEST_CASE("manifest.json: every byte but the digests") {
  const Folder folder;
  const Bundle bundle = Bundle::create({folder.path, folder / "b", "x", "deep"}, kThen);
  bundle.write("run.json", "{}\n");
  bundle.write("nsys/manifest.json", "of its own");
  nl::Run run;
  run.run_id = "the-run";
  run.created_at = bundle.created_at();
  run.status = nl::RunStatus::kComplete;
  run.software.nl_stage_version = "9.9";
  run.software.ncu_version = "2025.3.2";
  run.provenance.passes.push_back({nl::PassKind::kNcu, {"ncu"}, std::nullopt, 2'000'000'000, nl::PassOutcome::kSkipped, "", {}});
  run.provenance.passes.push_back({nl::PassKind::kNsys, {"nsys"}, 0, 500'000'000, nl::PassOutcome::kOk, "", {}});
  bundle.write_manifest(run);
  bundle.write_manifest(run);  // it does not list itself
  std::string text = read_text(folder / "b/manifest.json");
  for (const char* file : {"config.yaml", "nsys/manifest.json", "run.json"}) {
    const std::string digest = sha256_file(folder / "b" / file);
    if (digest.empty()) NL_SKIP("this machine has no libcrypto");
    REQUIRE(text.find(digest) != std::string::npos);
    text.replace(text.find(digest), digest.size(), std::string("digest of ") + file);
  }
  CHECK(text == R"({
  "schema_version": "1.0.0",
  "run_id": "the-run",
  "created_at": "2026-11-15T01:02:03Z",
  "status": "complete",
  "tools": {
    "nl-stage": "9.9",
    "nsys": null,
    "ncu": "2025.3.2"
  },
  "passes": [
    {
      "name": "ncu",
      "outcome": "skipped",
      "exit_status": null,
      "duration_s": 2.0
    },
    {
      "name": "nsys",
      "outcome": "ok",
      "exit_status": 0,
      "duration_s": 0.5
    }
  ],
  "files": [
    {
      "path": "config.yaml",
      "size_bytes": 0,
      "sha256": "digest of config.yaml"
    },
    {
      "path": "nsys/manifest.json",
      "size_bytes": 10,
      "sha256": "digest of nsys/manifest.json"
    },
    {
      "path": "run.json",
      "size_bytes": 3,
      "sha256": "digest of run.json"
    }
  ]
}
)");
}

TEST_CASE("a bundle has its files, and each only where it is asked for or there is something to say") {
  const Folder folder;
  const Bundle bundle = Bundle::create({folder.path, folder / "b", "x", "deep"}, kThen);
  Config config;
  config.composed_yaml = "run: {}\n";
  config.workload.inputs = {"a.txt"};
  write_configuration(bundle, config, name_inputs(config.workload));
  CHECK(read_text(folder / "b/config.yaml") == "run: {}\n");
  CHECK(read_text(folder / "b/inputs.yaml") == "count: 1\ninputs:\n  - path: a.txt\n");
  nl::Evidence evidence;
  const nl::Run run = nl::test::full_run();
  const std::set<std::string> always = {"config.yaml", "detail.json.gz", "env.json",      "host_stacks.folded",
                                        "inputs.yaml", "kernels.md",     "manifest.json", "operators.md",
                                        "report.html", "report.md",      "run.json",      "stakeholder_summary.md"};
  CHECK(!write_trace_files(bundle, config, evidence, run));
  write_bundle(bundle, config, evidence, run);
  CHECK(files_below(folder / "b") == always);
  CHECK(read_text(folder / "b/env.json") == env_json(run, config));
  // Power of the unprofiled passes and of the traced one, under the names of their passes.
  nl::PowerSample sample;
  sample.utc_ns = 5;
  evidence.tracer = nl::Tracer::kNsys;
  evidence.power = {sample};
  evidence.repeats.unprofiled_power.resize(2);
  evidence.repeats.unprofiled_power[1].samples = {sample, sample};
  evidence.trace.stats.source_format = nl::SourceFormat::kNsysSqlite;
  write_bundle(bundle, config, evidence, run);
  const std::string samples = read_text(folder / "b/energy/samples.csv");
  CHECK(nl::test::count(samples, "\nunprofiled-1,") == 0);
  CHECK(nl::test::count(samples, "\nunprofiled-2,") == 2);
  CHECK(nl::test::count(samples, "\nnsys,") == 1);
}

TEST_CASE("a bundle that is discarded is gone, but a folder that was there stays, empty") {
  const Folder folder;
  fs::create_directories(folder / "mine");
  const Bundle mine = Bundle::create({folder.path, folder / "mine", "x", "deep"}, kThen),
               fresh = Bundle::create({folder.path, folder / "new", "x", "deep"}, kThen);
  mine.discard();
  fresh.discard();
  CHECK(fs::is_empty(folder / "mine"));
  CHECK_FALSE(fs::exists(folder / "new"));
}

TEST_CASE("a bundle's name: which characters it keeps, how long it is, and what stands for nothing") {
  const Folder folder;
  const auto name = [&](const std::string& given) {
    const Bundle bundle = Bundle::create({folder.path, {}, given, "deep"}, kThen);
    fs::remove_all(bundle.path());
    return bundle.path().filename().string().substr(16);
  };
  CHECK(name("aZ09._-/ü") == "aZ09._-----deep");
  CHECK(name("") == "run-deep");
  CHECK(name(".x") == "run.x-deep");
  CHECK(name(std::string(81, 'n')) == std::string(80, 'n') + "-deep");
}

TEST_CASE("output folders that are refused: the whole message") {
  const Folder folder;
  const std::string writable = "choose a folder that you may write to with --out DIR or artifacts.dir";
  folder.file("file", "x");
  const auto create = [&](const fs::path& parent, const fs::path& out) {
    return refusal_of([&] { Bundle::create({parent, out, "x", "deep"}, kThen); }, folder.path);
  };
  CHECK(create(folder.path, folder / "file") ==
        "the output is a file, not a folder | ROOT/file | give --out a folder that does not exist yet");
  CHECK(create(folder.path, folder.path) ==
        "the output folder exists and is not empty | ROOT | give --out another folder, or remove this one; nl-stage never overwrites a "
        "bundle");
  CHECK(create(folder / "file", {}) == "cannot make the folder: Not a directory | ROOT/file | " + writable);
  CHECK(create(folder.path, folder / "file/below") == "cannot make the folder: Not a directory | ROOT/file/below | " + writable);
  CHECK(refusal_of([&] { write_file_whole(folder / "no/such", "x"); }, folder.path) ==
        "cannot make the file: No such file or directory | ROOT/no/such | " + writable);
  fs::create_directories(folder / "taken/x");
  CHECK(refusal_of([&] { write_file_whole(folder / "taken", "x"); }, folder.path) ==
        "cannot rename into place: Is a directory | ROOT/taken | " + writable);
  CHECK(free_space_of("/no/such/folder/file") == "free space unknown");
  CHECK(files_below(folder.path) == std::set<std::string>{"file"});
  {
    WholeFile unfinished(folder / "draft");
    unfinished.append("x");
    CHECK(files_below(folder.path).size() == 2);
  }
  CHECK(files_below(folder.path) == std::set<std::string>{"file"});
}

TEST_CASE("what is an environment among strings, and what is not") {
  const FakeTree tree;
  const fs::path file = tree.root() / "e.sqlite";
  SQLite::Database db(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  db.exec("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)");
  const std::vector<std::string> strings = {std::string("A=1\0B=2", 7),
                                            std::string("A=1\0\0", 5),
                                            std::string("A=1\0x\0y", 7),
                                            std::string("A=1\0x", 5),
                                            std::string("=1\0=2", 5),
                                            std::string("A B=1\0", 6),
                                            "A=1",
                                            std::string("x\0A=1\0B=2", 9)};
  for (const std::string& text : strings) {
    SQLite::Statement insert(db, "INSERT INTO StringIds (value) VALUES (?)");
    insert.bind(1, text);
    insert.exec();
  }
  CHECK(redact_environment(file) == 3);
  SQLite::Database after(file.string(), SQLite::OPEN_READONLY);
  SQLite::Statement rows(after, "SELECT CAST(value AS BLOB) FROM StringIds ORDER BY id");
  std::vector<bool> blank;
  while (rows.executeStep()) blank.push_back(rows.getColumn(0).getBytes() == 0);
  CHECK(blank == std::vector<bool>{true, true, false, false, false, false, false, true});
}
