#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/base/thread.h"
#include "argosy/base/wake.h"
#include "argosy/launch/collective/node_link.h"
#include "argosy/launch/collective/rounds.h"

namespace argosy::launch {

// The launcher of another node while it waits for what the meeting has to say to it.
class NodeListener {
 public:
  virtual ~NodeListener() = default;
  virtual void answer(const std::vector<LauncherMessage>& messages) = 0;  // once; from any thread
  virtual bool gone() const = 0;  // nobody waits for the answer any more
};

// Where the launchers of a job meet: the first node's has it. Rounds decides; this keeps what is said to each node until that
// node has it. The first node's own launcher has a line inside the process (first_link); those of other nodes come by hear(),
// listen() and leave(), which a transport calls (collective/meeting_server.h). Each names itself by an identity that it has
// drawn.
//
// A node whose launcher has not listened for 15 s, or whose wait was cut off and not resumed within 5 s, is lost.
// Thread-safe. Owns the thread "meeting" where other nodes can join.
class Meeting {
 public:
  enum class Nodes { one, several };

  explicit Meeting(RoundsOptions options, Nodes nodes = Nodes::one);
  ~Meeting();  // close()

  // The first node's line. It must not outlive the meeting; once.
  std::unique_ptr<NodeLink> first_link();

  // What another node says: its messages number `first`, `first` + 1, …, counted from 1. Those that were heard before are passed
  // over, so that a call whose answer was lost can be repeated; a gap is an error.
  Status hear(const std::string& node, int64_t first, const std::vector<LauncherMessage>& messages);

  // Answers with what is said to `node` after the first `heard` messages: as soon as there is something, or in a second. One that
  // it listens with already is answered with nothing.
  void listen(const std::string& node, int64_t heard, std::unique_ptr<NodeListener> listener);

  // Its launcher ends, and has heard so many messages.
  void leave(const std::string& node, int64_t heard);

  // Ends a job that is not over, and lets the other nodes hear of the end: for 30 s at most, and not after a second stop signal
  // (process/stop_signal.h). Safe to call twice.
  void close();

 private:
  class FirstLink;
  // The launcher of another node, or anybody else who has called.
  struct RemoteNode {
    int member = 0;                       // its number in rounds_
    int64_t heard = 0;                    // how many of its messages
    int64_t acknowledged = 0;             // how many of those to it; the next are in `mail`
    std::deque<LauncherMessage> mail;     // what it has not acknowledged
    std::unique_ptr<NodeListener> waits;  // null: it does not listen just now
    bool lost = false;                    // rounds_ knows it no more; it may still fetch its mail
    Stopwatch since_came, since_heard, since_listened;
    std::optional<Stopwatch> since_cut_off;  // its last wait ended without an answer, and it has not listened since
  };
  struct Answer {
    std::unique_ptr<NodeListener> to;
    std::vector<LauncherMessage> messages;
  };
  using Answers = std::vector<Answer>;

  void serve();
  void notice_losses() ARGOSY_REQUIRES(mutex_);
  std::string loss_of(RemoteNode& remote) ARGOSY_REQUIRES(mutex_);  // why this one counts as lost; empty: it does not
  void forget_strangers() ARGOSY_REQUIRES(mutex_);
  void lose(RemoteNode& remote, const std::string& why) ARGOSY_REQUIRES(mutex_);
  RemoteNode* remote_node(const std::string& node) ARGOSY_REQUIRES(mutex_);  // null: there are too many
  void acknowledge(RemoteNode& remote, int64_t heard) ARGOSY_REQUIRES(mutex_);
  void sort_messages() ARGOSY_REQUIRES(mutex_);
  Answers due() ARGOSY_REQUIRES(mutex_);  // those who listen, and have mail or have waited long enough
  bool all_told() const ARGOSY_REQUIRES(mutex_);

  static void send(Answers answers);  // REQUIRES: mutex_ is not held

  Mutex mutex_;  // not held while a remote node is answered
  Rounds rounds_ ARGOSY_GUARDED_BY(mutex_);
  std::vector<LauncherMessage> to_first_ ARGOSY_GUARDED_BY(mutex_);
  std::map<std::string, RemoteNode> remote_nodes_ ARGOSY_GUARDED_BY(mutex_);  // by identity
  std::map<int, std::string> names_ ARGOSY_GUARDED_BY(mutex_);     // identities by member
  int members_ ARGOSY_GUARDED_BY(mutex_) = 0;
  bool closing_ ARGOSY_GUARDED_BY(mutex_) = false, closed_ ARGOSY_GUARDED_BY(mutex_) = false;
  SteadyClock::time_point last_look_ ARGOSY_GUARDED_BY(mutex_) = SteadyClock::now();

  ConditionVariable changed_;  // closed_ has
  const Wake first_wake_;            // there is something in to_first_
  const Wake told_;                  // a remote node has heard something, while closing
  Thread thread_;
};

}  // namespace argosy::launch
