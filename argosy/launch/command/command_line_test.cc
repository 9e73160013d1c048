#include "argosy/launch/command/command_line.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "argosy/base/settings.h"
#include "argosy/launch/command/flags.h"

namespace argosy::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string error_of(const std::vector<std::string>& arguments) {
  const auto line = parse_command_line(arguments);
  return line.ok() ? "" : line.status().message();
}

TEST(CommandLine, WhatIsWrongIsNamed) {
  EXPECT_EQ(error_of({"--worker_nun=2", "x"}), "there is no option --worker_nun, did you mean --worker_num?; see --help");
  EXPECT_EQ(error_of({"--worker_num", "two", "x"}), "option --worker_num: found 'two', expected a whole number from 1");
  EXPECT_EQ(error_of({"--worker_num"}), "option --worker_num needs a value: N");
  EXPECT_EQ(error_of({"--no-python=1", "x"}), "option --no_python takes no value");
  EXPECT_EQ(error_of({"--run_mode=mpi", "x"}), "option --run_mode: found 'mpi', expected ps or collective");
  EXPECT_EQ(error_of({"--servers=", "x"}), "option --servers: found nothing, expected host:port,host:port");
  EXPECT_EQ(error_of({"--log_dir=s3://bucket/logs", "x"}),
            "option --log_dir: found 's3://bucket/logs', expected a folder on a disk of this machine");
  EXPECT_THAT(error_of({"--tensorboard=s3://bucket/t", "x"}), HasSubstr("expected a folder on a disk"));
  EXPECT_EQ(error_of({"--gpus=0,,1", "x"}), "option --gpus: found '0,,1', expected numbers such as 0,1");
  EXPECT_EQ(error_of({"--nnodes=4:1", "x"}),
            "option --nnodes: found '4:1', expected a number of nodes, 4, or the least and the most, 1:4");
  EXPECT_THAT(error_of({"--rdzv-backend=etcd", "x"}), HasSubstr("without another service"));
  EXPECT_EQ(error_of({"--node-rnk=0", "x"}), "there is no option --node_rnk, did you mean --node_rank?; see --help");
  EXPECT_EQ(error_of({"--worker_num=1", "--gpus=0", "x"}),
            "--gpus is for a collective job, and the options before it say the other; leave one out");
  EXPECT_THAT(error_of({"--gpus=0", "--run_mode=ps", "x"}),
              HasSubstr("option --run_mode: found 'ps', and the options before it say the other"));
  EXPECT_THAT(error_of({"--resume", "--fresh", "x"}), HasSubstr("--fresh begins anew; leave one out"));
  EXPECT_THAT(error_of({"--server_num=1", "--replicas=1", "--to_kubernetes=jobset", "x"}), HasSubstr("no followers of servers"));
  EXPECT_THAT(error_of({"--rdzv_endpoint=a:1", "--master_addr=b", "x"}),
              HasSubstr("option --master_addr: found 'b', and 'a:1' before"));
  EXPECT_THAT(error_of({"--nproc-per-node=2", "--servers=a:1", "x"}), HasSubstr("--servers is for a job with parameter servers"));
}

TEST(CommandLine, TheScriptKeepsItsOwnOptions) {
  const auto line = parse_command_line({"--server-num=1", "train.py", "--worker_num", "9"});
  ASSERT_TRUE(line.ok());
  EXPECT_THAT(line->program.command, ElementsAre("train.py", "--worker_num", "9"));
  EXPECT_EQ(line->job.server_num, 1);
  EXPECT_EQ(line->job.worker_num, std::nullopt);
}

TEST(CommandLine, TheNamesOfBothLaunchersAreTaken) {
  const auto line = parse_command_line({"--run_mode", "ps", "--trainer_num", "3", "--endpoints=a:1, b:2", "--started_port=7000",
                                        "--max-restarts=4", "--log-dir", "elsewhere", "--follow=1", "x"});
  ASSERT_TRUE(line.ok()) << line.status().message();
  EXPECT_EQ(line->job.worker_num, 3);
  EXPECT_THAT(line->job.servers, ElementsAre("a:1", "b:2"));
  EXPECT_EQ(line->job.start_port, 7000);
  EXPECT_EQ(line->job.log_dir, "elsewhere");
  EXPECT_EQ(line->supervisor.max_restarts, 4);
  EXPECT_EQ(line->supervisor.follow, "worker 1");
}

