#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/status.h"
#include "argosy/rpc/message.h"

namespace argosy::rpc {

// A call as the server sees it.
struct Request {
  uint16_t method = 0;
  std::string header;
  PayloadBuffer payload;
  std::string peer;  // who called, for messages
  Deadline deadline;  // when the caller stops waiting
};

// Where an answer goes. Implemented by each transport; tests of a handler may have their own.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  virtual void finish(Status status, std::string header, std::vector<Slice> payload) = 0;  // called exactly once
  virtual bool cancelled() const = 0;
};

// The duty to answer one call. Completed once, now or later, from any thread; a reply that is dropped answers `internal`.
// Completing it after the caller has gone does nothing. Thread-compatible: one owner at a time.
class Reply {
 public:
  explicit Reply(std::shared_ptr<ReplySink> sink) : sink_(std::move(sink)) {}
  Reply(Reply&&) noexcept = default;
  Reply& operator=(Reply&& other) noexcept;
  ~Reply();

  // REQUIRES, for both: not completed yet.
  void send(std::string header, std::vector<Slice> payload = {});
  void fail(Status status);  // REQUIRES: !status.ok()

  bool completed() const { return sink_ == nullptr; }
  // Whether nobody waits for the answer any more: the caller's deadline passed, it cancelled, or its connection broke.
  bool cancelled() const { return sink_ == nullptr || sink_->cancelled(); }

 private:
  void finish(Status status, std::string header, std::vector<Slice> payload);

  std::shared_ptr<ReplySink> sink_;  // null once completed
};

// Called on the server's own threads, several at a time. It may block for as long as the server has threads to spare; what
// has to wait for other calls keeps the Reply and returns.
using Handler = std::function<void(Request, Reply)>;

}  // namespace argosy::rpc
