#pragma once

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <string>
#include <vector>

#include "argosy/base/post.h"
#include "argosy/base/status.h"

namespace c10d {
class Store;
}

namespace argosy::collective {

// The post of a job's launchers, in a c10d store that the first node hosts. Its keys, under "argosy/meeting/":
//   greeting   what the first node greets with; whoever comes waits for it
//   guests     how many have come; each takes the next number
//   first      a queue of PostLines from guests
//   guest/N    a queue of PostLines to guest N
// Anybody who reaches the store can write to it: lines that are none, or that are not for this reader, are dropped, and what a
// line says is for the launchers to trust or not. Confined to one thread.
class MeetingStore {
 public:
  using StorePtr = c10::intrusive_ptr<c10d::Store>;

  static Result<MeetingStore> host(const StorePtr& store, const std::string& greeting);
  // Waits for the greeting.
  static Result<MeetingStore> join(const StorePtr& store, std::chrono::milliseconds timeout);

  int guest() const { return guest_; }  // 0: the first node
  const std::string& greeting() const { return greeting_; }

  Status send(const PostLine& line);  // to the guest that it names, or from this guest to the first node
  Result<std::vector<PostLine>> receive();  // what has come; the rest of very much with the next call

 private:
  explicit MeetingStore(const StorePtr& store);

  StorePtr store_;
  std::string greeting_;
  int guest_ = 0;
};

}  // namespace argosy::collective
