#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argosy/ps/server/server_scratch.h"
#include "argosy/ps/state/state.h"

namespace argosy::ps {
namespace {

using namespace scratch;

std::unique_ptr<State> make_state(Mode mode) {
  TableSpec rows = counting_rows();
  rows.geo = mode == Mode::geo;
  return std::move(State::make(job(mode, 2, {rows}), {.job = "test"})).value();
}

template <typename Request>
void apply(State& state, wire::Method method, Request request, uint32_t worker, std::string_view payload = {}) {
  if constexpr (requires { request.mutable_caller(); }) {
    request.mutable_caller()->set_worker(worker);
    request.mutable_caller()->set_incarnation(state.members().worker(static_cast<int>(worker)).incarnation);
  }
  const std::string header = request.SerializeAsString();
  const Record record{.method = method, .header = header, .payload = std::as_bytes(std::span(payload))};
  const auto verdict = state.check(record);
  ASSERT_TRUE(verdict.ok()) << verdict.status().message();
  const Status status = state.apply(record);
  ASSERT_TRUE(status.ok()) << status.message();
}

void hello(State& state, uint32_t worker) {
  wire::HelloRequest request;
  request.set_worker(worker);
  request.set_process_id(worker + 1);
  apply(state, wire::HELLO, request, worker);
}

// Everything that can be large, in one string.
std::string text_of(const State& state) {
  StateCut cut = state.cut();
  std::string text;
  const auto head = cut.write(uint64_t{1} << 30, [&](std::string_view piece) {
    text += piece;
    return Status();
  });
  EXPECT_TRUE(head.ok());
  return text + *head;
}

// Writes in pieces of about `bytes`, reads them into a new state, and compares; returns how many pieces there were.
uint64_t write_and_read(const State& state, Mode mode, uint64_t bytes) {
  StateCut cut = state.cut();
  StateImageReader reader;
  uint64_t pieces = 0;
  const auto head = cut.write(bytes, [&](std::string_view piece) {
    ++pieces;
    return reader.add(piece);
  });
  EXPECT_TRUE(head.ok());
  const auto image = std::move(reader).finish(*head);
  EXPECT_TRUE(image.ok()) << image.status().message();
  const auto copy = make_state(mode);
  EXPECT_TRUE(copy->restore(*image).ok());
  EXPECT_EQ(text_of(*copy), text_of(state));
  return pieces;
}

// An image is never one message, however much there is of what workers sent: here each item is a piece of its own.
TEST(StateCut, IsWrittenInPiecesAndReadAgain) {
  const auto sync = make_state(Mode::sync);
  hello(*sync, 0);
  hello(*sync, 1);
  for (uint32_t step = 0; step < 5; ++step) {
    wire::PushRequest push;
    push.add_batches(batch_id(0, step));
    *push.mutable_step() = to_wire(Position{0, step});
    push.add_sections()->set_count(1);
    struct {
      uint64_t key = 7;
      float values[2] = {1, 2};
    } payload;
    apply(*sync, wire::PUSH, push, 0, {reinterpret_cast<const char*>(&payload), sizeof payload});
  }
  for (uint64_t number = 0; number < 4; ++number) {
    for (const uint32_t to : {0u, 1u}) {
      wire::PostRequest post;
      post.set_to(to);
      post.set_number(number);
      apply(*sync, wire::POST, post, 1 - to, "message " + std::to_string(number));
    }
  }
  EXPECT_EQ(write_and_read(*sync, Mode::sync, 1), 5u + 8u);
  EXPECT_EQ(write_and_read(*sync, Mode::sync, 1 << 20), 1u);

  const auto geo = make_state(Mode::geo);
  hello(*geo, 0);
  hello(*geo, 1);
  std::vector<uint64_t> keys(2'500'000);  // more than one item holds
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = i;
  geo->tables().sparse(0).changes().record(0, keys);
  EXPECT_EQ(write_and_read(*geo, Mode::geo, 1), 4u) << "three for worker 1, and one for worker 0, who is tracked without any";
}

TEST(StateCut, WhatIsTooLargeOrMissingIsAnError) {
  wire::StateImage image;
  image.set_extra(std::string(100, 'x'));
  EXPECT_EQ(serialise(image, 100).status().code(), Code::resource_exhausted);
  EXPECT_EQ(serialise(image, 103)->size(), 103u);

  const auto state = make_state(Mode::sync);
  hello(*state, 0);
  wire::PostRequest post;
  post.set_to(1);
  apply(*state, wire::POST, post, 0, "message");
  StateCut cut = state->cut();
  const auto head = cut.write(1, [](std::string_view) { return Status(); });
  EXPECT_EQ(StateImageReader().finish(*head).status().code(), Code::data_loss);
  EXPECT_EQ(StateImageReader().add("\xff\xff").code(), Code::data_loss);
  EXPECT_EQ(cut.write(1, [](std::string_view) { return Status::resource_exhausted("disk"); }).status().code(),
            Code::resource_exhausted);
}

}  // namespace
}  // namespace argosy::ps
