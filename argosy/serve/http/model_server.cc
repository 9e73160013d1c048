#include "argosy/serve/http/model_server.h"

#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <optional>

#include "argosy/base/clock.h"
#include "argosy/base/log.h"
#include "argosy/base/text.h"
#include "argosy/serve/http/connection_threads.h"
#include "argosy/serve/http/describe_model.h"
#include "argosy/serve/http/json_tensor.h"

namespace argosy::serve {
namespace {

constexpr const char* kJson = "application/json";
constexpr time_t kKeepAliveSeconds = 5;  // an idle connection; also how long stop() may wait for one
constexpr time_t kReadSeconds = 10;      // between two pieces of a request
constexpr auto kStartTime = std::chrono::seconds(60);

int http_status(Code code) {
  switch (code) {
    case Code::ok: return 200;
    case Code::invalid_argument:
    case Code::out_of_range:
    case Code::failed_precondition: return 400;
    case Code::not_found: return 404;
    case Code::resource_exhausted: return 429;
    case Code::unavailable: return 503;
    case Code::deadline_exceeded: return 504;
    default: return 500;
  }
}

void set_error(httplib::Response& response, int status, const std::string& message) {
  response.status = status;
  response.set_content("{\"error\":" + json_string(message) + "}", kJson);
}

// Two servers at one port would each get some of the requests; the library's default lets them.
void refuse_shared_ports(int socket) {
  const int yes = 1;
  ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

}  // namespace

class ModelServer::Impl {
 public:
  Impl(const ModelServerOptions& options, PredictService& service)
      : options_(options), limits_(service.limits()), service_(service), model_(service.model()), counters_(service.counters()) {
    set_limits();
    add_pages();
  }

  Status listen() {
    if (options_.port == 0)
      port_ = server_.bind_to_any_port(options_.host);
    else if (server_.bind_to_port(options_.host, options_.port))
      port_ = options_.port;
    if (port_ <= 0)
      return Status::unavailable(
          "cannot listen at {}:{}: the port is taken, or the address is not this machine's; --port 0 takes a free port",
          options_.host, options_.port);
    thread_ = Thread("serve-http", [this] { server_.listen_after_bind(); });
    // stop() of a server that does not run yet does nothing. The library asks for its task queue when it runs, once.
    if (running_.get_future().wait_for(kStartTime) == std::future_status::ready) return {};
    return Status::deadline_exceeded("the HTTP server did not begin within {} s", kStartTime.count());
  }

  void stop() {
    server_.stop();
    thread_.join();
  }

  int port() const { return port_; }

 private:
  void set_limits() {
    server_.set_payload_max_length(limits_.max_body_bytes);
    server_.set_keep_alive_timeout(kKeepAliveSeconds);
    server_.set_keep_alive_max_count(std::numeric_limits<int>::max());
    server_.set_read_timeout(kReadSeconds);
    server_.set_write_timeout(kReadSeconds);
    server_.set_tcp_nodelay(true);
    server_.set_socket_options(refuse_shared_ports);
    server_.new_task_queue = [this] {
      running_.set_value();
      return new ConnectionThreads(limits_.max_connections, counters_);
    };
    server_.set_pre_routing_handler([this](const httplib::Request&, httplib::Response& response) {
      if (!ConnectionThreads::refusing()) return httplib::Server::HandlerResponse::Unhandled;
      set_error(response, 503, fmt::format("{} connections are open already (max_connections)", limits_.max_connections));
      response.set_header("Connection", "close");
      return httplib::Server::HandlerResponse::Handled;
    });
    server_.set_error_handler([this](const httplib::Request& request, httplib::Response& response) {
      if (!response.body.empty()) return;
      if (response.status == 413)
        set_error(response, 413, fmt::format("the request is larger than {} bytes (max_body_bytes)", limits_.max_body_bytes));
      else
        set_error(response, response.status, fmt::format("{} {}: there is no such page", request.method, request.path));
    });
    server_.set_exception_handler([](const httplib::Request&, httplib::Response& response, std::exception_ptr thrown) {
      try {
        std::rethrow_exception(thrown);
      } catch (const std::exception& error) {
        set_error(response, 500, error.what());
      }
    });
  }

