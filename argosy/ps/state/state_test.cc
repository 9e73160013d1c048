// What a state accepts, record by record.
#include "argosy/ps/state/state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argosy/ps/server/server_scratch.h"
#include "argosy/ps/state/state_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using testing::HasSubstr;
using Verdict = State::Verdict;

StoredRecord push_of(uint32_t worker, uint64_t incarnation, uint64_t batch, std::vector<uint64_t> keys, bool statistics = false,
                     std::optional<Position> step = {}) {
  wire::PushRequest push;
  *push.mutable_caller() = caller_of(worker, incarnation);
  push.add_batches(batch);
  if (step) *push.mutable_step() = to_wire(*step);
  wire::Section* section = push.add_sections();
  section->set_count(keys.size());
  section->set_statistics(statistics);
  return stored(wire::PUSH, push, keys, std::vector<float>(keys.size() * (statistics ? 4 : 2), -1.0f));
}

// A table that counts no shows and clicks has no place for them: found out before the push is logged, not afterwards.
TEST(State, RefusesStatisticsOfATableThatDoesNotCount) {
  const auto state = make_state(job(Mode::async, 1, {counting_rows()}));
  ASSERT_OK(commit(*state, hello_of(0, 1)));
  const auto verdict = state->check(push_of(0, 1, 0, {5, 6}, true).record());
  EXPECT_EQ(verdict.status().code(), Code::invalid_argument);
  EXPECT_THAT(verdict.status().message(), HasSubstr("table 'rows' keeps no shows and clicks"));
  EXPECT_TRUE(commit(*state, push_of(0, 1, 0, {5, 6})).ok()) << "the same batch without them: nothing is left reserved";
}

// A push that was admitted before the hello of the worker's next process must not be done after that process was told its window.
TEST(State, FencesOffAPushThatWasAdmittedBeforeTheHelloOfTheNextProcess) {
  for (const Mode mode : {Mode::async, Mode::sync}) {
    const auto state = make_state(job(mode, 1, {counting_rows()}));
    ASSERT_OK(commit(*state, hello_of(0, 1)));
    ASSERT_TRUE(state->members().check(0, 1).ok()) << "the call of the first process is admitted";
    ASSERT_OK(commit(*state, hello_of(0, 2)));
    ASSERT_TRUE(state->members().is_quiet(0)) << "the second process is told its window";
    const StoredRecord late = push_of(0, 1, 0, {5}, false, mode == Mode::sync ? std::optional(Position{0, 0}) : std::nullopt);
    EXPECT_EQ(state->check(late.record()).status().code(), Code::aborted);
    EXPECT_EQ(state->members().worker(0).window.through(), 0u);
  }
}

TEST(State, FencesOffWhateverAReplacedProcessStillWants) {
  const auto state = make_state(job(Mode::async, 2, {counting_rows()}));
  ASSERT_OK(commit(*state, hello_of(0, 1)));
  ASSERT_OK(commit(*state, hello_of(0, 2)));
  const auto code_of = [&](wire::Method method, auto request) {
    *request.mutable_caller() = caller_of(0, 1);
    return state->check(stored(method, request).record()).status().code();
  };
  EXPECT_EQ(code_of(wire::LEAVE, wire::LeaveRequest()), Code::aborted);
  EXPECT_EQ(code_of(wire::GOODBYE, wire::GoodbyeRequest()), Code::aborted);
  EXPECT_EQ(code_of(wire::SET_RATE, wire::SetRateRequest()), Code::aborted);
  EXPECT_EQ(code_of(wire::SHRINK, wire::ShrinkRequest()), Code::aborted);
  EXPECT_EQ(code_of(wire::POST, wire::PostRequest()), Code::aborted);
  wire::GatherRequest gather;
  gather.set_call(1);
  EXPECT_EQ(code_of(wire::GATHER, gather), Code::aborted);
  wire::NextFileRequest file;
  file.set_number(1);
  file.set_files(2);
  EXPECT_EQ(code_of(wire::NEXT_FILE, file), Code::aborted);
}

// The job goes on without the worker, and nobody will fetch what it was to be told.
TEST(State, ForgetsTheGeoChangesOfALostWorker) {
  TableSpec rows = counting_rows();
  rows.geo = true;
  const auto state = make_state(job(Mode::geo, 2, {rows}));
  ASSERT_OK(commit(*state, hello_of(0, 1)));
  ASSERT_OK(commit(*state, hello_of(1, 2)));
  wire::WorkerLostRecord lost;
  lost.set_worker(1);
  ASSERT_OK(commit(*state, push_of(0, 1, 0, {5})));
  ASSERT_OK(commit(*state, stored(wire::WORKER_LOST, lost)));
  ASSERT_OK(commit(*state, push_of(0, 1, 1, {6, 7})));
  for (const auto& pending : state->tables().sparse(0).changes().pending()) EXPECT_EQ(pending.worker(), 0u);
}

}  // namespace
}  // namespace argosy::ps
