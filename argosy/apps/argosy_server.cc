// One parameter server as a process: `argosy-server`. Torch-free.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "argosy/base/address.h"
#include "argosy/base/endpoint_name.h"
#include "argosy/base/log.h"
#include "argosy/base/settings.h"
#include "argosy/cli/checks.h"
#include "argosy/cli/program_arguments.h"
#include "argosy/observe/process_observer.h"
#include "argosy/ps/client/connect_server.h"
#include "argosy/ps/server/server.h"
#include "argosy/ps/server/server_settings.h"

namespace {

using argosy::Deadline;
using argosy::Result;
using argosy::Status;

volatile std::sig_atomic_t stop_asked = 0;

constexpr const char* kExamples = R"(One parameter server of a job.

  argosy-server --address 127.0.0.1:6170 --workers 2
  argosy-server --address 10.0.0.5:6170 --server-index 1 --servers 2 --workers 8 --directory /data/job --token $SECRET
  argosy-server --address 10.0.0.9:6171 --follow 10.0.0.5:6170 --token $SECRET
  argosy-server --address 10.0.0.9:6171 --follow 10.0.0.5:6170+10.0.0.6:6180 --token $SECRET

It holds its part of the tables that the first worker describes, and ends when all workers have said goodbye, or by SIGTERM.
With a directory it survives kill -9: started again with the same arguments it goes on where it was. After a run that has
finished it does so with --resume only: a new run then begins with its tables. A wrong command line ends with status 2.

With --replicas 1 it is one of two processes of its server, and waits until the launcher, or `argosy arbiter`, says whether it is the
primary or its follower; docs/failover.md.

With --follow it is a read-only copy of another server, kept up to date by that server's log; docs/followers.md.
)";

int fail(const Status& status, int exit_code = 1) {
  std::fprintf(stderr, "argosy-server: %s\n", status.message().c_str());
  return exit_code;
}

void stop_by_signals() {
  std::signal(SIGTERM, [](int) { stop_asked = 1; });
  std::signal(SIGINT, [](int) { stop_asked = 1; });
}

// Waits until it lets readers in; false: it is to stop.
Result<bool> wait_until_it_answers(argosy::ps::Server& server) {
  while (!server.answers()) {
    auto over = server.wait(Deadline::after_seconds(0.02));
    if (!over.ok()) return over.status();
    if (*over || stop_asked) return false;
  }
  return true;
}

// Serves until there is nothing more to do.
Status serve(argosy::ps::Server& server) {
  for (;;) {
    auto over = server.wait(Deadline::after_seconds(0.2));
    if (!over.ok()) return over.status();
    if (*over || stop_asked) return server.stop();
  }
}

// What the command line says.
struct Arguments {
  std::string address = "127.0.0.1:0", endpoint_file;
  int server = 0, servers = 1, workers = 0, threads = 0;
  bool stay = false;
  std::string follow, follow_format = "float32";
  double follow_wait = 60;
  uint32_t keep_versions = 2;
  std::map<std::string, std::string> settings;  // by name
};

void add_own_options(CLI::App& app, Arguments& arguments) {
  using argosy::cli::number_above_zero, argosy::cli::whole_number;
  const auto add = [&app](const char* name, auto& value, const char* help) {
    return app.add_option(name, value, help)->capture_default_str()->group("This server");
  };
  add("--address", arguments.address, "host:port to listen at, and only there; port 0 takes a free one");
  add("--endpoint_file", arguments.endpoint_file,
      "a file to write host:port into once it answers; workers that know this server as file:/path find it there, wherever it "
      "is");
  add("--server_index", arguments.server, "which server of the job this is, from 0")->check(whole_number(0));
  add("--servers", arguments.servers, "how many servers the job has")->check(whole_number(1));
  add("--workers", arguments.workers, "how many workers the job has; 0: as the first worker says")->check(whole_number(0));
  add("--threads", arguments.threads, "that handle requests; 0: one per core, at least 2")->check(whole_number(0));
  add("--follow", arguments.follow,
      "host:port or file:/path of a server of a running job to follow: this one then only answers reads; of a server with two "
      "processes (replicas=1) host:port+host:port of both");
  add("--follow_wait", arguments.follow_wait, "seconds to wait for a server to follow that does not answer at all")
      ->check(number_above_zero());
  add("--follow_format", arguments.follow_format,
      "of a follower: how gradients come to it, float32 | bfloat16 | int8: fewer bytes, and rows that are the server's but for "
      "rounding");
  add("--keep_versions", arguments.keep_versions, "of a follower: that it may keep beside its newest one (argosy versions)")
      ->check(whole_number(0));
  app.add_flag("--stay", arguments.stay, "do not end with the workers")->group("This server");
}

