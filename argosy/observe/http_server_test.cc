#include "argosy/observe/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/poll.h"
#include "argosy/base/socket.h"

namespace argosy::observe {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::unique_ptr<HttpServer> started(HttpPages pages = {{"/hello", [] { return HttpAnswer{.body = "hello\n"}; }}}) {
  auto server = HttpServer::start({.host = "127.0.0.1", .port = 0}, std::move(pages));
  EXPECT_TRUE(server.ok()) << server.status().message();
  return std::move(*server);
}

std::string url_of(const HttpServer& server, const std::string& path) { return "http://" + server.address().to_string() + path; }

// What a peer gets for these bytes, up to the end of the connection.
std::string talk(const HttpServer& server, const std::string& request) {
  auto socket = connect_to(server.address(), "", Deadline::after_seconds(10));
  EXPECT_TRUE(socket.ok());
  EXPECT_EQ(::send(socket->get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  std::string answer;
  const Deadline deadline = Deadline::after_seconds(30);
  while (!deadline.passed()) {
    std::vector<pollfd> waited = {{.fd = socket->get(), .events = POLLIN, .revents = 0}};
    poll_until(waited, deadline);
    char bytes[4096];
    const ssize_t count = ::recv(socket->get(), bytes, sizeof bytes, 0);
    if (count <= 0) break;
    answer.append(bytes, static_cast<size_t>(count));
  }
  return answer;
}

TEST(HttpServer, ShowsItsPages) {
  const auto server = started();
  const auto body = http_get(url_of(*server, "/hello"), 10);
  ASSERT_TRUE(body.ok()) << body.status().message();
  EXPECT_EQ(*body, "hello\n");
  const auto missing = http_get(url_of(*server, "/other"), 10);
  EXPECT_THAT(missing.status().message(), HasSubstr("status 404: there is no /other; there are /hello"));
}

TEST(HttpServer, IsToBeReadOnly) {
  const auto server = started();
  const std::string host = "Host: " + server->address().to_string() + "\r\nConnection: close\r\n";
  EXPECT_THAT(talk(*server, "POST /hello HTTP/1.1\r\n" + host + "Content-Length: 0\r\n\r\n"), HasSubstr("405"));
  EXPECT_THAT(talk(*server, "DELETE /hello HTTP/1.1\r\n" + host + "\r\n"), HasSubstr("405"));
  EXPECT_THAT(talk(*server, "GET /hello HTTP/1.1\r\n" + host + "\r\n"), HasSubstr("200 OK"));
}

// A page of the web whose name is made to stand for 127.0.0.1 must not read what a browser's user may.
TEST(HttpServer, RefusesOtherNames) {
  const auto server = started();
  const auto ask = [&](const std::string& host) {
    return talk(*server, "GET /hello HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n\r\n");
  };
  EXPECT_THAT(ask("evil.example:80"), HasSubstr("403"));
  EXPECT_THAT(ask("localhost:" + std::to_string(server->address().port)), HasSubstr("200 OK"));
  EXPECT_THAT(ask("[::1]:80"), HasSubstr("200 OK"));
}

TEST(HttpServer, APortHasOneServer) {
  const auto server = started();
  const auto second = HttpServer::start(server->address(), {});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), Code::already_exists);
  EXPECT_THAT(second.status().message(), HasSubstr(server->address().to_string()));
}

// Each page that somebody looks at asks again and again: one that kept its connection would keep others out, and probes of
// health.
TEST(HttpServer, PagesThatStayOpenDoNotKeepOthersOut) {
  const auto server = started();
  const std::string would_stay = "GET /hello HTTP/1.1\r\nHost: " + server->address().to_string() + "\r\n\r\n";
  const Stopwatch watch;
  for (int i = 0; i < 8; ++i) EXPECT_THAT(talk(*server, would_stay), AllOf(HasSubstr("200 OK"), HasSubstr("Connection: close")));
  EXPECT_LT(watch.seconds(), 8) << "a connection that ends by its silence takes seconds";
}

// Connections that say nothing must not keep the numbers from others for ever, nor the process from ending.
TEST(HttpServer, SilentConnectionsAreLetGo) {
  auto server = started();
  std::vector<Fd> silent;
  for (int i = 0; i < 8; ++i) {
    auto socket = connect_to(server->address(), "", Deadline::after_seconds(10));
    if (socket.ok()) silent.push_back(std::move(*socket));
  }
  EXPECT_GT(silent.size(), 2);
  const Deadline deadline = Deadline::after_seconds(100);
  bool answered = false;
  while (!answered && !deadline.passed()) answered = http_get(url_of(*server, "/hello"), 20).ok();
  EXPECT_TRUE(answered);
}

TEST(HttpGet, SaysWhatIsWrong) {
  EXPECT_THAT(http_get("logs", 1).status().message(), HasSubstr("'logs' is no URL"));
  const auto port = free_ports("127.0.0.1", 1);
  ASSERT_TRUE(port.ok());
  EXPECT_THAT(http_get("http://127.0.0.1:" + std::to_string(port->front()) + "/", 2).status().message(),
              HasSubstr("is the job still running?"));
}

}  // namespace
}  // namespace argosy::observe
