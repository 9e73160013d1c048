#include "argosy/launch/collective/node_job.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "argosy/base/rank_info.h"

namespace argosy::launch {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

const Round kSecond = {.number = 2,
                       .node = 1,
                       .restart = 1,
                       .resume = "/data/epoch1",
                       .nodes = {{"10.0.0.1:6170", "10.0.0.1:6171"}, {"10.0.0.2:6170", "10.0.0.2:6171"}}};

NodeJob job() {
  return {.program = {.command = {"./train"}, .kind = TrainingProgram::Kind::executable, .environment = {{"ARGOSY_JOB", "ctr"}}},
          .devices = {.processes = 2, .gpus = {2, 3}},
          .max_restarts = 4};
}

TEST(Collective, EveryProcessKnowsItsPlaceInBothLanguages) {
  const auto processes = job().processes(kSecond);
  ASSERT_EQ(processes.size(), 2u);
  EXPECT_EQ(processes[1].name, "rank 3");
  EXPECT_EQ(processes[1].log, "log/workerlog.1");
  EXPECT_THAT(processes[1].command, ElementsAre("./train"));
  EXPECT_THAT(processes[1].environment,
              IsSupersetOf({Pair("PADDLE_TRAINER_ID", "3"), Pair("PADDLE_TRAINERS_NUM", "4"),
                            Pair("PADDLE_TRAINER_ENDPOINTS", "10.0.0.1:6170,10.0.0.1:6171,10.0.0.2:6170,10.0.0.2:6171"),
                            Pair("PADDLE_CURRENT_ENDPOINT", "10.0.0.2:6171"), Pair("PADDLE_RANK_IN_NODE", "1"),
                            Pair("PADDLE_LOCAL_SIZE", "2"), Pair("TRAINING_ROLE", "TRAINER"), Pair("FLAGS_selected_gpus", "3"),
                            Pair("ARGOSY_JOB", "ctr")}));
  EXPECT_THAT(processes[1].environment,
              IsSupersetOf({Pair("RANK", "3"), Pair("WORLD_SIZE", "4"), Pair("LOCAL_RANK", "1"), Pair("LOCAL_WORLD_SIZE", "2"),
                            Pair("GROUP_RANK", "1"), Pair("MASTER_ADDR", "10.0.0.1"), Pair("MASTER_PORT", "6170"),
                            Pair("TORCHELASTIC_RESTART_COUNT", "1"), Pair("TORCHELASTIC_MAX_RESTARTS", "4"),
                            Pair("ARGOSY_RESUME", "/data/epoch1")}));
}

// Only rank 0 saves; one that is not on the first node has no launcher that would read its note.
TEST(Collective, RankZeroLearnsWhereToNoteCheckpoints) {
  Round first = kSecond;
  first.node = 0;
  const auto processes = job().processes(first);
  EXPECT_THAT(processes[0].environment, Contains(Pair("ARGOSY_CHECKPOINT_FILE", HasSubstr("/log/last_checkpoint"))));
  EXPECT_THAT(processes[1].environment, Not(Contains(Key("ARGOSY_CHECKPOINT_FILE"))));
}

// A launcher may be a process of another job itself: nothing of that one may reach its processes.
TEST(Collective, VariablesOfAnOuterJobAreNotHandedDown) {
  for (const char* name : {"PADDLE_PSERVER_ID", "PADDLE_MASTER", "OMPI_COMM_WORLD_RANK", "TORCHELASTIC_USE_AGENT_STORE",
                           "SLURM_PROCID", "ARGOSY_RESUME"})
    ::setenv(name, "1", 1);
  for (const char* own : {"RANKING", "PADDLE_WITH_GLOO"}) ::setenv(own, "kept", 1);
  const auto processes = job().processes(kSecond);
  EXPECT_THAT(processes[0].without, IsSupersetOf({"PADDLE_PSERVER_ID", "PADDLE_MASTER", "OMPI_COMM_WORLD_RANK",
                                                  "TORCHELASTIC_USE_AGENT_STORE", "SLURM_PROCID", "ARGOSY_RESUME"}));
  EXPECT_THAT(processes[0].without, Not(Contains("RANKING")));
  EXPECT_THAT(processes[0].without, Not(Contains("PADDLE_WITH_GLOO")));
  for (const char* name : {"PADDLE_PSERVER_ID", "PADDLE_MASTER", "OMPI_COMM_WORLD_RANK", "TORCHELASTIC_USE_AGENT_STORE",
                           "SLURM_PROCID", "ARGOSY_RESUME", "RANKING", "PADDLE_WITH_GLOO"})
    ::unsetenv(name);
}

// What the launcher sets is what a process reads.
TEST(Collective, AProcessFindsThePlaceThatTheLauncherMeant) {
  const auto variables = job().processes(kSecond)[1].environment;
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  const auto place = rank_info_from_environment();
  for (const auto& [name, value] : variables) ::unsetenv(name.c_str());
  ASSERT_TRUE(place.ok()) << place.status().message();
  EXPECT_EQ(place->rank, 3);
  EXPECT_EQ(place->world_size, 4);
  EXPECT_EQ(place->local_rank, 1);
  EXPECT_EQ(place->local_world_size, 2);
  EXPECT_EQ(place->master_host, "10.0.0.1");
  EXPECT_EQ(place->master_port, 6170);
  EXPECT_EQ(place->device, "gpu:3");
  EXPECT_EQ(place->restart, 1);
  EXPECT_EQ(place->resume, "/data/epoch1");
}

TEST(Collective, ARoundComesFromAMessage) {
  const LauncherMessage start{.kind = "start",
                              .fields = {{"round", "2"},
                                         {"node", "1"},
                                         {"restart", "1"},
                                         {"resume", "/data/epoch1"},
                                         {"nodes", "10.0.0.1:6170,10.0.0.1:6171;10.0.0.2:6170"}}};
  const auto round = Round::from(start);
  ASSERT_TRUE(round.ok());
  EXPECT_THAT(round->endpoints(), ElementsAre("10.0.0.1:6170", "10.0.0.1:6171", "10.0.0.2:6170"));
  for (const auto& [name, value] : {std::pair("node", "2"), {"node", "-1"}, {"nodes", ""}, {"nodes", "a:1;b"}, {"round", "x"}}) {
    LauncherMessage wrong = start;
    wrong.fields[name] = value;
    EXPECT_FALSE(Round::from(wrong).ok()) << name << "=" << value;
  }
}

TEST(Collective, TheBoxIsThatOfPaddlesDocument) {
  ProcessSpec process{.environment = {{"PADDLE_TRAINER_ENDPOINTS", "127.0.0.1:20923,127.0.0.1:10037"},
                                      {"FLAGS_selected_gpus", "0"},
                                      {"PADDLE_TRAINER_ID", "0"},
                                      {"PADDLE_TRAINERS_NUM", "2"},
                                      {"PADDLE_CURRENT_ENDPOINT", "127.0.0.1:20923"}}};
  EXPECT_EQ(environment_box(process),
            "    +=======================================================================================+\n"
            "    |                        Distributed Envs                      Value                    |\n"
            "    +---------------------------------------------------------------------------------------+\n"
            "    |                PADDLE_TRAINER_ENDPOINTS         127.0.0.1:20923,127.0.0.1:10037       |\n"
            "    |                     FLAGS_selected_gpus                        0                      |\n"
            "    |                       PADDLE_TRAINER_ID                        0                      |\n"
            "    |                     PADDLE_TRAINERS_NUM                        2                      |\n"
            "    |                 PADDLE_CURRENT_ENDPOINT                 127.0.0.1:20923               |\n"
            "    +=======================================================================================+\n");
  process.environment["PADDLE_TRAINER_ENDPOINTS"] = "127.0.0.1:20923,127.0.0.1:10037,127.0.0.1:10038";
  EXPECT_THAT(environment_box(process),
              HasSubstr("|                PADDLE_TRAINER_ENDPOINTS  ... 0.1:20923,127.0.0.1:10037,127.0.0.1:10038|"));
}

}  // namespace
}  // namespace argosy::launch
