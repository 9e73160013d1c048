#include "argosy/observe/doctor.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "argosy/base/address.h"
#include "argosy/base/child_process.h"
#include "argosy/base/env.h"
#include "argosy/base/file.h"
#include "argosy/base/settings.h"
#include "argosy/base/socket.h"
#include "argosy/base/text.h"
#include "argosy/base/thread.h"
#include "argosy/observe/job_view.h"

namespace argosy::observe {
namespace {

namespace fs = std::filesystem;

constexpr double kCommandSeconds = 60;
constexpr rlim_t kFiles = 4096;
constexpr double kFreeBytes = 2e9, kFreeMemory = 1e9;
constexpr int kFirstPort = 6170;

// The first line that a command writes; nothing where it cannot be run or fails.
std::optional<std::string> first_line(std::vector<std::string> command) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  const Fd reading(ends[0]);
  Fd writing(ends[1]);
  auto child = ChildProcess::start({.command = std::move(command), .output = writing.get(), .errors = writing.get()});
  writing.close();
  if (!child.ok()) return std::nullopt;
  const auto exit = child->wait(Deadline::after_seconds(kCommandSeconds));
  char bytes[4096];
  const ssize_t count = exit && exit->ok() ? ::read(reading.get(), bytes, sizeof bytes) : 0;
  if (count <= 0) return std::nullopt;
  const std::string text(bytes, static_cast<size_t>(count));
  return text.substr(0, text.find('\n'));
}

std::string text_of(const char* file) {
  std::string text;
  std::getline(std::ifstream(file), text);
  return text;
}

Finding variables() {
  const Status status = check_variable_names();
  return {status.ok(), "variables", status.ok() ? "every ARGOSY_* variable is known" : status.message(), ""};
}

Finding python() {
  const std::string program = env_text("ARGOSY_PYTHON").value_or("python3");
  const auto version = first_line({program, "--version"});
  if (!version) return {false, "Python", fmt::format("'{}' cannot be run", program), "install Python 3.11, or set ARGOSY_PYTHON"};
  return {true, "Python", *version + " (" + program + ")", ""};
}

Finding torch() {
  const std::string program = env_text("ARGOSY_PYTHON").value_or("python3");
  const auto version = first_line({program, "-c", "import torch; print(torch.__version__)"});
  if (version) return {true, "torch", *version, ""};
  return {false, "torch", fmt::format("{} cannot import it", program),
          "pip install torch==2.13.0 into the environment that runs the scripts; parameter servers alone need none"};
}

Finding package() {
  const std::string program = env_text("ARGOSY_PYTHON").value_or("python3");
  if (first_line({program, "-c", "import argosy.fluid; print('ok')"})) return {true, "package argosy", "can be imported", ""};
  return {false, "package argosy", fmt::format("{} cannot import it", program),
          "start fleetrun from the environment that has it, or set ARGOSY_PYTHON; C++ programs need none"};
}

Finding compiler() {
  for (const char* name : {"g++", "clang++"}) {
    if (const auto version = first_line({name, "--version"})) return {true, "C++ compiler", *version, ""};
  }
  return {true, "C++ compiler", "none", "only programs in C++ need one: Debian's g++"};
}

Finding cores() {
  const int cores = available_cores();
  return {true, "cores", std::to_string(cores), cores > 1 ? "" : "several processes will share one; samples/s will be low"};
}

Finding memory() {
  std::ifstream in("/proc/meminfo");
  std::string name, unit;
  double kilobytes = 0, available = 0;
  while (in >> name >> kilobytes && std::getline(in, unit)) {
    if (name == "MemAvailable:") available = kilobytes * 1024;
  }
  const bool enough = available > kFreeMemory;
  return {enough, "memory", bytes_text(available) + " available",
          enough ? "" : "close what holds it, or let servers keep cold rows on the disk: --mem_limit"};
}

Finding open_files() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const bool enough = limit.rlim_cur >= kFiles;
  return {enough, "open files", fmt::format("{} per process", limit.rlim_cur),
          enough ? "" : fmt::format("ulimit -n {} before fleetrun: each worker has two connections to each server", kFiles)};
}

Finding core_files() {
  rlimit limit{};
  ::getrlimit(RLIMIT_CORE, &limit);
  return {true, "core files", limit.rlim_cur == 0 ? "off" : "on",
          limit.rlim_cur == 0 ? "ulimit -c unlimited keeps one of a process that crashes" : ""};
}

