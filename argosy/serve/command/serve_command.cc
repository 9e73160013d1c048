#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "argosy/base/log.h"
#include "argosy/base/thread.h"
#include "argosy/cli/checks.h"
#include "argosy/cli/program_arguments.h"
#include "argosy/serve/command/commands.h"
#include "argosy/serve/grpc/grpc_model_server.h"
#include "argosy/serve/http/model_server.h"
#include "argosy/serve/redis/redis_source.h"
#include "argosy/serve/sources/job_source.h"

namespace argosy::serve {
namespace {

constexpr const char* kExamples = R"(Serves a saved model over HTTP, and over gRPC where it is given a port for it.

  argosy serve models/epoch3.model
  argosy serve models --name ctr --port 8500 --threads 2 --reload_seconds 5
  argosy serve models/epoch3.model --grpc_port 8501
  argosy serve models/epoch3.model --rows 10.0.0.9:7170,10.0.0.9:7171 --token $SECRET

  curl -d '{"instances": [{"x": [1, 2, 3], "ids": [4, 9]}]}' http://127.0.0.1:8500/v1/models/ctr:predict

MODEL is what save_inference_model has written, here or in PaddlePaddle; or a folder of such models whose names are numbers, of
which the highest serves. Other pages: GET /v1/models/NAME, /healthz, /readyz, /metrics. Over gRPC: argosy.serve.v1.Prediction,
whose predict.proto lies in argosy/serve/grpc, and grpc.health.v1.Health. SIGTERM ends it when the requests that
have begun are answered. There is no password: anybody who reaches the address can ask. A wrong command line ends with status 2.
)";

struct Arguments {
  ServedModelOptions model;
  BatcherOptions batcher{.threads = available_cores()};
  ModelServerOptions http;
  std::optional<int> grpc_port;
  std::string name;
  ServeLimits limits;
  double max_wait_ms = 0, deadline_ms = 10'000;
  bool no_fuse = false;
  JobSourceOptions rows;
  std::string redis;
};

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// It is a part of the pages' addresses: /v1/models/NAME:predict.
Status check_name(const std::string& name) {
  const auto bad = [](unsigned char c) {
    return c <= ' ' || c == 0x7f || std::string_view("/:?#%").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!name.empty() && std::ranges::none_of(name, bad)) return {};
  return Status::invalid_argument(
      "found '{}', expected a name without spaces and / : ? # %, for it is a part of the pages' addresses", name);
}

// Options of one group of the help.
class OptionGroup {
 public:
  OptionGroup(CLI::App& app, const char* group) : app_(app), group_(group) {}

  template <typename T>
  CLI::Option* add(const char* name, T& value, const char* help) {
    return without_default(name, value, help)->capture_default_str();
  }
  template <typename T>
  CLI::Option* without_default(const char* name, T& value, const char* help) {
    return app_.add_option(name, value, help)->group(group_);
  }
  void add_flag(const char* name, bool& value, const char* help) { app_.add_flag(name, value, help)->group(group_); }

