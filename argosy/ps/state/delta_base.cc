#include "argosy/ps/state/delta_base.h"

#include <algorithm>
#include <utility>

namespace argosy::ps {

void DeltaBase::saved(wire::SavedRecord record) {
  if (!record.published()) {
    *record_.mutable_written() = std::move(record);
  } else if (record.id() != 0 && record_.written().id() == record.id()) {
    publish();
  }
}

// What was shrunk while it was being written is not in it.
void DeltaBase::publish() {
  wire::SavedRecord written = record_.written();
  for (const wire::Shrunk& shrunk : record_.shrunk()) {
    if (shrunk.number() > written.shrinks()) *written.add_shrunk() = shrunk;
  }
  record_ = std::move(written);
}

void DeltaBase::shrunk(uint32_t table, std::span<const uint64_t> keys, bool decayed) {
  if ((record_.id() == 0 && record_.written().id() == 0) || (keys.empty() && !decayed)) return;
  wire::Shrunk* shrunk = record_.add_shrunk();
  shrunk->set_number(shrinks_);
  shrunk->set_table(table);
  shrunk->mutable_keys()->Assign(keys.begin(), keys.end());
  shrunk->set_decayed(decayed);
  uint64_t all = 0;
  for (const wire::Shrunk& one : record_.shrunk()) all += static_cast<uint64_t>(one.keys_size());
  if (all > most_keys_) forget();
}

void DeltaBase::answered(const wire::ShrinkRequest& request, const wire::ShrinkReply& reply) {
  wire::ShrinkAnswer& answer = answers_.emplace_back();
  answer.set_worker(request.caller().worker());
  answer.set_number(request.number());
  *answer.mutable_reply() = reply;
  if (answers_.size() > kAnswers) answers_.pop_front();
}

const wire::ShrinkReply* DeltaBase::answer(const wire::ShrinkRequest& request) const {
  const auto same = [&](const wire::ShrinkAnswer& answer) {
    return answer.worker() == request.caller().worker() && answer.number() == request.number();
  };
  const auto found = std::find_if(answers_.rbegin(), answers_.rend(), same);
  return found == answers_.rend() ? nullptr : &found->reply();
}

void DeltaBase::save(wire::StateImage* image) const {
  *image->mutable_saved() = record_;
  image->set_shrinks(shrinks_);
  for (const wire::ShrinkAnswer& answer : answers_) *image->add_answers() = answer;
}

void DeltaBase::restore(const wire::StateImage& image) {
  record_ = image.saved();
  shrinks_ = image.shrinks();
  answers_.assign(image.answers().begin(), image.answers().end());
}

}  // namespace argosy::ps