Finding disk(const std::string& name, const fs::path& folder) {
  struct statvfs space{};
  if (::statvfs(folder.c_str(), &space) != 0)
    return {false, name, fmt::format("'{}': {}", folder.string(), std::strerror(errno)), "make the folder, or choose another"};
  const double free = static_cast<double>(space.f_bavail) * static_cast<double>(space.f_frsize);
  const bool writable = ::access(folder.c_str(), W_OK) == 0;
  Finding finding{writable && free > kFreeBytes, name, fmt::format("{} free in {}", bytes_text(free), folder.string()), ""};
  if (!writable) finding.cure = "it cannot be written; choose another with --log_dir or --directory";
  if (writable && free <= kFreeBytes) finding.cure = "make room: while the disk of the log is full, servers acknowledge nothing";
  return finding;
}

Finding ports() {
  const bool used = is_port_in_use({.host = "127.0.0.1", .port = kFirstPort});
  const auto parts = split(text_of("/proc/sys/net/ipv4/ip_local_port_range"), '\t');
  const auto low = parse_integer(parts.empty() ? "" : parts[0]).value_or(32768);
  if (low <= kFirstPort + 100)
    return {false, "ports", fmt::format("outgoing connections take ports from {} on", low),
            "sysctl net.ipv4.ip_local_port_range='32768 60999', or --start_port below it: else a connection may hold a server's "
            "port"};
  if (!free_ports("127.0.0.1", 1).ok())
    return {false, "ports", "no port of 127.0.0.1 can be opened", "bring the loopback up: ip link set lo up"};
  return {true, "ports",
          used ? fmt::format("{} is in use; jobs take the next free ones", kFirstPort) : fmt::format("{} is free", kFirstPort),
          ""};
}

Finding host() {
  const std::string address = own_address();
  const bool alone = address == "127.0.0.1";
  return {true, "own address", address, alone ? "jobs of several machines need an address that the others reach: --node_ip" : ""};
}

Finding wall_clock() {
  timex state{};
  const bool synchronised = ::adjtimex(&state) != TIME_ERROR;
  return {true, "clock", synchronised ? "synchronised" : "not known to be synchronised",
          synchronised ? "" : "certificates, dates of logs and traces of several machines need it: chrony or systemd-timesyncd"};
}

std::vector<Finding> tls() {
  const auto folder = env_text("ARGOSY_TLS");
  if (!folder || folder->empty()) return {{true, "TLS", "not used (ARGOSY_TLS is not set)", ""}};
  std::vector<Finding> findings;
  for (const char* name : {"ca.pem", "certificate.pem", "key.pem"}) {
    const fs::path file = fs::path(*folder) / name;
    struct stat info{};
    if (::access(file.c_str(), R_OK) != 0 || ::stat(file.c_str(), &info) != 0) {
      findings.push_back({false, "TLS", fmt::format("'{}' cannot be read: {}", file.string(), std::strerror(errno)),
                          "see docs/settings.md, tls"});
    } else if (std::string_view(name) == "key.pem" && (info.st_mode & 077) != 0) {
      findings.push_back(
          {false, "TLS", fmt::format("'{}' can be read by others", file.string()), fmt::format("chmod 600 {}", file.string())});
    } else if (std::string_view(name) != "key.pem" &&
               !first_line({"openssl", "x509", "-noout", "-checkend", "86400", "-in", file.string()})) {
      findings.push_back(
          {false, "TLS", fmt::format("'{}' is no certificate that holds for another day", file.string()), "make a new one"});
    } else {
      findings.push_back({true, "TLS", file.string(), ""});
    }
  }
  return findings;
}

Finding program(const std::string& what, std::vector<std::string> command, const std::string& cure) {
  const auto version = first_line(std::move(command));
  return {true, what, version.value_or("none"), version ? "" : cure};
}

}  // namespace

std::vector<Finding> examine_machine() {
  std::vector<Finding> findings = {variables(), python(), torch(),      package(),   compiler(),
                                   cores(),     memory(), open_files(), core_files()};
  std::error_code error;
  findings.push_back(disk("disk of the logs", fs::current_path(error)));
  if (const auto directory = env_text("ARGOSY_DIRECTORY"); directory && !directory->empty())
    findings.push_back(disk("disk of the servers", *directory));
  for (const Finding& finding : {ports(), host(), wall_clock()}) findings.push_back(finding);
  for (const Finding& finding : tls()) findings.push_back(finding);
  findings.push_back(program("MPI", {"mpirun", "--version"}, "only roles from mpirun need it: Debian's openmpi-bin"));
  findings.push_back(program("Slurm", {"srun", "--version"}, "only jobs under srun need it"));
  findings.push_back(program("gdb", {"gdb", "--version"}, "with it the stacks of a stalled job have names: Debian's gdb"));
  return findings;
}

}  // namespace argosy::observe
