// One parameter server as a process: `argosy-server`. Torch-free.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "argosy/base/log.h"
#include "argosy/base/settings.h"
#include "argosy/ps/server.h"
#include "argosy/ps/settings.h"

namespace {

using argosy::Deadline;
using argosy::Status;

volatile std::sig_atomic_t stop_asked = 0;

constexpr const char* kExamples = R"(One parameter server of a job.

  argosy-server --address 127.0.0.1:6170 --workers 2
  argosy-server --address 10.0.0.5:6170 --server-index 1 --servers 2 --workers 8 --directory /data/job --token $SECRET

It holds its part of the tables that the first worker describes, and ends when all workers have said goodbye, or by SIGTERM.
With a directory it survives kill -9: started again with the same arguments it goes on where it was. After a run that has
finished it does so with --resume only: a new run then begins with its tables.)";

int fail(const Status& status) {
  std::fprintf(stderr, "argosy-server: %s\n", status.message().c_str());
  return 1;
}

// Serves until there is nothing more to do.
Status serve(argosy::ps::Server& server) {
  for (;;) {
    auto over = server.wait(Deadline::after_seconds(0.2));
    if (!over.ok()) return over.status();
    if (*over || stop_asked) return server.stop();
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::string address = "127.0.0.1:0";
  int server = 0, servers = 1, workers = 0, threads = 0;
  bool stay = false;
  std::map<std::string, std::string> fields;
  CLI::App app(kExamples, "argosy-server");
  app.add_option("--address", address, "host:port to listen at, and only there; port 0 takes a free one")->capture_default_str();
  app.add_option("--server-index,--server_index", server, "which server of the job this is, from 0")->capture_default_str();
  app.add_option("--servers", servers, "how many servers the job has")->capture_default_str();
  app.add_option("--workers", workers, "how many workers the job has; 0: as the first worker says")->capture_default_str();
  app.add_option("--threads", threads, "that handle requests; 0: one a core, at least 2")->capture_default_str();
  app.add_flag("--stay", stay, "do not end with the workers");
  for (const argosy::Setting& setting : argosy::all_settings()) {
    std::string dashes = setting.name;
    std::replace(dashes.begin(), dashes.end(), '_', '-');
    const std::string names = "--" + dashes + (dashes == setting.name ? "" : ",--" + setting.name);
    const std::string standard = setting.standard.empty() ? "" : " [" + setting.standard + "]";
    app.add_option_function<std::string>(
           names, [&fields, name = setting.name](const std::string& text) { fields[name] = text; },
           setting.help + standard + "; variable " + setting.variable())
        ->type_name(setting.argument());
  }
  app.add_flag_callback(
      "--resume", [&fields] { fields["on_old_state"] = "resume"; }, "go on with the run that is in the directory");
  app.add_flag_callback(
      "--fresh", [&fields] { fields["on_old_state"] = "fresh"; },
      "begin anew where the directory holds a run, which is moved aside");
  CLI11_PARSE(app, argc, argv);

  // A flag wins over its variable.
  for (const argosy::Setting& setting : argosy::all_settings()) {
    if (fields.contains(setting.name)) ::unsetenv(setting.variable().c_str());
  }
  const auto settings = argosy::Settings::from_environment(fields);
  if (!settings.ok()) return fail(settings.status());
  auto options = argosy::ps::server_options(*settings, server, servers);
  if (!options.ok()) return fail(options.status());
  options->address = address;
  options->workers = workers;
  options->threads = threads;
  options->end_with_workers = !stay;

  argosy::set_log_name("server " + std::to_string(server));
  std::signal(SIGTERM, [](int) { stop_asked = 1; });
  std::signal(SIGINT, [](int) { stop_asked = 1; });
  auto running = argosy::ps::Server::start(*options);
  if (!running.ok()) return fail(running.status());
  argosy::log_info("listens at {}", (*running)->endpoint());
  std::printf("%s\n", (*running)->endpoint().c_str());  // for who started it with port 0
  std::fflush(stdout);
  const Status status = serve(**running);
  return status.ok() ? 0 : fail(status);
}