// What the servers do about a lost worker the launcher does too.
TEST(CommandLine, TheLauncherShrinksAJobThatItsServersShrink) {
  EXPECT_TRUE(parse_command_line({"--run_mode=ps", "--on-worker-loss=shrink", "x"})->supervisor.shrink);
  EXPECT_FALSE(parse_command_line({"--run_mode=ps", "--on-worker-loss=wait", "x"})->supervisor.shrink);
  EXPECT_FALSE(parse_command_line({"--run_mode=ps", "x"})->supervisor.shrink);
  ::setenv("ARGOSY_ON_WORKER_LOSS", "shrink", 1);
  EXPECT_TRUE(parse_command_line({"--run_mode=ps", "x"})->supervisor.shrink);
  EXPECT_FALSE(parse_command_line({"--run_mode=ps", "--on-worker-loss=fail", "x"})->supervisor.shrink);
  ::unsetenv("ARGOSY_ON_WORKER_LOSS");
}

// Each was taken and did nothing.
TEST(CommandLine, WhatIsForGroupsThatSurviveIsRefusedElsewhere) {
  EXPECT_THAT(error_of({"--nproc_per_node=2", "--spare_ranks=1", "x"}),
              HasSubstr("--spare_ranks 1 is for --on_rank_loss survive"));
  EXPECT_THAT(error_of({"--nproc_per_node=2", "--spare_ranks=1", "--on_rank_loss=restart", "x"}), HasSubstr("or leave it out"));
  const std::vector<std::string> survivors = {"--nproc_per_node=2", "--spare_ranks=1", "--on_rank_loss=survive", "x"};
  EXPECT_THAT(error_of(survivors), HasSubstr("as often as --max_restart says, which is 0: add --max_restart N"));
  std::vector<std::string> restarted = survivors;
  restarted.insert(restarted.begin(), "--max_restart=1");
  EXPECT_EQ(error_of(restarted), "");
  for (const char* kind : {"--server_num=1", "--to_kubernetes=jobset", "--run_mode=ps"})
    EXPECT_THAT(error_of({kind, "--on_rank_loss=survive", "x"}), HasSubstr("and this is a job with parameter servers")) << kind;
  ::setenv("ARGOSY_ON_RANK_LOSS", "survive", 1);
  EXPECT_EQ(error_of({"--nproc_per_node=2", "--max_restart=1", "--spare_ranks=1", "x"}), "");
  EXPECT_THAT(error_of({"--server_num=1", "x"}), HasSubstr("--on_rank_loss survive is for collective jobs"));
  ::unsetenv("ARGOSY_ON_RANK_LOSS");
}

// Servers said these when they had started, with another status.
TEST(CommandLine, WhatServersKeepIsLookedAtBeforeTheyStart) {
  const auto refused = [](std::vector<std::string> words) {
    words.insert(words.begin(), "--server_num=1");
    words.emplace_back("x");
    return error_of(words);
  };
  EXPECT_THAT(refused({"--durability=wal"}), HasSubstr("durability is wal; that needs a directory"));
  EXPECT_THAT(refused({"--mem_limit=1M"}), HasSubstr("mem_limit is 1048576 bytes; that needs a directory"));
  EXPECT_THAT(refused({"--replicas=1"}), HasSubstr("replicas is 1 with durability=none and no directory"));
  EXPECT_THAT(refused({"--replicas=1", "--directory=kept", "--durability=snapshot"}), HasSubstr("with durability=snapshot;"));
  EXPECT_THAT(refused({"--followers=a:1", "--directory=kept"}), HasSubstr("followers is 'a:1', and replicas is 0"));
  EXPECT_THAT(refused({"--directory=/proc/self/stat/kept"}), HasSubstr("'/proc/self/stat' is a file; expected a folder"));
  EXPECT_THAT(refused({"--wire_format_tables=likes=int8,likes=bfloat16"}), HasSubstr("found 'likes' twice"));
  EXPECT_THAT(refused({"--to_kubernetes=jobset", "--durability=wal"}), HasSubstr("that needs a directory"));
  EXPECT_EQ(refused({"--directory=kept", "--durability=wal", "--mem_limit=1M", "--replicas=1"}), "");
  ::setenv("ARGOSY_DURABILITY", "wal", 1);
  EXPECT_THAT(error_of({"--run_mode=ps", "x"}), HasSubstr("that needs a directory")) << "its variable is the same setting";
  EXPECT_EQ(error_of({"--nproc_per_node=1", "x"}), "") << "a collective job has no servers";
  ::setenv("PADDLE_PSERVERS_IP_PORT_LIST", "a:1", 1);
  EXPECT_EQ(error_of({"x"}), "") << "the one process of a pod says it itself";
  ::unsetenv("PADDLE_PSERVERS_IP_PORT_LIST");
  ::unsetenv("ARGOSY_DURABILITY");
  ::setenv("ARGOSY_REPLICAS", "1", 1);
  EXPECT_THAT(error_of({"--server_num=1", "--to_kubernetes=jobset", "x"}), HasSubstr("no followers of servers (replicas=1)"));
  ::unsetenv("ARGOSY_REPLICAS");
}

