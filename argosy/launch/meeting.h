#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/thread.h"
#include "argosy/launch/link.h"
#include "argosy/launch/rounds.h"
#include "argosy/launch/seal.h"
#include "argosy/launch/store_line.h"

namespace argosy::launch {

// The store in which the launchers of several nodes meet, and the seal of what is said there.
struct MeetingPlace {
  StoreLine store;
  Seal seal;
};

// Where the launchers of a job meet: the first node's has it. Rounds decides; this carries what is said. The first node's own
// launcher has a line inside the process, those of other nodes leave letters in the c10d store that this node hosts; without
// one (a job of one node) nobody else can join.
//
// Owns the thread "meeting" where there is a store; the destructor ends a job that is not over, lets the others hear of the
// end, for 30 s at most and not after a second stop signal, and joins it. Thread-safe.
class Meeting {
 public:
  explicit Meeting(RoundsOptions options, std::optional<MeetingPlace> place = std::nullopt);
  ~Meeting();

  // The first node's line. It must not outlive the meeting; once.
  std::unique_ptr<Link> first_link();

 private:
  class FirstLink;
  // The launcher of another node, or anybody who has left a letter.
  struct Guest {
    int heard = 0, sent = 0;
    std::string gone;  // why it is
    Stopwatch since_came, since_heard, since_sent;
  };

  void serve();
  void hear(const PostLine& line);
  void hear_letter(int number, const std::string& text);
  void look_after_guests();
  void send_to_guests();
  void send(int number, const Message& message);
  void sort_messages();  // REQUIRES: mutex_ is held

  std::mutex mutex_;  // guards the five after it; not held over I/O
  Rounds rounds_;
  std::vector<Message> to_first_;
  std::map<int, std::vector<Message>> to_guests_;
  std::string lost_;  // why there is no store any more
  bool stop_ = false;

  std::optional<MeetingPlace> place_;  // the thread's own, and what follows
  std::map<int, Guest> guests_;
  Thread thread_;
};

}  // namespace argosy::launch
