#include "tests/integration/slurm_cluster.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <thread>

#include "tests/catch.h"

namespace fs = std::filesystem;

namespace nl::test {
namespace {

constexpr int kNodes = 4;

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void wait_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

bool is_free(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const bool bound = bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return bound;
}

// Five in a row: the controller's, and one for each node.
int free_ports() {
  std::mt19937 random(static_cast<unsigned>(getpid()));
  for (int attempt = 0; attempt < 200; ++attempt) {
    const int first = std::uniform_int_distribution<int>(20000, 30000)(random);
    bool all = true;
    for (int i = 0; i <= kNodes; ++i) all = all && is_free(first + i);
    if (all) return first;
  }
  FAIL("there are no free ports");
  return 0;
}

// /proc/4711/stat: "4711 (name) S 4242 …"
pid_t parent_of(pid_t pid) {
  const std::string stat = contents("/proc/" + std::to_string(pid) + "/stat");
  std::istringstream rest(stat.substr(stat.rfind(')') + 1));
  char state = 0;
  pid_t parent = 0;
  rest >> state >> parent;
  return parent;
}

std::vector<pid_t> processes_of(const std::string& conf, const std::string& node) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string environment = contents(entry.path() / "environ");
    if (environment.find("SLURM_CONF=" + conf) != std::string::npos && environment.find("SLURMD_NODENAME=" + node) != std::string::npos)
      found.push_back(std::atoi(name.c_str()));
  }
  return found;
}

// Sample: "slurm-wlm 24.11.5". 0: not known.
double slurm_version() {
  FILE* pipe = popen("PATH=$PATH:/usr/sbin slurmctld -V 2>/dev/null", "r");
  if (pipe == nullptr) return 0;
  char text[128] = {};
  const std::size_t size = fread(text, 1, sizeof text - 1, pipe);
  pclose(pipe);
  const std::string version(text, size);
  return version.find(' ') == std::string::npos ? 0 : std::atof(version.c_str() + version.find(' ') + 1);
}

// From this version on slurmd runs without control groups where it is told to.
constexpr double kWithoutControlGroups = 23.11;

}  // namespace

std::string SlurmCluster::why_not() {
  if (geteuid() != 0) return "a Slurm of one's own needs root";
  for (const char* program : {"munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel"})
    if (std::system(("PATH=$PATH:/usr/sbin command -v " + std::string(program) + " >/dev/null 2>&1").c_str()) != 0)
      return std::string(program) + " is not installed (slurm-wlm, munge)";
  std::error_code ignored;
  if (slurm_version() < kWithoutControlGroups && fs::is_empty("/sys/fs/cgroup", ignored))
    return "this slurmd needs the control groups of /sys/fs/cgroup, which are not mounted";
  return {};
}

SlurmCluster::SlurmCluster() : first_port_(free_ports()) {
  std::string name = "/tmp/nl-slurm-XXXXXX";
  REQUIRE(mkdtemp(name.data()) != nullptr);
  folder_ = name;
  fs::permissions(folder_, fs::perms(0755));
  write_conf();
  start_daemons();
  for (int i = 0; i < 300; ++i, wait_ms(100))
    if (say("sinfo --noheader --Node --format=%T") == "idle\nidle\nidle\nidle\n") return;
  FAIL("the nodes did not come up:\n" << say("sinfo; tail -n 5 *.log"));
}

