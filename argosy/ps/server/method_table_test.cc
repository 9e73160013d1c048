#include "argosy/ps/server/method_table.h"

#include <gmock/gmock.h>

#include "argosy/ps/server/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using ::testing::HasSubstr;

// Keeps the answer to a call.
class Answer : public rpc::ReplySink {
 public:
  void finish(Status status, std::string header, std::vector<rpc::Slice>) override {
    result = status.ok() ? Result<std::string>(std::move(header)) : Result<std::string>(std::move(status));
  }
  bool cancelled() const override { return false; }

  std::optional<Result<std::string>> result;
};

class MethodTableTest : public ::testing::Test {
 protected:
  MethodTableTest() {
    state.set(std::move(State::make(job(Mode::async, 1, {}), {.job = "test"})).value());
    state->members().hello(0, 1, "host:1");
    table.add<wire::StatsRequest>(wire::STATS, rpc::Lane::read, Allow::workers,
                                  [](const CallPtr& call, State&, const wire::StatsRequest&) { call->send({"stats"}); });
    table.add<wire::HeartbeatRequest>(wire::HEARTBEAT, rpc::Lane::urgent, Allow::not_compared,
                                      [](const CallPtr& call, State&, const wire::HeartbeatRequest&) { call->send({"beat"}); });
    table.add<wire::LedgerRequest>(
        wire::LEDGER, rpc::Lane::read, [](const wire::LedgerRequest&) { return Allow::not_compared; },
        [](const CallPtr&, State&, const wire::LedgerRequest&) { throw std::bad_alloc(); });
    table.add_open<wire::HelloRequest>(wire::HELLO, rpc::Lane::change,
                                       [](const CallPtr& call, const wire::HelloRequest&) { call->send({"hello"}); });
  }
  Result<std::string> ask(int method, uint64_t incarnation = 1) {
    wire::HeartbeatRequest request;
    request.mutable_caller()->set_job("test");
    request.mutable_caller()->set_incarnation(incarnation);
    return ask_with(method, method == wire::HELLO ? "" : request.SerializeAsString());
  }
  Result<std::string> ask_with(int method, const std::string& header) {
    auto answer = std::make_shared<Answer>();
    table.dispatch(std::make_shared<Call>(rpc::Request{.method = static_cast<uint16_t>(method),
                                                       .header = header,
                                                       .payload = {},
                                                       .peer = "test",
                                                       .deadline = Deadline::after_seconds(10)},
                                          rpc::Reply(answer)));
    return answer->result.value_or(Status::internal("there was no answer"));
  }

  Limit limit{"observers", 4, "observers", "stop some"};
  RunGuard run{"", false};
  Observers observers{limit};
  StateHolder state;
  Ending ending{"server 0"};
  ChangeCounts counts;
  CallAdmission admission{"server 0", Durability::none, run, observers, state, counts};
  MethodTable table{"server 0", ending, admission};
};

TEST_F(MethodTableTest, AnEntryHasItsLaneItsRuleAndItsHandler) {
  EXPECT_EQ(table.lane_of(wire::STATS), rpc::Lane::read);
  EXPECT_EQ(table.lane_of(wire::HEARTBEAT), rpc::Lane::urgent);
  EXPECT_EQ(table.lane_of(12345), rpc::Lane::change) << "whatever it is, it holds up nobody who reads";
  EXPECT_EQ(*ask(wire::HEARTBEAT), "beat");
  EXPECT_EQ(ask(wire::STATS).status().code(), Code::unauthenticated) << "the worker has not compared";
  state->members().compared(0, 1);
  EXPECT_EQ(*ask(wire::STATS), "stats");
  EXPECT_EQ(*ask(wire::HELLO), "hello");
}

TEST_F(MethodTableTest, EveryCallIsAnswered) {
  EXPECT_EQ(ask(99).status().code(), Code::unimplemented);
  EXPECT_EQ(ask_with(wire::STATS, "\xff\xff").status().code(), Code::invalid_argument);
  EXPECT_THAT(ask(wire::LEDGER).status().message(), HasSubstr("has no memory for method"));
  EXPECT_EQ(ask(wire::STATS, 7).status().code(), Code::failed_precondition) << "this worker is not known";
  EXPECT_EQ(ask(wire::STATS, 0).status().code(), Code::unauthenticated) << "nobody has said Hello";
  (void)ending.stop();
  EXPECT_EQ(ask(wire::HEARTBEAT).status().code(), Code::unavailable);
}

}  // namespace
}  // namespace argosy::ps
