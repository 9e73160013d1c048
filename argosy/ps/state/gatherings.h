#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/ps/spec/messages.pb.h"
#include "argosy/ps/state/limit.h"
#include "argosy/ps/state/membership.h"
#include "argosy/ps/state/name_count.h"

namespace argosy::ps {

struct GatheringLimits {
  uint64_t kept_bytes = uint64_t{64} << 20;  // of answers that are kept for replays

  // What callers are refused beyond; null: no limit. They outlive the gatherings.
  Limit* open = nullptr;        // gatherings that are not complete
  Limit* open_bytes = nullptr;  // of those
  Limit* answer = nullptr;      // bytes of one complete gathering
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

// Barriers and gathers. A gathering has a name and a number, and is complete when every worker that is awaited has given its
// part; the answer is everybody's parts. A call is known by its place in its worker's script, so that a repeated or replayed call
// finds its old answer. Complete answers with bytes are kept for that up to GatheringLimits::kept_bytes, the newest always.
//
// A worker that is lost or done is not awaited: settle() completes what waited for it alone. What it had given stays, and when it
// comes back its calls find their answers.
//
// Thread-compatible: the caller serialises all calls.
class Gatherings {
 public:
  using Parts = std::vector<std::string>;  // by worker; empty for one that gave nothing

  // Both outlive this.
  Gatherings(const Membership& members, NameCount& names, GatheringLimits limits)
      : members_(members), name_count_(names), limits_(limits) {}

  // ---- Records. REQUIRES: the call's worker exists, and its `call` is not 0.

  // REQUIRES: needs_part() of the call is true.
  void add_part(const GatherCall& call, std::string bytes);
  // Completes what nobody is awaited for any more. Call it after every record that can change that: a part, or a worker that is
  // lost or done.
  void settle();

  // ---- Questions. REQUIRES: as for records.

  // The gathering that a call takes part in: that of the time where the worker has made the call before, else the one after its
  // last. 0: it was passed, and nothing is kept of it.
  uint64_t number_of(const GatherCall& call) const;
  // Whether the call's part of so many bytes would change anything; out_of_range: the answer was dropped long ago;
  // resource_exhausted: there is no room for it.
  Result<bool> needs_part(const GatherCall& call, uint64_t bytes) const;
  // The complete answer, or null while somebody is missing.
  std::shared_ptr<const Parts> parts(const std::string& name, uint64_t number) const;
  // The workers that it waits for.
  std::vector<int> missing(const std::string& name, uint64_t number) const;

  // Tells the limits how much there is.
  void measure() const;

  // ---- The state's image: `names` of it.
  void save(wire::ExchangeImage* image) const;
  // Takes them in place of what was there. data_loss: they are not of this job; what is here then is a part of them.
  Status restore(const wire::ExchangeImage& image);

 private:
  // In a worker's script; a script goes through them in this order.
  struct ScriptPlace {
    uint64_t position = 0;
    uint64_t call = 0;  // 0: none
    auto operator<=>(const ScriptPlace&) const = default;
  };
  struct Gathering {
    explicit Gathering(int workers);
    Parts parts;
    std::vector<bool> given;
    std::vector<ScriptPlace> places;  // by worker
    bool complete = false;
  };
  struct Member {
    ScriptPlace newest;  // its newest call,
    uint64_t number = 0;  // and that call's gathering
    ScriptPlace dropped;  // the newest call whose answer had bytes and was dropped for space
  };
  struct Name {
    explicit Name(int workers) : members(static_cast<size_t>(workers)) {}
    uint64_t complete_through = 0;
    std::map<uint64_t, std::shared_ptr<Gathering>> gatherings;  // open ones, and complete ones with bytes
    std::vector<Member> members;  // by worker
  };

  Name& make_name(const std::string& name);  // or finds it
  const Name* find_name(const std::string& name) const;
  static const Gathering* find(const Name* known, uint64_t number);  // null: none is kept
  Status check_room(const Name* known, uint64_t number, uint64_t bytes) const;
  void drop_old_answers();
  static void save(const Name& known, wire::ExchangeImage::Name* out);
  Status restore(const wire::ExchangeImage::Name& in);
  Status restore(const wire::ExchangeImage::Gathering& in, const std::string& name, Name& known);

  const Membership& members_;
  NameCount& name_count_;
  const GatheringLimits limits_;
  std::map<std::string, Name> names_;
  std::deque<std::pair<std::string, uint64_t>> kept_;  // complete answers with bytes, oldest first
  uint64_t kept_bytes_ = 0;
  uint64_t open_ = 0, open_bytes_ = 0;  // gatherings that are not complete
};

}  // namespace argosy::ps
