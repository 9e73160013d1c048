#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "argosy/base/address.h"
#include "argosy/base/clock.h"
#include "argosy/base/status.h"

namespace argosy::observe {

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};

// What is at which path: "/metrics" -> what makes the answer, called by a thread of the server.
using HttpPages = std::map<std::string, std::function<HttpAnswer()>>;

// Shows a few pages over HTTP, to be read only: GET and HEAD, no request has a body. It listens at one address, whose Host
// header must be an address, localhost or the host that it was given, so that no page of the web can read it under a name of its
// own. Four threads answer, few connections wait for them, and a connection that is silent for seconds is closed.
//
// Owns the threads "http-accept" and "http-N". The destructor ends them within seconds.
class HttpServer {
 public:
  // Port 0 takes a free one. `unimplemented` in a build without cpp-httplib.
  static Result<std::unique_ptr<HttpServer>> start(const Address& address, HttpPages pages);
  virtual ~HttpServer() = default;

  virtual const Address& address() const = 0;  // with the port that it has
};

// Gets "http://host:port/path"; an error where the answer is not 200.
Result<std::string> http_get(const std::string& url, double seconds);

}  // namespace argosy::observe
