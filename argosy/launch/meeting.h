#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "argosy/base/fd.h"
#include "argosy/base/thread.h"
#include "argosy/launch/line_socket.h"
#include "argosy/launch/link.h"
#include "argosy/launch/rounds.h"

namespace argosy::launch {

// Where the launchers of a job meet: the first node's has it. Rounds decides; this carries what is said. The first node's own
// launcher has a line inside the process, those of other nodes connect to a listener that is bound to this node's address alone;
// without one (a job of one node) nobody else can join.
//
// Owns the thread "meeting" where there is a listener; the destructor ends a job that is not over, lets the others hear of the
// end for a few seconds, and joins it. Thread-safe.
class Meeting {
 public:
  explicit Meeting(RoundsOptions options, Fd listener = Fd());
  ~Meeting();

  // The first node's line. It must not outlive the meeting; once.
  std::unique_ptr<Link> first_link();

 private:
  class FirstLink;
  // A connection of another launcher, or of anybody.
  struct Guest {
    LineSocket socket;
    Stopwatch since_came, since_heard, since_sent;
  };

  void serve();
  void take_guests();
  void hear_guest(int number, Guest& guest);
  void wait_for_guests();
  void send_to_guests();
  void sort_messages();  // REQUIRES: mutex_ is held

  std::mutex mutex_;  // guards the four after it; not held over I/O
  Rounds rounds_;
  std::vector<Message> to_first_;
  std::map<int, std::vector<Message>> to_guests_;
  bool stop_ = false;

  const Fd listener_;
  std::map<int, Guest> guests_;  // the thread's own
  int last_guest_ = 0;
  Thread thread_;
};

}  // namespace argosy::launch