 private:
  CLI::App& app_;
  const char* const group_;
};

void add_place(OptionGroup group, Arguments& arguments) {
  group.add("--host", arguments.http.host, "the address to listen at, and only there");
  group.add("--port", arguments.http.port, "0 takes a free one, which the first line of the output says")
      ->check(cli::whole_number(0, 65535));
  group
      .without_default("--grpc_port", arguments.grpc_port,
                       "answers gRPC there too; 0 takes a free one, which the second line says")
      ->check(cli::whole_number(0, 65535));
  group.add("--name", arguments.name, "in the pages' addresses; without it the model's own name")
      ->check(cli::checked_by(check_name));
}

void add_predicting(OptionGroup group, Arguments& arguments) {
  group.add("--threads", arguments.batcher.threads, "predictions at once")->check(cli::whole_number(1));
  group.add("--op_threads", arguments.model.predictor.threads, "threads inside of one prediction")->check(cli::whole_number(1));
  group.add("--max_batch", arguments.batcher.max_batch, "samples of several requests that are predicted together")
      ->check(cli::whole_number(1));
  group.add("--max_wait_ms", arguments.max_wait_ms, "how long a request waits for others; 0: for those that are there")
      ->check(cli::number_from_zero());
  group.add_flag("--bfloat16", arguments.model.predictor.bfloat16_matmul, "matrix products in bfloat16");
  group.add_flag("--no_fuse", arguments.no_fuse, "operators one by one");
}

void add_versions(OptionGroup group, Arguments& arguments) {
  group.add("--warmup", arguments.model.warmup, "runs on random samples before a version serves")->check(cli::whole_number(0));
  group.add("--reload_seconds", arguments.model.reload_seconds, "how often to look for a new version; 0: never")
      ->check(cli::number_from_zero());
}

// Where rows and dense parameters are read besides the model's files.
void add_sources(CLI::App& app, OptionGroup group, Arguments& arguments) {
  auto* rows =
      group
          .without_default(
              "--rows", arguments.rows.endpoints,
              "host:port,host:port of all servers of the job, or of a follower of each (host:port+host:port of both processes "
              "where "
              "replicas=1): rows and dense parameters that the job has are read there, the others from the model's files")
          ->delimiter(',')
          ->check(cli::checked_by(check_job_endpoint));
  group.without_default("--token", arguments.rows.token, "the job's token (or ARGOSY_TOKEN)")->needs(rows);
  auto* redis = group
                    .without_default("--redis", arguments.redis,
                                     "redis://host:port/NAME: the same from what `argosy publish` has put into Redis")
                    ->check(cli::checked_by([](const std::string& url) { return parse_redis_url(url).status(); }))
                    ->excludes(rows);
  auto* wait = group.add("--rows_wait", arguments.rows.wait_seconds, "seconds after which a read that is not answered fails")
                   ->check(cli::number_above_zero());
  auto* refresh =
      group.add("--refresh_seconds", arguments.model.predictor.refresh_seconds, "how often to look for new dense parameters")
          ->check(cli::number_above_zero());
  app.final_callback([rows, redis, wait, refresh] {
    for (const CLI::Option* option : {wait, refresh})
      if (option->count() > 0 && rows->count() == 0 && redis->count() == 0)
        throw CLI::RequiresError(option->get_name(), "--rows or --redis");
  });
}

void add_limits(OptionGroup group, Arguments& arguments) {
  ServeLimits& limits = arguments.limits;
  group.add("--max_body_bytes", limits.max_body_bytes, "of one request")->check(cli::whole_number(1, kMost));
  group
      .add("--max_parameters_bytes", limits.max_parameters_bytes, "of rows that GET /v1/models/NAME/parameters reads from a job")
      ->check(cli::whole_number(1, kMost));
  group.add("--max_queue", limits.max_queue, "requests that wait")->check(cli::whole_number(1));
  group.add("--max_connections", limits.max_connections, "at once; with gRPC calls at once")->check(cli::whole_number(1, 4096));
  group
      .add("--deadline_ms", arguments.deadline_ms,
           "from a request to its answer; the header X-Deadline-Ms shortens it, or gRPC's deadline")
      ->check(cli::number_above_zero());
}

void add_options(CLI::App& app, Arguments& arguments) {
  app.add_option("model", arguments.model.path, "the model's folder or file, or a folder of versions")->required();
  add_place({app, "Where"}, arguments);
  add_predicting({app, "Predicting"}, arguments);
  add_versions({app, "Versions"}, arguments);
  add_sources(app, {app, "Parameters of a running job"}, arguments);
  add_limits({app, "Limits"}, arguments);
}

std::string name_of(const std::filesystem::path& path) {
  const auto last = path.has_filename() ? path : path.parent_path();
  const std::string name = std::filesystem::absolute(last).lexically_normal().stem().string();
  return name.empty() || name == "__model__" ? "model" : name;
}

void complete(Arguments& arguments) {
  arguments.model.predictor.fuse = !arguments.no_fuse;
  arguments.model.warmup_batch = arguments.batcher.max_batch;
  arguments.batcher.max_wait = std::chrono::microseconds(static_cast<int64_t>(arguments.max_wait_ms * 1000));
  arguments.batcher.max_queue = arguments.limits.max_queue;
  arguments.limits.deadline = std::chrono::milliseconds(static_cast<int64_t>(arguments.deadline_ms));
  if (arguments.name.empty()) arguments.name = name_of(arguments.model.path);
}

// The signals that end the server, blocked in every thread, so that main() alone takes them.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

void wait_for(const sigset_t& signals) {
  const timespec look{.tv_sec = 1, .tv_nsec = 0};
  while (sigtimedwait(&signals, nullptr, &look) < 0) {
  }
}

// The model's options, with the source of its parameters where the command line names one.
Result<ServedModelOptions> with_source(const Arguments& arguments) {
  ServedModelOptions options = arguments.model;
  if (!arguments.rows.endpoints.empty()) {
    ASSIGN_OR_RETURN(options.predictor.source, connect_job_source(arguments.rows));
  } else if (!arguments.redis.empty()) {
    ASSIGN_OR_RETURN(RedisSourceOptions redis, parse_redis_url(arguments.redis));
    redis.wait_seconds = arguments.rows.wait_seconds;
    ASSIGN_OR_RETURN(options.predictor.source, connect_redis_source(redis));
  }
  return options;
}

// Null where no port is asked for.
Result<std::unique_ptr<GrpcModelServer>> start_grpc(const Arguments& arguments, PredictService& service) {
  if (!arguments.grpc_port) return std::unique_ptr<GrpcModelServer>();
  return GrpcModelServer::start({.host = arguments.http.host, .port = *arguments.grpc_port}, service);
}

Status serve(const Arguments& arguments) {
  const sigset_t signals = block_signals();
  ServeCounters counters;
  ASSIGN_OR_RETURN(const ServedModelOptions options, with_source(arguments));
  ASSIGN_OR_RETURN(const auto model, ServedModel::start(options, counters));
  Batcher batcher(arguments.batcher, counters);
  PredictService service(arguments.name, arguments.limits, *model, batcher, counters);
  ASSIGN_OR_RETURN(const auto server, ModelServer::start(arguments.http, service));
  ASSIGN_OR_RETURN(const auto grpc, start_grpc(arguments, service));
  if (!arguments.http.host.starts_with("127.") && arguments.http.host != "localhost" && arguments.http.host != "::1")
    log_warning("listens at {}: everyone who reaches it can ask; there is no password and no TLS", arguments.http.host);
  std::printf("http://%s:%d/v1/models/%s\n", arguments.http.host.c_str(), server->port(), arguments.name.c_str());
  if (grpc != nullptr) std::printf("grpc://%s:%d\n", arguments.http.host.c_str(), grpc->port());
  std::fflush(stdout);
  log_info("version {} of '{}' serves", model->current()->version, arguments.model.path.string());
  wait_for(signals);
  log_info("stops: requests that have begun are answered");
  service.close();
  if (grpc != nullptr) grpc->stop();
  server->stop();
  batcher.stop();
  model->stop();
  return {};
}

}  // namespace

int serve_command(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(kExamples, "argosy serve");
  add_options(app, arguments);
  cli::add_common_options(app);
  if (const auto status = cli::parse_or_exit(app, argc, argv)) return *status;
  complete(arguments);
  const Status status = serve(arguments);
  if (status.ok()) return 0;
  std::fprintf(stderr, "argosy serve: %s\n", status.message().c_str());
  return 1;
}

}  // namespace argosy::serve
