// mpirun's host file as the launcher's list of machines.
#include "argosy/launch/command/host_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "argosy/base/file.h"
#include "argosy/base/text.h"
#include "argosy/launch/command/command_line.h"

namespace argosy::launch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// "node1 4, node2 -" where a host has no slots; or the error.
std::string hosts_of(const std::string& text) {
  const auto file = HostFile::parse(text, "hosts");
  if (!file.ok()) return file.status().message();
  std::vector<std::string> hosts;
  for (const auto& [name, slots] : file->hosts) hosts.push_back(name + " " + (slots > 0 ? std::to_string(slots) : "-"));
  return join(hosts, ", ");
}

TEST(HostFile, IsReadAsMpirunReadsIt) {
  EXPECT_EQ(hosts_of("node1 slots=4\nnode2 slots=2 max_slots=8\n"), "node1 4, node2 2");
  EXPECT_EQ(hosts_of("# all machines\n\n  10.0.0.1   slots=1  # the first\r\n10.0.0.2\r\n"), "10.0.0.1 1, 10.0.0.2 -");
  EXPECT_EQ(hosts_of("10.0.0.1\n[::1] slots=3"), "10.0.0.1 -, [::1] 3");
  EXPECT_EQ(hosts_of("a slots=2\nb\na slots=3\nb\nb"), "a 5, b 3");
}

TEST(HostFile, WhatIsNoHostIsToldWithItsLine) {
  EXPECT_EQ(hosts_of("a\n\nb slot=2"), "hosts:3: found 'slot=2', expected slots=N, a number from 1");
  for (const std::string wrong : {"slots=0", "slots=x", "slots", "slots=5000", "4"})
    EXPECT_EQ(hosts_of("a " + wrong), "hosts:1: found '" + wrong + "', expected slots=N, a number from 1");
  for (const std::string wrong : {"a:6170", "slots=4", "a/b"})
    EXPECT_EQ(hosts_of(wrong), "hosts:1: found '" + wrong + "', expected a host's name or address, and behind it slots=N");
  EXPECT_EQ(hosts_of("# nothing\n"), "'hosts' lists no host; expected a line for each, such as node1 slots=4");
}

class HostFileOption : public testing::Test {
 protected:
  ~HostFileOption() override { std::filesystem::remove(path_); }
  // A command line with a host file of this text.
  Result<CommandLine> line_of(const std::string& hosts, std::vector<std::string> words) {
    EXPECT_TRUE(write_file_atomically(path_, hosts).ok());
    words.insert(words.begin(), "--hostfile=" + path_.string());
    words.emplace_back("x");
    return parse_command_line(words);
  }
  std::string error_of(const std::string& hosts, const std::vector<std::string>& words) {
    const auto line = line_of(hosts, words);
    return line.ok() ? "" : line.status().message();
  }
  const std::filesystem::path path_ = std::filesystem::temp_directory_path() / fmt::format("argosy-hosts-{}", ::getpid());
};

// Machines with unlike numbers of processes agree on where they meet: behind the processes of the first.
TEST_F(HostFileOption, ACollectiveJobHasAsManyProcessesAsSlots) {
  const std::string hosts = "10.0.0.1 slots=4\n10.0.0.2 slots=2\n";
  const auto first = line_of(hosts, {"--node_ip=10.0.0.1"}), second = line_of(hosts, {"--node_ip=10.0.0.2"});
  ASSERT_TRUE(first.ok() && second.ok()) << first.status().message() << second.status().message();
  EXPECT_EQ(first->mode, CommandLine::Mode::collective);
  EXPECT_THAT(second->collective.nodes.ips, ElementsAre("10.0.0.1", "10.0.0.2"));
  EXPECT_EQ(first->collective.processes, "4");
  EXPECT_EQ(second->collective.processes, "2");
  EXPECT_EQ(first->collective.nodes.meeting, "10.0.0.1:6174");
  EXPECT_EQ(second->collective.nodes.meeting, "10.0.0.1:6174");
  EXPECT_EQ(line_of(hosts, {"--node_ip=10.0.0.1", "--start_port=7000"})->collective.nodes.meeting, "10.0.0.1:7004");
  EXPECT_EQ(line_of(hosts, {"--node_ip=10.0.0.2", "--nproc_per_node=3"})->collective.processes, "3") << "an option wins";
  EXPECT_EQ(line_of("127.0.0.1 slots=3", {})->collective.processes, "3") << "the machine finds itself";
  EXPECT_EQ(line_of("10.0.0.1\n10.0.0.2", {})->collective.processes, "") << "without slots it is as with --ips";
}

TEST_F(HostFileOption, WhatCannotBeIsTold) {
  EXPECT_THAT(error_of("10.0.0.1 slots=4\n10.0.0.2", {"--node_ip=10.0.0.1"}),
              HasSubstr("some hosts have slots and others have none"));
  EXPECT_THAT(error_of("10.9.9.1 slots=4\n10.9.9.2 slots=2", {}), HasSubstr("none of its hosts are this machine; say which"));
  EXPECT_THAT(error_of("a", {"--ips=b"}), HasSubstr("--hostfile lists the machines already; leave one out"));
  EXPECT_THAT(error_of("a slots=x", {}), HasSubstr("option --hostfile: "));
  EXPECT_THAT(parse_command_line({"--ips=a", "--hostfile=h", "x"}).status().message(),
              HasSubstr("--ips lists the machines already"));
  EXPECT_THAT(parse_command_line({"--machinefile=/nowhere/hosts", "x"}).status().message(), HasSubstr("/nowhere/hosts"));
  EXPECT_THAT(error_of("a", {"--server_num=1", "--to_kubernetes=jobset"}), HasSubstr("--ips and --hostfile list machines"));
}

TEST_F(HostFileOption, AJobWithServersFitsIntoTheSlots) {
  const auto line = line_of("10.0.0.1 slots=3\n10.0.0.2\n", {"--server_num=1", "--worker_num=2"});
  ASSERT_TRUE(line.ok()) << line.status().message();
  EXPECT_EQ(line->mode, CommandLine::Mode::ps);
  EXPECT_THAT(line->job.hosts, ElementsAre("10.0.0.1", "10.0.0.2"));
  EXPECT_THAT(error_of("10.0.0.1 slots=3\n", {"--server_num=2", "--worker_num=2"}),
              HasSubstr("'10.0.0.1' has 3 slots, and --server_num and --worker_num are 4 processes on each machine"));
}

}  // namespace
}  // namespace argosy::launch
