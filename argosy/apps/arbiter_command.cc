#include "argosy/apps/arbiter_command.h"

#include <pthread.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/counted.h"
#include "argosy/base/endpoint_name.h"
#include "argosy/base/log.h"
#include "argosy/base/run_id.h"
#include "argosy/base/settings.h"
#include "argosy/cli/checks.h"
#include "argosy/cli/program_arguments.h"
#include "argosy/observe/process_observer.h"
#include "argosy/ps/arbiter/arbiter.h"
#include "argosy/rpc/security_settings.h"

namespace argosy::apps {
namespace {

struct ArbiterArguments {
  std::vector<std::string> servers, followers;
  std::string token, job, run;
};

// SIGTERM and SIGINT end the wait; false: the time has passed.
bool signalled_within(const sigset_t& signals, long milliseconds) {
  const timespec wait{.tv_sec = milliseconds / 1000, .tv_nsec = (milliseconds % 1000) * 1'000'000};
  return sigtimedwait(&signals, nullptr, &wait) >= 0;
}

// What a terminal shows while nothing can be decided: who is waited for, when that changes and now and then, until all have
// answered once.
class SilenceTeller {
 public:
  void look(const ps::Arbiter& arbiter) {
    if (all_answered_) return;
    const std::string silent = arbiter.unheard();
    all_answered_ = silent.empty();
    if (all_answered_) return log_info("all processes have answered");
    if (silent == last_ && since_.seconds() < kAgainSeconds) return;
    log_info("waits for an answer of {}", silent);
    last_ = silent;
    since_.restart();
  }

 private:
  static constexpr double kAgainSeconds = 30;

  bool all_answered_ = false;
  std::string last_;
  Stopwatch since_;
};

Status arbitrate(const ArbiterArguments& arguments) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT}) sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  set_log_name("arbiter");
  ASSIGN_OR_RETURN(const Settings settings, Settings::from_environment());
  RETURN_IF_ERROR(observe::observe_process(settings, "arbiter"));
  rpc::Security security = rpc::security_of(settings);
  if (!arguments.token.empty()) security.token = arguments.token;
  const std::string run = arguments.run.empty() ? settings.text("run_id") : arguments.run;
  ASSIGN_OR_RETURN(const auto arbiter, ps::Arbiter::start({.servers = arguments.servers,
                                                           .followers = arguments.followers,
                                                           .job = arguments.job.empty() ? settings.text("job") : arguments.job,
                                                           .run = known_run_id(run),
                                                           .security = security,
                                                           .tell = [](const std::string& line) { log_info("{}", line); }}));
  log_info("says who is the primary of {}: it asks the server and the follower of each how they are",
           counted(arguments.servers.size(), "server"));
  for (SilenceTeller teller; !signalled_within(signals, 200);) {
    teller.look(*arbiter);
    RETURN_IF_ERROR(arbiter->lost());
  }
  return {};
}

}  // namespace

void add_arbiter(CLI::App& app, int& result) {
  auto* command = app.add_subcommand("arbiter",
                                     "Says which of the two processes of each server is the primary (replicas=1), for jobs that "
                                     "no launcher starts. One per job.");
  auto arguments = std::make_shared<ArbiterArguments>();
  command->add_option("--servers", arguments->servers, "the servers' host:port, comma-separated")
      ->required()
      ->delimiter(',')
      ->check(cli::checked_by(check_endpoint));
  command->add_option("--followers", arguments->followers, "the followers', in the same order")
      ->required()
      ->delimiter(',')
      ->check(cli::checked_by(check_endpoint));
  command->add_option("--token", arguments->token, "the job's token (or ARGOSY_TOKEN)");
  command->add_option("--job", arguments->job, "the job's name, as its servers have it (or ARGOSY_JOB)");
  command->add_option("--run_id", arguments->run, "the run's id, where the servers were given one (or ARGOSY_RUN_ID)");
  command->callback([arguments, &result] {
    const Status status = arbitrate(*arguments);
    if (!status.ok()) std::fprintf(stderr, "argosy arbiter: %s\n", status.message().c_str());
    result = status.ok() ? 0 : status.code() == Code::invalid_argument ? cli::kUsageError : 1;
  });
}

}  // namespace argosy::apps
