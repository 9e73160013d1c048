#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/ps/spec/messages.pb.h"
#include "argosy/ps/state/limit.h"
#include "argosy/ps/state/state_cut.h"

namespace argosy::ps {

struct MailLimits {
  uint64_t kept_bytes = uint64_t{1} << 30;  // of messages; beyond it, those that have arrived are dropped

  // Bytes of messages that have not arrived, which senders are refused beyond; null: no limit. It outlives the mailboxes.
  Limit* unread = nullptr;
};

// Messages between workers, in one mailbox for each receiver. A sender numbers its messages to a receiver from 0, so that a
// replayed one is dropped; a receiver takes the messages of its mailbox by their numbers in the order of arrival, from 0.
// Messages that have arrived are kept for a receiver that is started again, up to MailLimits::kept_bytes.
//
// A worker that is lost or comes back changes nothing: what it had sent is delivered, and what was sent to it waits.
//
// Thread-compatible: the caller serialises all calls.
class Mailboxes {
 public:
  explicit Mailboxes(MailLimits limits) : limits_(limits) {}

  // ---- Records.

  // REQUIRES: the message is the next one of `from` to `to`.
  void post(int from, int to, std::string bytes);

  // ---- Questions.

  // Whether the message of so many bytes is not here yet. invalid_argument: one before it is not here either; resource_exhausted:
  // there is no room for it.
  Result<bool> needs(int from, int to, uint64_t number, uint64_t bytes) const;

  struct Message {
    uint32_t from = 0;
    std::shared_ptr<const std::string> bytes;  // null: not there yet
  };
  // The message with this number in the mailbox of `to`; all below it have arrived, which is known to this process only and is in
  // no image. out_of_range: it was dropped.
  Result<Message> take(int to, uint64_t number);

  // Tells the limit how much there is.
  void measure() const;

  // ---- The state's image: `boxes` of it.

  // All but the messages themselves, and these.
  void save(wire::ExchangeImage* image) const;
  std::vector<StateCut::Message> messages() const;
  // Takes them in place of what was there. data_loss: they cannot be read; what is here then is a part of them.
  Status restore(const wire::ExchangeImage& image);

 private:
  struct Box {
    uint64_t first = 0;    // number of messages.front()
    uint64_t arrived = 0;  // all below have been taken, as far as this process knows
    std::deque<Message> messages;
    std::map<int, uint64_t> posted;  // by sender: how many
  };

  void add(Box& box, uint32_t from, std::string bytes);
  void drop_arrived();
  Status restore(const wire::ExchangeImage::Box& in);

  const MailLimits limits_;
  std::map<int, Box> boxes_;    // by receiver
  uint64_t bytes_ = 0;          // of all messages
  uint64_t unread_bytes_ = 0;   // of those from each box's `arrived` on
};

}  // namespace argosy::ps