// One table makes the strategy's fields, the variables and these flags.
TEST(CommandLine, EverySettingIsAFlagThatBecomesItsVariable) {
  const std::string help = launch_help();
  for (const Setting& setting : all_settings()) {
    const std::string choice = setting.choices.empty() ? "7" : setting.choices.back();
    const std::string value = setting.kind == Setting::Kind::choice_by_name ? "emb=" + choice : choice;
    std::map<std::string, std::string> expected = {{setting.variable(), value}};
    std::vector<std::string> arguments = {"--run_mode=ps", "--" + setting.name, value, "x"};
    if (setting.name == "on_rank_loss" || setting.name == "spare_ranks") arguments[0] = "--run_mode=collective";
    if (setting.name == "spare_ranks") {
      arguments.insert(arguments.begin(), "--on_rank_loss=survive");
      expected["ARGOSY_ON_RANK_LOSS"] = "survive";
    }
    if (arguments[0].starts_with("--on_rank_loss") || setting.name == "on_rank_loss") {
      arguments.insert(arguments.begin(), "--max_restart=1");
      expected["ARGOSY_RESTARTS"] = "1";
    }
    const auto needs = [&](const std::string& option, const std::string& variable, const std::string& text) {
      arguments.insert(arguments.begin() + 1, {option, text});
      expected[variable] = text;
    };
    if (setting.name == "durability" || setting.name == "mem_limit" || setting.name == "replicas" || setting.name == "followers")
      needs("--directory", "ARGOSY_DIRECTORY", "kept");
    if (setting.name == "followers") needs("--replicas", "ARGOSY_REPLICAS", "1");
    const auto line = parse_command_line(arguments);
    ASSERT_TRUE(line.ok()) << setting.name << ": " << line.status().message();
    EXPECT_EQ(line->program.environment, expected);
    EXPECT_THAT(help, HasSubstr("--" + setting.name + " " + setting.argument()));
  }
  EXPECT_EQ(error_of({"--mem-limit=lots", "x"}),
            "option --mem_limit: found 'lots', expected a number of bytes, such as 512M or 8G");
}

// As the printout of PaddlePaddle's document has them.
TEST(CommandLine, WhatIsNotSupportedMayOnlySayNothing) {
  EXPECT_TRUE(parse_command_line({"--heter_worker_num=None", "--heter_workers=", "--http_port", "None", "--gpus=0", "x"}).ok());
  EXPECT_THAT(error_of({"--heter_worker_num=2", "x"}),
              HasSubstr("option --heter_worker_num: found '2': jobs of workers with different devices"));
  EXPECT_THAT(error_of({"--heter_workers=a:1", "x"}), HasSubstr("not part of Argosy"));
  EXPECT_THAT(error_of({"--http_port=80", "x"}), HasSubstr("there is no HTTP server"));
}