  void add_pages() {
    server_.Get("/healthz",
                [](const httplib::Request&, httplib::Response& response) { response.set_content("ok\n", "text/plain"); });
    server_.Get("/readyz", [this](const httplib::Request&, httplib::Response& response) {
      const Status ready = service_.ready();
      response.status = ready.ok() ? 200 : 503;
      response.set_content(ready.ok() ? "ok\n" : ready.message() + "\n", "text/plain");
    });
    server_.Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(counters_.text(service_.name(), model_.current()->version) + source_metrics(*model_.current()),
                           "text/plain; version=0.0.4");
    });
    server_.Get("/v1/models", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content("{\"models\":[" + json_string(service_.name()) + "]}", kJson);
    });
    server_.Get(R"(/v1/models/([^/:]+))", [this](const httplib::Request& request, httplib::Response& response) {
      if (is_ours(request, response))
        response.set_content(model_page(service_.name(), *model_.current(), model_.last_problem()), kJson);
    });
    server_.Get(R"(/v1/models/([^/:]+)/parameters)", [this](const httplib::Request& request, httplib::Response& response) {
      if (!is_ours(request, response)) return;
      const auto page = parameters_page(*model_.current(), limits_.max_parameters_bytes);
      if (page.ok())
        response.set_content(*page, kJson);
      else
        set_error(response, http_status(page.status().code()), page.status().message());
    });
    // Read here, because the library takes a body without a type, as curl sends it, for a form, which it cuts off at 8 KiB.
    server_.Post(R"(/v1/models/([^/:]+):predict)",
                 [this](const httplib::Request& request, httplib::Response& response, const httplib::ContentReader& read) {
                   std::string body;
                   const bool whole = read([&body](const char* data, size_t size) {
                     body.append(data, size);
                     return true;
                   });
                   if (whole) answer_predict(request, body, response);
                 });
  }

  bool is_ours(const httplib::Request& request, httplib::Response& response) const {
    const Status found = service_.check_name(request.matches[1]);
    if (!found.ok()) set_error(response, http_status(found.code()), found.message());
    return found.ok();
  }

  void answer_predict(const httplib::Request& request, const std::string& body, httplib::Response& response) {
    const Stopwatch watch;
    if (!is_ours(request, response)) return;
    const auto answer = predict(request, body);
    if (answer.ok())
      response.set_content(*answer, kJson);
    else
      set_error(response, http_status(answer.status().code()), answer.status().message());
    counters_.add_request(answer.ok() ? 200 : response.status, watch.seconds());
  }

  Result<std::string> predict(const httplib::Request& request, const std::string& body) {
    ASSIGN_OR_RETURN(const auto wait, patience_of(request));
    bool by_sample = true;
    const auto parse = [&](const ServedVersion& version) -> Result<Inputs> {
      ASSIGN_OR_RETURN(PredictRequest asked, parse_request(body, version.inputs));
      by_sample = asked.by_sample;
      return std::move(asked.inputs);
    };
    ASSIGN_OR_RETURN(const Prediction made, service_.predict(wait, parse));
    return format_answer(made.version->outputs, made.outputs, by_sample);
  }

  // What the header says, where it is there.
  static Result<std::optional<std::chrono::nanoseconds>> patience_of(const httplib::Request& request) {
    const std::string given = request.get_header_value("X-Deadline-Ms");
    if (given.empty()) return std::optional<std::chrono::nanoseconds>();
    const auto number = parse_integer(given);
    if (!number || *number <= 0)
      return Status::invalid_argument("header X-Deadline-Ms: got '{}', expected milliseconds above 0", given);
    constexpr int64_t kDay = 24 * 3600 * 1000;  // longer than any limit is worth, and no overflow in nanoseconds
    return std::optional<std::chrono::nanoseconds>(std::chrono::milliseconds(std::min<int64_t>(*number, kDay)));
  }

  const ModelServerOptions options_;
  const ServeLimits& limits_;
  PredictService& service_;
  const ServedModel& model_;
  ServeCounters& counters_;
  std::promise<void> running_;  // that the library's loop has begun
  httplib::Server server_;
  int port_ = 0;
  Thread thread_;  // last: it uses all of the above
};

ModelServer::ModelServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<ModelServer>> ModelServer::start(const ModelServerOptions& options, PredictService& service) {
  auto impl = std::make_unique<Impl>(options, service);
  RETURN_IF_ERROR(impl->listen());
  return std::unique_ptr<ModelServer>(new ModelServer(std::move(impl)));
}

ModelServer::~ModelServer() { stop(); }
int ModelServer::port() const { return impl_->port(); }
void ModelServer::stop() { impl_->stop(); }

}  // namespace argosy::serve