void SlurmCluster::write_conf() const {
  char host[256] = {};
  REQUIRE(gethostname(host, sizeof host - 1) == 0);
  for (const char* part : {"state", "run", "munge", "spool/n1", "spool/n2", "spool/n3", "spool/n4"}) fs::create_directories(folder_ / part);
  const std::string at = folder_.string();
  std::ofstream(conf())
      << "ClusterName=test\nSlurmctldHost=" << host << "(127.0.0.1)\nSlurmUser=root\nAuthType=auth/munge\nAuthInfo=socket=" << at
      << "/munge/socket,cred_expire=5\n"  // a job that is put back begins again after so many seconds
      << "CredType=cred/munge\nStateSaveLocation=" << at << "/state\nSlurmdSpoolDir=" << at << "/spool/%n\nSlurmctldPidFile=" << at
      << "/run/slurmctld.pid\n"
      << "SlurmdPidFile=" << at << "/run/%n.pid\nSlurmctldLogFile=" << at << "/slurmctld.log\nSlurmdLogFile=" << at
      << "/%n.log\nSlurmctldPort=" << first_port_ << "\n"
      << "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\nReturnToService=2\nMpiDefault=none\n"
      // A dead node is noticed within some ten seconds.
      << "SlurmdTimeout=3\nMessageTimeout=2\nTCPTimeout=1\nKillWait=2\nSchedulerParameters=sched_interval=1,batch_sched_delay=0\n"
      << "NodeName=n[1-" << kNodes << "] NodeHostname=" << host << " NodeAddr=127.0.0.1 Port=[" << first_port_ + 1 << "-"
      << first_port_ + kNodes << "] CPUs=1 State=UNKNOWN\n"
      << "PartitionName=p Nodes=ALL Default=YES State=UP\n";
  // slurmd makes a control group for itself, which a container may not; an older one does not know the word.
  if (slurm_version() >= kWithoutControlGroups) std::ofstream(folder_ / "cgroup.conf") << "CgroupPlugin=disabled\n";
}

void SlurmCluster::start_daemons() const {
  const std::string munge = (folder_ / "munge").string();
  say("head -c 1024 /dev/urandom > munge/key; chmod 400 munge/key; munged --force --key-file=" + munge + "/key --socket=" + munge +
      "/socket --pid-file=" + munge + "/pid --log-file=" + munge + "/log --seed-file=" + munge + "/seed");
  say("slurmctld -f $SLURM_CONF; for n in 1 2 3 4; do slurmd -N n$n -f $SLURM_CONF; done");
}

std::string SlurmCluster::say(const std::string& command) const {
  const std::string line =
      "cd " + folder_.string() + " && { export SLURM_CONF=" + conf().string() + " PATH=$PATH:/usr/sbin; " + command + "; } 2>&1 </dev/null";
  FILE* pipe = popen(line.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  for (char buffer[4096]; std::size_t got = fread(buffer, 1, sizeof buffer, pipe);) text.append(buffer, got);
  pclose(pipe);
  return text;
}

std::string SlurmCluster::queued() const { return say("squeue --noheader --array"); }

bool SlurmCluster::runs_on(const std::string& node, const std::string& program) const {
  for (const pid_t pid : processes_of(conf().string(), node))
    if (contents("/proc/" + std::to_string(pid) + "/comm") == program + "\n") return true;
  return false;
}

// What reports to the controller dies first, as it does with a machine.
void SlurmCluster::kill_node(const std::string& name) const {
  kill(std::atoi(contents(folder_ / "run" / (name + ".pid")).c_str()), SIGKILL);
  const auto processes = processes_of(conf().string(), name);
  for (const pid_t pid : processes)
    if (const pid_t parent = parent_of(pid); parent > 1 && contents("/proc/" + std::to_string(parent) + "/comm") == "slurmstepd\n")
      kill(parent, SIGKILL);
  for (const pid_t pid : processes) kill(pid, SIGKILL);
}

void SlurmCluster::start_node(const std::string& name) const { say("slurmd -N " + name + " -f $SLURM_CONF"); }

SlurmCluster::~SlurmCluster() {
  say("scancel --user=root");
  std::vector<pid_t> daemons = {std::atoi(contents(folder_ / "munge/pid").c_str())};
  for (const auto& entry : fs::directory_iterator(folder_ / "run")) daemons.push_back(std::atoi(contents(entry.path()).c_str()));
  for (int round = 0; round < 30; ++round, wait_ms(100)) {
    bool any = false;
    for (const pid_t pid : daemons) any = (pid > 1 && kill(pid, round < 25 ? SIGTERM : SIGKILL) == 0) || any;
    if (!any) break;
  }
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace nl::test