TEST(CommandLine, AJobWithServersOnSeveralMachinesAndOptionsOfOlderLaunchers) {
  auto line = parse_command_line({"--cluster_node_ips=10.0.0.1,10.0.0.2", "--node_ip=10.0.0.2", "--server_num=1",
                                  "--worker_num=2", "--print_config=False", "--log_level=20", "train.py"});
  ASSERT_TRUE(line.ok()) << line.status().message();
  EXPECT_EQ(line->mode, CommandLine::Mode::ps);
  EXPECT_THAT(line->job.hosts, ElementsAre("10.0.0.1", "10.0.0.2"));
  EXPECT_FALSE(line->print_config);
  EXPECT_THAT(error_of({"--print_config=maybe", "x"}), HasSubstr("expected True or False"));
  EXPECT_THAT(error_of({"--log_level=loud", "x"}), HasSubstr("expected DEBUG, INFO, WARNING, ERROR, or a whole number from 0"));
}

TEST(CommandLine, FlagsStartPortIsThePortWhereNoneIsGiven) {
  ::setenv("FLAGS_START_PORT", "7300", 1);
  const auto by_variable = parse_command_line({"--server_num=1", "x"}),
             by_option = parse_command_line({"--server_num=1", "--start_port=7400", "x"});
  ::setenv("FLAGS_START_PORT", "soon", 1);
  const std::string refused = error_of({"--server_num=1", "x"});
  ::unsetenv("FLAGS_START_PORT");
  EXPECT_EQ(by_variable->job.start_port, 7300);
  EXPECT_EQ(by_option->job.start_port, 7400);
  EXPECT_THAT(refused, HasSubstr("FLAGS_START_PORT"));
}

TEST(CommandLine, ACollectiveJobByTheDocumentsAndByTorchrunsNames) {
  auto line = parse_command_line({"--cluster_node_ips=10.0.0.1,10.0.0.2", "--node_ip=10.0.0.2", "--started_port=6170",
                                  "--selected_gpus=0,1", "--log_dir", "elsewhere", "train.py", "--model=ResNet50"});
  ASSERT_TRUE(line.ok()) << line.status().message();
  EXPECT_EQ(line->mode, CommandLine::Mode::collective);
  EXPECT_THAT(line->collective.nodes.ips, ElementsAre("10.0.0.1", "10.0.0.2"));
  EXPECT_EQ(line->collective.nodes.node_ip, "10.0.0.2");
  EXPECT_EQ(line->collective.nodes.started_port, 6170);
  EXPECT_THAT(line->collective.gpus, ElementsAre("0", "1"));
  EXPECT_EQ(line->collective.log_dir, "elsewhere");

  line = parse_command_line({"--nnodes=1:4", "--nproc-per-node", "auto", "--rdzv-endpoint=a:1", "--rdzv-backend=c10d",
                             "--rdzv_id=ctr", "--max-restarts=3", "-m", "package.train"});
  ASSERT_TRUE(line.ok()) << line.status().message();
  EXPECT_EQ(line->collective.nodes.least, 1);
  EXPECT_EQ(line->collective.nodes.most, 4);
  EXPECT_EQ(line->collective.nodes.meeting, "a:1");
  EXPECT_EQ(line->collective.processes, "auto");
  EXPECT_EQ(line->collective.max_restarts, 3);
  EXPECT_EQ(line->program.kind, TrainingProgram::Kind::module);
  EXPECT_EQ(line->program.environment.at("ARGOSY_JOB"), "ctr");

  line = parse_command_line({"--use_paddlecloud", "--seletected_gpus=0,1,2", "train.py"});  // the document's own spelling
  ASSERT_TRUE(line.ok()) << line.status().message();
  EXPECT_TRUE(line->collective.nodes.use_paddlecloud);
  EXPECT_EQ(line->collective.gpus.size(), 3u);
}

// Sets variables for the time of a test, and takes those away that a scheduler of the tests may have set.
class CommandLineWith : public testing::Test {
 protected:
  CommandLineWith() {
    for (const char* name : {"CUDA_VISIBLE_DEVICES", "ARGOSY_DEVICE", "RANK", "WORLD_SIZE", "PADDLE_TRAINER_ID"})
      ::unsetenv(name);
  }
  ~CommandLineWith() override {
    for (const std::string& name : set_) ::unsetenv(name.c_str());
  }
  void set(const std::string& name, const std::string& value) {
    ::setenv(name.c_str(), value.c_str(), 1);
    set_.push_back(name);
  }
  CommandLine::Mode mode() {
    testing::internal::CaptureStderr();
    const auto line = parse_command_line({"train.py"});
    said_ = testing::internal::GetCapturedStderr();
    return line.ok() ? line->mode : CommandLine::Mode::unsaid;
  }
  std::string said_;

