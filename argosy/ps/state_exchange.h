#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/ps/limit.h"
#include "argosy/ps/membership.h"
#include "argosy/ps/messages.pb.h"
#include "argosy/ps/state_cut.h"

namespace argosy::ps {

struct ExchangeLimits {
  uint64_t gather_bytes = uint64_t{64} << 20;  // of answers that are kept for replays
  uint64_t mail_bytes = uint64_t{1} << 30;     // of messages; beyond it, those that have arrived are dropped

  // What callers are refused beyond; null: no limit. They outlive the exchange.
  Limit* unread_mail = nullptr;        // bytes
  Limit* gatherings = nullptr;         // that are not complete
  Limit* gathering_bytes = nullptr;    // of those
  Limit* names = nullptr;              // of gatherings and file lists
  Limit* answer = nullptr;             // bytes of one complete gathering
};

// A worker's call of a gathering, by its place in the worker's script; see wire::GatherRequest.
struct GatherCall {
  std::string name;
  int worker = 0;
  uint64_t position = 0;
  uint64_t call = 0;
  uint64_t after = 0;
};
GatherCall gather_call(const wire::GatherRequest& request);

// What workers pass each other through a server: barriers and gathered bytes, files that are handed out, and letters. Everything
// is known by its place in its caller's script, so that a repeated or replayed call finds its old answer.
//
// Thread-compatible: the caller serialises all calls.
class Exchange {
 public:
  using Parts = std::vector<std::string>;  // by worker; empty for one that gave nothing

  Exchange(const Membership& members, ExchangeLimits limits) : members_(members), limits_(limits) {}

  // ---- Records.
  void add_part(const GatherCall& call, std::string bytes);
  // Completes what nobody is awaited for any more. Call it after every record that can change that.
  void settle();
  void hand_out(const wire::NextFileRequest& request);
  // The job goes on without the worker: the files that it was reading go to others.
  void lose(int worker);
  // It is back: those that nobody has taken yet are its own again.
  void rejoin(int worker);
  void post(int from, int to, std::string bytes);

  // ---- Questions.

  // The gathering that a call takes part in: that of the time where the worker has made the call before, else the one after its
  // last. 0: it was passed, and nothing is kept of it.
  uint64_t number_of(const GatherCall& call) const;
  // Whether the call's part of so many bytes would change anything; out_of_range: the answer was dropped long ago;
  // resource_exhausted: there is no room for it.
  Result<bool> needs_part(const GatherCall& call, uint64_t bytes) const;
  // The complete answer, or null while somebody is missing.
  std::shared_ptr<const Parts> parts(const std::string& name, uint64_t number) const;
  std::vector<int> missing(const std::string& name, uint64_t number) const;

  struct File {
    enum Kind { assigned, unassigned, done } kind = done;
    uint64_t place = 0;
  };
  // The reader's `number`-th file of the list; unassigned: hand_out() would assign one.
  Result<File> file(const wire::NextFileRequest& request) const;

  // Whether the letter of so many bytes is not here yet. Numbers are without gaps. resource_exhausted: there is no room for it.
  Result<bool> needs_letter(int from, int to, uint64_t number, uint64_t bytes) const;
  struct Letter {
    uint32_t from = 0;
    std::shared_ptr<const std::string> bytes;  // null: not there yet
  };
  Result<Letter> letter(int to, uint64_t number);

  // Tells the limits how much there is.
  void measure() const;

  // All but the letters' bytes, and these.
  void save(wire::ExchangeImage* image) const;
  std::vector<StateCut::Letter> letters() const;
  Status restore(const wire::ExchangeImage& image);

 private:
  // In a worker's script; a script goes through them in this order.
  struct ScriptPlace {
    uint64_t position = 0;
    uint64_t call = 0;  // 0: none
    auto operator<=>(const ScriptPlace&) const = default;
  };
  struct Gathering {
    Parts parts;
    std::vector<bool> given;
    std::vector<ScriptPlace> places;  // by worker
    bool complete = false;
  };
  struct Member {
    ScriptPlace newest;   // its newest call,
    uint64_t number = 0;  // and that call's gathering
    ScriptPlace dropped;  // the newest call whose answer had bytes and was dropped for space
  };
  struct Name {
    explicit Name(int workers) : members(static_cast<size_t>(workers)) {}
    uint64_t complete_through = 0;
    std::map<uint64_t, std::shared_ptr<Gathering>> gatherings;  // open ones, and complete ones with bytes
    std::vector<Member> members;                                // by worker
  };
  struct ReturnedFile {
    uint64_t place = 0;
    uint32_t by = 0;
  };
  struct FileList {
    uint64_t files = 0;  // 0: nobody has said
    uint64_t next = 0;
    std::deque<ReturnedFile> returned;  // of lost workers; handed out before `next`
    std::map<uint32_t, std::vector<uint64_t>> assigned;  // by taker, see wire::ExchangeImage
  };
  struct Box {
    uint64_t first = 0;     // number of letters.front()
    uint64_t arrived = 0;   // all below have been taken, as far as this process knows
    std::deque<Letter> letters;
    std::map<int, uint64_t> posted;  // by sender: how many
  };

  uint32_t taker(const wire::NextFileRequest& request) const;
  Status check_room_for_part(const Name* known, uint64_t number, uint64_t bytes) const;
  Status check_room_for_name() const;
  std::shared_ptr<Gathering> make_gathering() const;
  static void save_name(const Name& known, wire::ExchangeImage::Name* out);
  Status restore_name(const wire::ExchangeImage::Name& in);
  void drop_old_answers();
  void drop_arrived_letters();

  const Membership& members_;
  const ExchangeLimits limits_;
  std::map<std::string, Name> names_;
  std::deque<std::pair<std::string, uint64_t>> kept_;  // complete answers with bytes, oldest first
  uint64_t kept_bytes_ = 0;
  std::map<std::string, FileList> lists_;
  std::map<int, Box> boxes_;
  uint64_t mail_bytes_ = 0;
  uint64_t unread_bytes_ = 0;  // of mail_bytes_: from each box's `arrived` on
  uint64_t open_ = 0, open_bytes_ = 0;  // gatherings that are not complete
};

}  // namespace argosy::ps
