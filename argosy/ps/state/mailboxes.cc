#include "argosy/ps/state/mailboxes.h"

#include <utility>

namespace argosy::ps {

void Mailboxes::add(Box& box, uint32_t from, std::string bytes) {
  bytes_ += bytes.size();
  unread_bytes_ += bytes.size();
  box.messages.push_back({from, std::make_shared<const std::string>(std::move(bytes))});
}

void Mailboxes::post(int from, int to, std::string bytes) {
  Box& box = boxes_[to];
  ++box.posted[from];
  add(box, static_cast<uint32_t>(from), std::move(bytes));
  drop_arrived();
}

void Mailboxes::drop_arrived() {
  for (auto& [to, box] : boxes_) {
    while (bytes_ > limits_.kept_bytes && box.first < box.arrived && !box.messages.empty()) {
      bytes_ -= box.messages.front().bytes->size();
      box.messages.pop_front();
      ++box.first;
    }
  }
}

Result<bool> Mailboxes::needs(int from, int to, uint64_t number, uint64_t bytes) const {
  uint64_t posted = 0;
  if (const auto box = boxes_.find(to); box != boxes_.end()) {
    if (const auto count = box->second.posted.find(from); count != box->second.posted.end()) posted = count->second;
  }
  if (number < posted) return false;
  if (number > posted) {
    return Status::invalid_argument("worker {} posts message {} to worker {}; expected message {} first: send them in order",
                                    from, number, to, posted);
  }
  if (limits_.unread == nullptr || limits_.unread->fits(unread_bytes_, bytes)) return true;
  limits_.unread->set_now(unread_bytes_);
  return limits_.unread->refuse(bytes).with_context("message {} of worker {} to worker {}", number, from, to);
}

Result<Mailboxes::Message> Mailboxes::take(int to, uint64_t number) {
  Box& box = boxes_[to];
  if (number < box.first) {
    return Status::out_of_range(
        "message {} to worker {} is no longer kept: an earlier start of this worker took it, and messages may "
        "take {} bytes; start the whole job again or raise the mailbox limit",
        number, to, limits_.kept_bytes);
  }
  for (; box.arrived < number; ++box.arrived) {
    if (box.arrived < box.first) continue;
    if (box.arrived - box.first >= box.messages.size()) break;
    unread_bytes_ -= box.messages[box.arrived - box.first].bytes->size();
  }
  if (bytes_ > limits_.kept_bytes) drop_arrived();
  if (number - box.first >= box.messages.size()) return Message{};
  return box.messages[number - box.first];
}

void Mailboxes::measure() const {
  if (limits_.unread != nullptr) limits_.unread->set_now(unread_bytes_);
}

// ---- The state's image.

void Mailboxes::save(wire::ExchangeImage* image) const {
  for (const auto& [to, box] : boxes_) {
    wire::ExchangeImage::Box* out = image->add_boxes();
    out->set_to(static_cast<uint32_t>(to));
    out->set_first(box.first);
    for (const auto& [from, count] : box.posted) {
      out->add_senders(static_cast<uint32_t>(from));
      out->add_posted(count);
    }
  }
}

std::vector<StateCut::Message> Mailboxes::messages() const {
  std::vector<StateCut::Message> messages;
  for (const auto& [to, box] : boxes_) {
    for (const Message& message : box.messages) messages.push_back({static_cast<uint32_t>(to), message.from, message.bytes});
  }
  return messages;
}

Status Mailboxes::restore(const wire::ExchangeImage& image) {
  boxes_.clear();
  bytes_ = unread_bytes_ = 0;
  for (const auto& in : image.boxes()) RETURN_IF_ERROR(restore(in));
  return {};
}

// A box may come in several pieces, the last of which has everything but messages.
Status Mailboxes::restore(const wire::ExchangeImage::Box& in) {
  if (in.from_size() != in.messages_size() || in.senders_size() != in.posted_size()) {
    return Status::data_loss(
        "the messages to worker {} are damaged: {} messages of {} senders, {} counts of {} senders; expected as many of each",
        in.to(), in.messages_size(), in.from_size(), in.posted_size(), in.senders_size());
  }
  Box& box = boxes_[static_cast<int>(in.to())];
  box.first = in.first();
  for (int i = 0; i < in.from_size(); ++i) add(box, in.from(i), in.messages(i));
  for (int i = 0; i < in.senders_size(); ++i) box.posted[static_cast<int>(in.senders(i))] = in.posted(i);
  return {};
}

}  // namespace argosy::ps
