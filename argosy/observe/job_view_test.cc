#include "argosy/observe/job_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace argosy::observe {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

JobView small_job() {
  JobView view;
  view.name = "clicks";
  view.run = "r1";
  view.folder = "logs";
  view.host = "here";
  view.state = "running";
  view.started = 1000;
  view.now = 1000 + 65;
  view.samples = 12'345;
  view.samples_per_second = 1'234.4;
  view.loss = 0.51234;
  view.auc = 0.75;
  view.eta_seconds = 3661;
  view.alive = 2;
  ProcessView worker;
  worker.name = "worker 0", worker.worker = true, worker.pid = 11, worker.state = ProcessView::State::running;
  worker.samples = 12'345, worker.samples_per_second = 1'234.4, worker.loss = 0.51234, worker.pull_seconds = 0.0025;
  worker.pass_ratio = 0.5, worker.memory_bytes = 12'345'678;
  ProcessView server;
  server.name = "server 0", server.pid = 12, server.address = "127.0.0.1:6170", server.state = ProcessView::State::running;
  server.rows = 1'000'000, server.pushes = 7, server.table_bytes = 2e9;
  view.processes = {server, worker};
  return view;
}

TEST(JobText, CountsBytesAndTimesReadLikeAPersons) {
  EXPECT_EQ(count_text(1'234'567.4), "1,234,567");
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(1'234), "1.2 KB");
  EXPECT_EQ(bytes_text(12'345'678), "12 MB");
  EXPECT_EQ(bytes_text(5e15), "5000 TB") << "there is no larger unit";
  EXPECT_EQ(duration_text(5), "0:05");
  EXPECT_EQ(duration_text(245.9), "4:05");
  EXPECT_EQ(duration_text(7445), "2:04:05");
  EXPECT_EQ(duration_text(-3), "0:00") << "a clock that was set back";
}

TEST(JobText, WhatIsNotKnownIsADash) {
  EXPECT_EQ(count_text(kUnknown), "–");
  EXPECT_EQ(bytes_text(kUnknown), "–");
  EXPECT_EQ(duration_text(kUnknown), "–");
}

TEST(JobText, EveryStateHasAName) {
  using State = ProcessView::State;
  EXPECT_STREQ(state_name(State::waiting), "waiting");
  EXPECT_STREQ(state_name(State::running), "running");
  EXPECT_STREQ(state_name(State::done), "done");
  EXPECT_STREQ(state_name(State::failed), "failed");
  EXPECT_STREQ(state_name(State::stopped), "stopped");
}

TEST(JobLine, SaysWhatIsKnown) {
  JobView view = small_job();
  EXPECT_EQ(job_line(view, 200), "1:05 · 1,234 samples/s · 12,345 samples · loss 0.5123 · AUC 0.7500 · 1:01:01 left · 2/2 alive");
  view.samples = 0, view.loss = view.auc = view.eta_seconds = kUnknown;
  EXPECT_EQ(job_line(view, 200), "1:05 · 2/2 alive") << "before the first batch";
  view.staleness = 4;
  EXPECT_THAT(job_line(view, 200), HasSubstr("stale 4"));
}

TEST(JobLine, EndsWithTheLastWarning) {
  JobView view = small_job();
  view.events = {{1, LogLevel::error, "server 0", "the disk is full"},
                 {2, LogLevel::warning, "worker 0", "a bad line"},
                 {3, LogLevel::info, "worker 0", "pass 1 begins"}};
  ASSERT_NE(view.last_warning(), nullptr);
  EXPECT_EQ(view.last_warning()->text, "a bad line");
  EXPECT_TRUE(job_line(view, 200).ends_with(" · worker 0: a bad line"));
  EXPECT_EQ(JobView().last_warning(), nullptr);
}

// A line that is wider than the terminal would not be written over by the next one. The width is that of characters, not of
// bytes.
TEST(JobLine, IsNoWiderThanAsked) {
  const JobView view = small_job();
  for (size_t width = 1; width < 100; ++width) {
    const std::string line = job_line(view, width);
    size_t columns = 0;
    for (const char c : line) columns += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    EXPECT_LE(columns, width) << line;
  }
  EXPECT_EQ(job_line(view, 8), "1:05 · …");
}

TEST(JobText, HasALineForEachProcess) {
  const std::string text = job_text(small_job());
  EXPECT_THAT(text, HasSubstr("clicks (run r1): running, 1:05 since "));
  EXPECT_THAT(text, HasSubstr(" on here; logs in logs\n"));
  EXPECT_THAT(text, testing::ContainsRegex("worker 0 +11 +1,234 +12,345 +0.5123 +– +2.5 ms +– +50 % +12 MB +running"));
  EXPECT_THAT(text, testing::ContainsRegex("server 0 +12 +127.0.0.1:6170 +7 +– +1,000,000 +2.0 GB +– +none +– +running"));
  EXPECT_THAT(text, Not(HasSubstr("  table ")));
}

TEST(JobText, SaysWhyAProcessIsNotWell) {
  JobView view = small_job();
  ProcessView& worker = view.processes[1];
  worker.state = ProcessView::State::failed, worker.how = "killed by SIGKILL", worker.restarts = 2;
  worker.log = "logs/workerlog.0", worker.tail = "out of memory\n";
  EXPECT_THAT(job_text(view), AllOf(HasSubstr("failed: killed by SIGKILL, 2 restarts\n"),
                                    HasSubstr("---- the end of logs/workerlog.0:\nout of memory\n----\n")));
  worker.state = ProcessView::State::done, worker.restarts = 1, worker.how = "exit status 0";
  EXPECT_THAT(job_text(view), AllOf(HasSubstr("done, 1 restart\n"), Not(HasSubstr("exit status 0"))));
  worker.state = ProcessView::State::running, worker.how = "", worker.restarts = 0, worker.straggler = true;
  EXPECT_THAT(job_text(view), HasSubstr("running, slow\n"));
}

TEST(JobText, ShowsTablesLedgerAndTheLastEvents) {
  JobView view = small_job();
  view.tables = {{.name = "ids", .rows = 10, .cold_rows = 2, .memory_bytes = 800}, {.name = "w", .memory_bytes = 80}};
  view.ledger = {"pass 0: 10 read, 10 applied"};
  for (int i = 0; i < 10; ++i) view.events.push_back({1000.0 + i, LogLevel::info, "worker 0", "event " + std::to_string(i)});
  const std::string text = job_text(view);
  EXPECT_THAT(text, testing::ContainsRegex("ids +10 +2 +800 B"));
  EXPECT_THAT(text, testing::ContainsRegex("w +– +– +80 B")) << "a dense table has no rows to count";
  EXPECT_THAT(text, HasSubstr("\n  pass 0: 10 read, 10 applied\n"));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("event 1\n")), HasSubstr("worker 0: event 2\n"), HasSubstr("event 9\n")));
}

