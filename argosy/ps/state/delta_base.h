#pragma once

#include <cstdint>
#include <deque>
#include <span>

#include "argosy/ps/spec/messages.pb.h"

namespace argosy::ps {

// What a server's next delta snapshot can build on: the base or delta that was published last, the one that was written after it
// and is not known to be published, and the rows that shrinks have dropped since. Also the answers of the last shrinks, for
// workers that ask again.
//
// Thread-compatible: changes within the turn of changes, as the records of the log do that it is fed.
class DeltaBase {
 public:
  static constexpr uint64_t kMostKeys = uint64_t{16} << 20;  // of dropped rows; with more, a new base is smaller
  // A worker repeats only the shrink that it has not seen through; what is older it finds among its operations.
  static constexpr size_t kAnswers = 1024;

  explicit DeltaBase(uint64_t most_keys = kMostKeys) : most_keys_(most_keys) {}

  // ---- Records.

  // A part was written; or, where it says so, what was written has its name now. One that is not what was written last is passed
  // over.
  void saved(wire::SavedRecord record);
  // Rows were set by another way than by gradients: no delta can say which, and the next snapshot has to be a base.
  void forget() { record_.Clear(); }

  // A shrink begins: all that it does follows before the next.
  void begin_shrink() { ++shrinks_; }
  // It has dropped these rows of a table; `decayed`: and changed the counters of the others.
  void shrunk(uint32_t table, std::span<const uint64_t> keys, bool decayed);
  void answered(const wire::ShrinkRequest& request, const wire::ShrinkReply& reply);

  // ---- Questions.

  // Without an id: nothing can be built on.
  const wire::SavedRecord& record() const { return record_; }
  uint64_t shrinks() const { return shrinks_; }
  // What a shrink was answered that was applied, one of the last few; null: it is none of them.
  const wire::ShrinkReply* answer(const wire::ShrinkRequest& request) const;

  // ---- The state's image.
  void save(wire::StateImage* image) const;
  void restore(const wire::StateImage& image);

 private:
  void publish();  // what was written

  const uint64_t most_keys_;
  wire::SavedRecord record_;
  uint64_t shrinks_ = 0;  // since the job began
  std::deque<wire::ShrinkAnswer> answers_;  // oldest first
};

}  // namespace argosy::ps