 private:
  std::vector<std::string> set_;
};

TEST_F(CommandLineWith, NoOptionTheModeIsThatOfTheMachine) {
  set("CUDA_VISIBLE_DEVICES", "");
  EXPECT_EQ(mode(), CommandLine::Mode::ps);
  EXPECT_THAT(said_, HasSubstr("Not found distinct arguments and no GPU is seen. Default use ps mode"));
  set("CUDA_VISIBLE_DEVICES", "0,1");
  EXPECT_EQ(mode(), CommandLine::Mode::collective);
  EXPECT_THAT(said_, HasSubstr("a GPU is seen. Default use collective mode"));
  set("ARGOSY_DEVICE", "cpu");
  EXPECT_EQ(mode(), CommandLine::Mode::ps);
  for (const auto& [name, value] : {std::pair("RANK", "0"), {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}})
    set(name, value);
  EXPECT_EQ(mode(), CommandLine::Mode::collective);
}

TEST_F(CommandLineWith, TorchrunsVariablesStandForItsOptions) {
  for (const auto& [name, value] : {std::pair("PET_NNODES", "1:3"),
                                    {"PET_NODE_RANK", "1"},
                                    {"PET_NPROC_PER_NODE", "4"},
                                    {"PET_MASTER_ADDR", "job-master-0"},
                                    {"PET_MASTER_PORT", "23456"},
                                    {"PET_MAX_RESTARTS", "5"}})
    set(name, value);
  auto line = parse_command_line({"--nproc_per_node=2", "train.py"});
  ASSERT_TRUE(line.ok()) << line.status().message();
  EXPECT_EQ(line->mode, CommandLine::Mode::collective);
  EXPECT_EQ(line->collective.nodes.most, 3);
  EXPECT_EQ(line->collective.nodes.node_rank, 1);
  EXPECT_EQ(line->collective.nodes.meeting, "job-master-0");
  EXPECT_EQ(line->collective.nodes.meeting_port, 23456);
  EXPECT_EQ(line->collective.processes, "2");  // an option wins
  EXPECT_EQ(line->collective.max_restarts, 5);
  EXPECT_EQ(parse_command_line({"--server_num=1", "train.py"})->mode, CommandLine::Mode::ps);
  set("PET_NNODES", "few");
  EXPECT_THAT(error_of({"train.py"}), HasSubstr("environment variable PET_NNODES: found 'few'"));
}

TEST(CommandLine, TheConfigurationIsShownAsInPaddlesDocument) {
  const auto line = parse_command_line({"--gpus=0,1", "--token=secret", "train_fleet_dygraph.py"});
  EXPECT_EQ(configuration_text(*line),
            "-----------  Configuration Arguments -----------\n"
            "gpus: 0,1\nheter_worker_num: None\nheter_workers:\nhttp_port: None\nips: 127.0.0.1\nlog_dir: log\n"
            "nproc_per_node: None\nserver_num: None\nservers:\ntraining_script: train_fleet_dygraph.py\n"
            "training_script_args: []\nworker_num: None\nworkers:\n"
            "------------------------------------------------\n");
}

TEST(CommandLine, TheHelpShowsExamplesFirstAndEveryOption) {
  const std::string help = launch_help();
  EXPECT_LT(help.find("fleetrun --gpus=0,1 train.py"), help.find("Usage:"));
  EXPECT_LT(help.find("fleetrun --ips=10.0.0.1,10.0.0.2"), help.find("Usage:"));
  for (const Flag& flag : all_flags()) EXPECT_THAT(help, HasSubstr("\n  " + flag.names[0]));
  EXPECT_THAT(help, Not(HasSubstr(kMisspelt)));
  EXPECT_THAT(help, HasSubstr("--version"));
  for (const char* asked : {"--help", "-h"}) EXPECT_EQ(parse_command_line({asked})->text, help);
}

}  // namespace
}  // namespace argosy::launch