TEST(JobText, OfServersWithTwoProcessesItSaysWhichLeads) {
  JobView view = small_job();
  ProcessView& primary = view.processes.front();
  ASSERT_FALSE(primary.worker);
  primary.replica_epoch = 3;
  primary.replica_whole = 0;
  ProcessView follower = primary;
  follower.name = "follower 0";
  follower.replica_epoch = kUnknown;
  follower.follower_lag_records = 12;
  view.processes.push_back(follower);
  EXPECT_THAT(job_text(view), AllOf(HasSubstr("primary of epoch 3, alone"), HasSubstr("follower, 12 records behind")));
  view.processes.front().replica_whole = 1;
  EXPECT_THAT(job_text(view), Not(HasSubstr("alone")));
}

TEST(JobText, AJobOfWorkersOnlyHasNoServers) {
  JobView view = small_job();
  view.processes.erase(view.processes.begin());
  EXPECT_THAT(job_text(view), AllOf(HasSubstr("worker 0"), Not(HasSubstr("server"))));
}

TEST(JobJson, WhatIsNotKnownIsNullAndEverythingElseIsThere) {
  JobView view = small_job();
  view.exit_code = 3;
  const std::string json = job_json(view);
  for (const char* part : {"\"clicks\"", "\"r1\"", "\"worker 0\"", "\"server 0\"", "12345", "null"})
    EXPECT_THAT(json, HasSubstr(part));
  EXPECT_THAT(json, Not(HasSubstr("nan")));
  EXPECT_EQ(std::ranges::count(json, '{'), std::ranges::count(json, '}'));
}

TEST(JobJson, ATableHasItsPushesByStaleness) {
  JobView view = small_job();
  view.tables = {{.name = "w", .pushes_by_staleness = {{0, 3}, {std::numeric_limits<double>::max(), 1}}, .staleness_sum = 200}};
  EXPECT_THAT(job_json(view),
              AllOf(HasSubstr("\"mean_staleness\":50"), HasSubstr("\"pushes_by_staleness\":{\"0\":3,\"inf\":1}")));
}

}  // namespace
}  // namespace argosy::observe
