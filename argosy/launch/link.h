#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/launch/message.h"
#include "argosy/launch/seal.h"
#include "argosy/launch/store_line.h"

namespace argosy::launch {

// A launcher's line to the meeting place of its job. Confined to one thread.
class Link {
 public:
  virtual ~Link() = default;

  virtual void send(const Message& message) = 0;
  // What has come since the last call. To be called often: it also keeps the line alive.
  virtual std::vector<Message> receive() = 0;
  // Readable where something has come; -1: look now and then.
  virtual int fd() const { return -1; }
  // Why there is no line any more; empty while there is one.
  virtual std::string broken() const { return ""; }
};

constexpr double kBeatSeconds = 1;      // between two signs of life on a line
constexpr double kSilenceSeconds = 15;  // after which the other side counts as gone
constexpr double kStallSeconds = 3;     // a side that did not run for so long did not hear anybody either

// The places of what is said between the first node and a guest, for its seal.
std::string place_from(int guest, int count);  // of the guest's count-th message, from 1
std::string place_to(int guest, int count);
std::string place_of_end(int guest);  // of the line that is posted when its launcher has ended

// To the meeting place of another launcher, through the store that it hosts.
class RemoteLink : public Link {
 public:
  // `place` is host:port, for messages.
  RemoteLink(StoreLine store, std::string token, std::string place)
      : store_(std::move(store)), token_(std::move(token)), place_(std::move(place)) {}

  void send(const Message& message) override;
  std::vector<Message> receive() override;
  std::string broken() const override;

 private:
  void welcome(const PostLine& line);
  std::optional<Message> open(const PostLine& line);
  void post(const Message& message);

  StoreLine store_;
  const std::string token_, place_;
  std::optional<Seal> seal_;  // once it is welcome
  int guest_ = 0, sent_ = 0, heard_ = 0;
  std::vector<Message> before_welcome_;
  std::string refused_;
  Stopwatch since_sent_, since_heard_, since_looked_;
};

}  // namespace argosy::launch
