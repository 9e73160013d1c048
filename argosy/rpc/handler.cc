#include "argosy/rpc/handler.h"

#include <utility>

namespace argosy::rpc {

Reply::~Reply() {
  if (sink_ != nullptr) fail(Status::internal("the handler dropped the call without an answer"));
}

Reply& Reply::operator=(Reply&& other) noexcept {
  Reply replaced(std::exchange(sink_, std::move(other.sink_)));
  return *this;
}

void Reply::send(std::string header, std::vector<Slice> payload) {
  finish(Status::ok_status(), std::move(header), std::move(payload));
}

void Reply::fail(Status status) {
  ARGOSY_CHECK(!status.ok(), "an answer without an error is sent with send()");
  finish(std::move(status), {}, {});
}

void Reply::finish(Status status, std::string header, std::vector<Slice> payload) {
  ARGOSY_CHECK(sink_ != nullptr, "a call was answered twice");
  std::exchange(sink_, nullptr)->finish(std::move(status), std::move(header), std::move(payload));
}

}  // namespace argosy::rpc
