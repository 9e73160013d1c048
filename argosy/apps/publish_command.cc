#include "argosy/apps/publish_command.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "argosy/base/address.h"
#include "argosy/base/log.h"
#include "argosy/base/settings.h"
#include "argosy/cli/checks.h"
#include "argosy/observe/process_observer.h"
#include "argosy/ps/client/connect_server.h"
#include "argosy/ps/client/row_reader.h"
#include "argosy/publish/publisher.h"
#include "argosy/rpc/security_settings.h"

namespace argosy::apps {
namespace {

using publish::Publisher;

struct PublishArguments {
  std::vector<std::string> endpoints;
  std::string token;
  publish::PublisherOptions publisher;
  double every = 1, wait = 10;
  bool once = false;
};

Status check_redis(const std::string& address) { return Address::parse_with_port(address).status(); }

// The signals that end it, blocked in every thread, so that the loop alone takes them.
sigset_t block_end_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

bool ended_within(const sigset_t& signals, double seconds) {
  const auto whole = static_cast<time_t>(seconds);
  const timespec wait{.tv_sec = whole, .tv_nsec = static_cast<long>((seconds - static_cast<double>(whole)) * 1e9)};
  return sigtimedwait(&signals, nullptr, &wait) >= 0;
}

void tell(const Publisher::Report& report) {
  if (report.kind == Publisher::Report::Kind::nothing) return;
  const bool full = report.kind == Publisher::Report::Kind::full;
  log_info("version {}: {}, {} rows written, {} removed", report.version, full ? "everything" : "what has changed", report.rows,
           report.removed);
  std::printf("version %llu\n", static_cast<unsigned long long>(report.version));
  std::fflush(stdout);
}

// A server or a Redis that is away is waited for; what is final ends it.
Status publish_until_ended(const PublishArguments& arguments, Publisher& publisher, const sigset_t& signals) {
  bool away = false;
  do {
    const auto report = publisher.publish();
    const Code code = report.status().code();
    const bool passes = code == Code::unavailable || code == Code::deadline_exceeded || code == Code::aborted;
    if (!report.ok() && (!passes || arguments.once)) return report.status();
    if (!report.ok() && !away) log_warning("publishes nothing for now: {}", report.status().message());
    if (report.ok() && away) log_info("goes on");
    away = !report.ok();
    if (report.ok()) tell(*report);
    if (arguments.once) return {};
  } while (!ended_within(signals, arguments.every));
  return {};
}

Status run(const PublishArguments& arguments) {
  const sigset_t signals = block_end_signals();
  ASSIGN_OR_RETURN(const Settings settings, Settings::from_environment());
  set_log_name("publish");
  RETURN_IF_ERROR(observe::observe_process(settings, "publish"));
  ps::RowReaderOptions options{.endpoints = arguments.endpoints, .run = settings.text("run_id"), .wait_seconds = arguments.wait};
  options.security = rpc::security_of(settings);
  if (!arguments.token.empty()) options.security.token = arguments.token;
  ASSIGN_OR_RETURN(const auto reader, ps::RowReader::connect(options));
  Publisher publisher(*reader, arguments.publisher);
  return publish_until_ended(arguments, publisher, signals);
}

}  // namespace

void add_publish(CLI::App& app, int& result) {
  auto* command = app.add_subcommand("publish", "Keeps the tables of a running job in Redis, for who predicts from them.");
  auto arguments = std::make_shared<PublishArguments>();
  const auto add = [&](const char* name, auto& value, const char* help) {
    return command->add_option(name, value, help)->capture_default_str();
  };
  command
      ->add_option(
          "endpoints", arguments->endpoints,
          "host:port,host:port of all servers of the job, or of a follower of each; host:port+host:port of both processes "
          "of a server where replicas=1")
      ->required()
      ->delimiter(',')
      ->check(cli::checked_by(ps::check_server_endpoint));
  add("--redis", arguments->publisher.redis, "host:port of a Redis server")->required()->check(cli::checked_by(check_redis));
  add("--name", arguments->publisher.name, "to publish under; without it the job's");
  add("--token", arguments->token, "the job's token (or ARGOSY_TOKEN)");
  add("--every", arguments->every, "seconds from one look for changes to the next")->check(cli::number_above_zero());
  add("--grace", arguments->publisher.grace_seconds, "seconds that tables which were replaced stay readable")
      ->check(cli::number_above_zero());
  add("--wait", arguments->wait, "seconds to wait for a server that is away")->check(cli::number_above_zero());
  command->add_flag("--once", arguments->once, "publish once, and end");
  command->callback([arguments, &result] {
    const Status status = run(*arguments);
    if (!status.ok()) std::fprintf(stderr, "argosy publish: %s\n", status.message().c_str());
    result = status.ok() ? 0 : 1;
  });
}

}  // namespace argosy::apps
