#include "argosy/launch/link.h"

namespace argosy::launch {

std::string place_from(int guest, int count) { return fmt::format("from/{}/{}", guest, count); }
std::string place_to(int guest, int count) { return fmt::format("to/{}/{}", guest, count); }
std::string place_of_end(int guest) { return fmt::format("end/{}", guest); }

void RemoteLink::send(const Message& message) {
  if (seal_) return post(message);
  before_welcome_.push_back(message);
}

void RemoteLink::post(const Message& message) {
  store_.send({PostLine::Kind::letter, guest_, seal_->sealed(to_line(message), place_from(guest_, ++sent_))});
  since_sent_.restart();
}

void RemoteLink::welcome(const PostLine& line) {
  auto seal = Seal::from_greeting(token_, line.text);
  if (!seal.ok()) {
    refused_ = seal.status().message();
    return;
  }
  seal_ = std::move(*seal);
  guest_ = line.guest;
  since_heard_.restart();
  store_.send({PostLine::Kind::gone, guest_, seal_->sealed("", place_of_end(guest_))});
  for (const Message& message : before_welcome_) post(message);
  before_welcome_.clear();
}

// What is not sealed as it should be is no word of the first node. Where that has not been heard yet, its token is another one.
std::optional<Message> RemoteLink::open(const PostLine& line) {
  const auto text = seal_->opened(line.text, place_to(guest_, heard_ + 1));
  if (!text.ok()) {
    if (heard_ == 0) refused_ = text.status().message();
    return std::nullopt;
  }
  ++heard_;
  since_heard_.restart();
  auto message = parse_line(*text);
  if (!message.ok()) refused_ = message.status().message();
  if (!message.ok() || message->kind == "alive") return std::nullopt;
  return std::move(*message);
}

std::vector<Message> RemoteLink::receive() {
  if (seal_ && since_sent_.seconds() >= kBeatSeconds) post({.kind = "alive"});
  if (since_looked_.seconds() > kStallSeconds) since_heard_.restart();
  since_looked_.restart();
  std::vector<Message> messages;
  for (const PostLine& line : store_.receive()) {
    if (line.kind == PostLine::Kind::welcome && !seal_) {
      welcome(line);
    } else if (line.kind == PostLine::Kind::letter && seal_) {
      if (auto message = open(line)) messages.push_back(std::move(*message));
    }
  }
  return messages;
}

std::string RemoteLink::broken() const {
  if (!refused_.empty()) return fmt::format("the meeting place {}: {}", place_, refused_);
  const bool silent = seal_ && since_heard_.seconds() > kSilenceSeconds;
  const std::string why = silent ? fmt::format("is silent since {} s", kSilenceSeconds) : store_.broken();
  if (why.empty()) return "";
  return fmt::format("the meeting place {} is lost ({}): the launcher of the first node has ended or cannot be reached", place_,
                     why);
}

}  // namespace argosy::launch
