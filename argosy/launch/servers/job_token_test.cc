#include "argosy/launch/servers/job_token.h"

#include <gmock/gmock.h>

namespace argosy::launch {
namespace {

using ::testing::HasSubstr;

const TrainingProgram kProgram{.command = {"/bin/true"}, .kind = TrainingProgram::Kind::executable};

Result<ServerJob> job_with_token(const ServerJobOptions& options, const TrainingProgram& program) {
  ASSIGN_OR_RETURN(ServerJob job, make_job(options, program));
  RETURN_IF_ERROR(give_token(job, program));
  return job;
}

TEST(JobToken, AJobThatStartsHereHasOneOfItsOwn) {
  const auto job = job_with_token({.server_num = 1, .worker_num = 2}, kProgram);
  const auto other = job_with_token({.server_num = 1, .worker_num = 2}, kProgram);
  ASSERT_TRUE(job.ok() && other.ok());
  const std::string token = job->servers[0].environment.at("ARGOSY_TOKEN");
  EXPECT_EQ(token.size(), 32);
  for (const ProcessSpec& worker : job->workers) EXPECT_EQ(worker.environment.at("ARGOSY_TOKEN"), token);
  EXPECT_NE(other->servers[0].environment.at("ARGOSY_TOKEN"), token) << "of this run alone";
  for (const std::string& word : job->workers[0].command) EXPECT_EQ(word.find(token), std::string::npos);
}

TEST(JobToken, OneThatIsGivenIsKept) {
  TrainingProgram program = kProgram;
  program.environment["ARGOSY_TOKEN"] = "given";
  const auto job = job_with_token({.server_num = 1, .worker_num = 1}, program);
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job->servers[0].environment.at("ARGOSY_TOKEN"), "given");
}

// Nobody here could tell it to the processes that another machine's launcher starts.
TEST(JobToken, APartOfAJobNeedsOneThatIsGiven) {
  const ServerJobOptions part{.servers = {"127.0.0.1:6170"}, .workers = {"127.0.0.1", "192.0.2.1"}};
  const auto job = job_with_token(part, kProgram);
  ASSERT_TRUE(job.ok()) << job.status().message();
  EXPECT_FALSE(job->servers[0].environment.contains("ARGOSY_TOKEN"));
  TrainingProgram strict = kProgram;
  strict.environment["ARGOSY_SECURITY"] = "required";
  EXPECT_THAT(job_with_token(part, strict).status().message(), HasSubstr("give all launchers the same ARGOSY_TOKEN"));
  strict.environment["ARGOSY_TLS"] = "folder";
  EXPECT_TRUE(job_with_token(part, strict).ok());
}

}  // namespace
}  // namespace argosy::launch