// The job's settings, from the one table of them.
void add_settings(CLI::App& app, Arguments& arguments) {
  constexpr const char* kGroup = "Settings of the job (options have dashes or underscores; each is a variable ARGOSY_* too)";
  for (const argosy::Setting& setting : argosy::all_settings()) {
    const std::string default_text = setting.default_value.empty() ? "" : " (default: " + setting.default_value + ")";
    app.add_option_function<std::string>(
           "--" + setting.name,
           [&setting, &arguments](const std::string& text) {
             if (const Status status = setting.check(text); !status.ok())
               throw CLI::ValidationError("option --" + setting.name, status.message());
             arguments.settings[setting.name] = text;
           },
           setting.help + default_text)
        ->type_name(setting.argument())
        ->group(kGroup);
  }
  const auto add_choice = [&](const char* name, const char* choice, const char* help) {
    app.add_flag_callback(name, [&arguments, choice] { arguments.settings["on_old_state"] = choice; }, help)->group(kGroup);
  };
  add_choice("--resume", "resume", "go on with the run that is in the directory");
  add_choice("--fresh", "fresh", "begin anew where the directory holds a run, which is moved aside");
}

// Whether the user has set it, by an option or by its variable.
bool is_given(const Arguments& arguments, const char* name) {
  if (arguments.settings.contains(name)) return true;
  for (const argosy::Setting& setting : argosy::all_settings())
    if (setting.name == name) return std::getenv(setting.variable().c_str()) != nullptr;
  return false;
}

// Tells where it answers: who started it with port 0, and who knows it by a name.
Status tell(const Arguments& arguments, const std::string& endpoint) {
  if (!arguments.endpoint_file.empty()) RETURN_IF_ERROR(argosy::write_endpoint(arguments.endpoint_file, endpoint));
  std::printf("%s\n", endpoint.c_str());
  std::fflush(stdout);
  return {};
}

// One life of a server, from its start to its end. `endpoint` gets where it listens.
Status live(const Arguments& arguments, const argosy::ps::ServerOptions& options, std::string& endpoint) {
  ASSIGN_OR_RETURN(const auto running, argosy::ps::Server::start(options));
  stop_by_signals();
  const bool first = endpoint.empty();
  endpoint = running->endpoint();
  argosy::log_info("listens at {}", endpoint);
  ASSIGN_OR_RETURN(const bool answers, wait_until_it_answers(*running));
  if (answers && first) RETURN_IF_ERROR(tell(arguments, endpoint));
  return serve(*running);
}

// A follower has another one after it where it has to begin anew, at the address that readers know. It has nothing to save
// meanwhile.
Status run(const Arguments& arguments, argosy::ps::ServerOptions options) {
  std::string endpoint;
  for (;;) {
    Status status = live(arguments, options, endpoint);
    if (arguments.follow.empty() || status.code() != argosy::Code::aborted || stop_asked) return status;
    std::signal(SIGTERM, SIG_DFL);
    std::signal(SIGINT, SIG_DFL);
    argosy::log_warning("begins anew: {}", status.message());
    options.address = endpoint;
  }
}

// What the server is told, and what is told of it.
struct Chosen {
  argosy::Settings settings;
  argosy::ps::ServerOptions server;
};

Result<Chosen> options_of(const Arguments& arguments) {
  // A flag wins over its variable.
  for (const argosy::Setting& setting : argosy::all_settings()) {
    if (arguments.settings.contains(setting.name)) ::unsetenv(setting.variable().c_str());
  }
  ASSIGN_OR_RETURN(const auto settings, argosy::Settings::from_environment(arguments.settings));
  ASSIGN_OR_RETURN(auto options, argosy::ps::server_options(settings, arguments.server, arguments.servers));
  options.address = arguments.address;
  options.workers = arguments.workers;
  options.threads = arguments.threads;
  options.end_with_workers = !arguments.stay;
  options.follow = arguments.follow;
  options.follow_wait_seconds = arguments.follow_wait;
  options.keep_versions = arguments.keep_versions;
  const auto format = argosy::ps::wire_format_named(arguments.follow_format);
  if (!format)
    return Status::invalid_argument("--follow_format is '{}', expected float32, bfloat16 or int8", arguments.follow_format);
  if (arguments.follow.empty() && *format != argosy::ps::WireFormat::float32)
    return Status::invalid_argument("--follow_format is of a follower; give the server that it follows (--follow)");
  options.follow_format = *format;
  if (!arguments.follow.empty() && is_given(arguments, "job")) options.follow_job = settings.text("job");
  if (!arguments.follow.empty()) RETURN_IF_ERROR(argosy::ps::check_server_endpoint(arguments.follow).with_context("--follow"));
  RETURN_IF_ERROR(argosy::Address::parse_with_port(arguments.address).status().with_context("--address"));
  RETURN_IF_ERROR(options.check());
  return Chosen{.settings = settings, .server = std::move(options)};
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(kExamples, "argosy-server");
  add_own_options(app, arguments);
  add_settings(app, arguments);
  argosy::cli::add_common_options(app);
  if (const auto status = argosy::cli::parse_or_exit(app, argc, argv)) return *status;
  const auto chosen = options_of(arguments);
  if (!chosen.ok()) return fail(chosen.status(), argosy::cli::kUsageError);

  const std::string name =
      arguments.follow.empty() ? "server " + std::to_string(arguments.server) : "follower of " + arguments.follow;
  argosy::set_log_name(name);
  // One that waits for a server to follow, or for its role, has nothing to save.
  if (arguments.follow.empty() && !chosen->server.replica) stop_by_signals();
  if (const Status status = argosy::observe::observe_process(chosen->settings, name); !status.ok()) return fail(status);
  const Status status = run(arguments, chosen->server);
  return status.ok() ? 0 : fail(status);
}
