#include "argosy/observe/http_server.h"

#include <arpa/inet.h>
#include <httplib.h>
#include <sys/socket.h>

#include <chrono>
#include <deque>
#include <future>

#include "argosy/base/mutex.h"
#include "argosy/base/text.h"
#include "argosy/base/thread.h"

namespace argosy::observe {
namespace {

constexpr int kThreads = 4;
constexpr size_t kMostWaiting = 16;  // connections
constexpr int kSilentSeconds = 2;    // of a connection
constexpr int kKeepAliveRequests = 1;  // a page that stays open must not hold a thread: others would wait for it
constexpr auto kStartTime = std::chrono::seconds(60);

// Connections beyond the waiting ones are answered by the thread that accepts: nobody else is accepted meanwhile.
class BoundedPool final : public httplib::TaskQueue {
 public:
  BoundedPool() {
    for (int i = 0; i < kThreads; ++i) threads_.emplace_back(fmt::format("http-{}", i), [this] { run(); });
  }

  void enqueue(std::function<void()> task) override {
    {
      MutexLock lock(mutex_);
      if (tasks_.size() < kMostWaiting && !ended_) {
        tasks_.push_back(std::move(task));
        task = nullptr;
      }
    }
    task ? task() : changed_.notify_one();
  }

  void shutdown() override {
    {
      MutexLock lock(mutex_);
      ended_ = true;
    }
    changed_.notify_all();
    for (Thread& thread : threads_) thread.join();
  }

 private:
  void run() {
    for (;;) {
      std::function<void()> task;
      {
        MutexLock lock(mutex_);
        changed_.wait(lock, [&]() ARGOSY_REQUIRES(mutex_) { return ended_ || !tasks_.empty(); });
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      task();
    }
  }

  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<std::function<void()>> tasks_ ARGOSY_GUARDED_BY(mutex_);
  bool ended_ ARGOSY_GUARDED_BY(mutex_) = false;
  std::vector<Thread> threads_;
};

bool is_ip_address(const std::string& host) {
  in6_addr bytes{};
  return ::inet_pton(AF_INET, host.c_str(), &bytes) == 1 || ::inet_pton(AF_INET6, host.c_str(), &bytes) == 1;
}

class RunningServer final : public HttpServer {
 public:
  RunningServer(const Address& address, HttpPages pages) : address_(address), pages_(std::move(pages)) {
    server_.new_task_queue = [this] {
      running_.set_value();
      return new BoundedPool;
    };
    server_.set_keep_alive_max_count(kKeepAliveRequests);
    server_.set_keep_alive_timeout(kSilentSeconds);
    server_.set_read_timeout(kSilentSeconds, 0);
    server_.set_write_timeout(kSilentSeconds, 0);
    server_.set_payload_max_length(0);
    server_.set_tcp_nodelay(true);
    // Not SO_REUSEPORT, the library's own choice: two servers would share a port and both report success.
    server_.set_socket_options([](int socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      answer(request, response);
      return httplib::Server::HandlerResponse::Handled;
    });
  }

  ~RunningServer() override {
    server_.stop();
    acceptor_.join();
  }

  Status begin() {
    const int port = address_.port == 0                                   ? server_.bind_to_any_port(address_.host)
                     : server_.bind_to_port(address_.host, address_.port) ? address_.port
                                                                          : -1;
    if (port <= 0) {
      return Status::already_exists("cannot listen at {} for HTTP: the port is in use, or the address is not this machine's",
                                    address_.to_string());
    }
    address_.port = port;
    acceptor_ = Thread("http-accept", [this] { server_.listen_after_bind(); });
    // stop() of a server that does not run yet does nothing. The library asks for its task queue when it runs, once.
    if (running_.get_future().wait_for(kStartTime) == std::future_status::ready) return {};
    return Status::deadline_exceeded("HTTP at {} does not begin", address_.to_string());
  }

  const Address& address() const override { return address_; }

 private:
  void answer(const httplib::Request& request, httplib::Response& response) const {
    response.set_header("Cache-Control", "no-store");
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_header("Referrer-Policy", "no-referrer");
    response.set_header("Content-Security-Policy",
                        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src "
                        "data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
    const HttpAnswer made = answer_to(request);
    response.status = made.status;
    if (made.status == 405) response.set_header("Allow", "GET, HEAD");
    response.set_content(made.body, made.type.c_str());
  }

  HttpAnswer answer_to(const httplib::Request& request) const {
    if (request.method != "GET" && request.method != "HEAD")
      return {.status = 405, .body = "this is to be read only: GET or HEAD\n"};
    const auto host = Address::parse(request.get_header_value("Host"));
    if (!host.ok() || !(is_ip_address(host->host) || host->host == "localhost" || host->host == address_.host))
      return {.status = 403, .body = "ask by the address, or by localhost: other names are refused\n"};
    const auto page = pages_.find(request.path);
    if (page != pages_.end()) return page->second();
    std::vector<std::string> paths;
    for (const auto& [path, make] : pages_) paths.push_back(path);
    return {.status = 404, .body = fmt::format("there is no {}; there are {}\n", request.path, join(paths, ", "))};
  }

  Address address_;
  const HttpPages pages_;
  std::promise<void> running_;  // that the library's loop has begun
  httplib::Server server_;
  Thread acceptor_;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(const Address& address, HttpPages pages) {
  auto server = std::make_unique<RunningServer>(address, std::move(pages));
  RETURN_IF_ERROR(server->begin());
  return std::unique_ptr<HttpServer>(std::move(server));
}

Result<std::string> http_get(const std::string& url, double seconds) {
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme)) return Status::invalid_argument("'{}' is no URL; expected http://host:port/", url);
  const size_t slash = url.find('/', kScheme.size());
  const std::string path = slash == std::string::npos ? "/" : url.substr(slash);
  httplib::Client client(url.substr(0, slash));
  const auto whole = static_cast<time_t>(seconds) + 1;
  client.set_connection_timeout(whole, 0);
  client.set_read_timeout(whole, 0);
  const auto answer = client.Get(path.c_str());
  if (!answer) return Status::unavailable("{}: {}; is the job still running?", url, httplib::to_string(answer.error()));
  if (answer->status == 200) return answer->body;
  return Status::unavailable("{}: status {}: {}", url, answer->status, trim(answer->body));
}

}  // namespace argosy::observe
