#include "argosy/observe/job_board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "argosy/observe/json_writer.h"

namespace argosy::observe {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

JobBoard two_and_two() {
  return JobBoard({.name = "clicks", .run = "r1", .folder = "logs", .command = "train.py"},
                  {{.name = "server 0", .log = "logs/serverlog.0", .address = "127.0.0.1:6170", .metrics = "", .worker = false},
                   {.name = "server 1", .log = "logs/serverlog.1", .address = "127.0.0.1:6171", .metrics = "", .worker = false},
                   {.name = "worker 0", .log = "logs/workerlog.0", .address = "", .metrics = "", .worker = true},
                   {.name = "worker 1", .log = "logs/workerlog.1", .address = "", .metrics = "", .worker = true}});
}

std::string worker_report(double samples, double loss, double auc) {
  return fmt::format(
      "argosy_worker_samples_total {}\nargosy_worker_measure{{measure=\"loss\"}} {}\nargosy_worker_measure{{measure=\"auc\"}} "
      "{}\nargosy_worker_push_seconds_sum 1.5\nargosy_worker_push_seconds_count 10\n",
      samples, loss, auc);
}

TEST(JobBoard, AddsUpWhatProcessesReport) {
  JobBoard board = two_and_two();
  for (size_t i = 0; i < 4; ++i) board.started(i, 100 + static_cast<int64_t>(i));
  board.report(2, worker_report(1000, 0.4, 0.7));
  board.report(3, worker_report(3000, 0.6, 0.8));
  for (const size_t server : {0, 1}) {
    board.report(server,
                 "argosy_server_table_rows{server=\"0\",table=\"ids\"} 5\nargosy_server_table_memory_bytes{table=\"ids\"} 400\n"
                 "argosy_server_table_memory_bytes{table=\"w\"} 80\nargosy_server_pushes_total 7\n"
                 "argosy_server_table_norm{table=\"w\"} 3\nargosy_server_table_norm{table=\"ids\"} 0.5\n"
                 "argosy_server_table_rows_by_norm{norm_up_to=\"1\",table=\"ids\"} 5\n"
                 "argosy_server_table_rows_by_norm{norm_up_to=\"inf\",table=\"ids\"} 0\n");
  }
  const JobView view = board.view();
  EXPECT_EQ(view.state, "running");
  EXPECT_EQ(view.alive, 4);
  EXPECT_EQ(view.samples, 4000);
  EXPECT_DOUBLE_EQ(view.loss, 0.5);
  EXPECT_DOUBLE_EQ(view.auc, 0.75);
  EXPECT_DOUBLE_EQ(view.processes[2].push_seconds, 0.15);
  EXPECT_EQ(view.processes[0].pushes, 7);
  ASSERT_EQ(view.tables.size(), 2);
  EXPECT_EQ(view.tables[0].name, "ids");
  EXPECT_EQ(view.tables[0].rows, 10);
  EXPECT_EQ(view.tables[0].memory_bytes, 800);
  EXPECT_EQ(view.tables[1].memory_bytes, 160);
  EXPECT_DOUBLE_EQ(view.tables[0].norm, 0.5) << "a mean over rows";
  EXPECT_EQ(view.tables[0].rows_looked_at(), 10);
  EXPECT_DOUBLE_EQ(view.tables[1].norm, std::sqrt(18.0)) << "of both parts together";
}

// What a process does for long is shown beside it while it lasts: the line on the terminal has the one that is least far.
TEST(JobBoard, ShowsLongWork) {
  JobBoard board = two_and_two();
  for (size_t i = 0; i < 4; ++i) board.started(i, 100 + static_cast<int64_t>(i));
  board.report(0, "argosy_work_ratio{work=\"recovery\"} 0.5\n");
  board.report(2, "argosy_work_ratio{work=\"load\"} 0.25\n");
  board.report(3, "argosy_work_ratio{work=\"shuffle\"} NaN\n");
  JobView view = board.view();
  EXPECT_EQ(work_text(view.processes[0]), "recovery 50 %");
  EXPECT_EQ(work_text(view.processes[1]), "");
  EXPECT_EQ(work_text(view.processes[3]), "shuffle");
  EXPECT_THAT(job_line(view, 200), HasSubstr(" · worker 0: load 25 %, 2 more · 4/4 alive"));
  EXPECT_THAT(job_text(view), AllOf(HasSubstr("running, load 25 %"), HasSubstr("running, recovery 50 %")));
  EXPECT_THAT(job_json(view), AllOf(HasSubstr("\"work\":\"load\""), HasSubstr("\"work_ratio\":0.25")));
  board.report(2, "argosy_worker_samples_total 10\n");
  board.ended(0, false, "killed by signal 9", "");
  view = board.view();
  EXPECT_EQ(work_text(view.processes[2]), "") << "it has ended";
  EXPECT_EQ(work_text(view.processes[0]), "") << "so has the process";
}

// A job that hangs before its first batch hangs too; one that reads, computes or counts nothing does not.
TEST(JobBoard, AStallIsToldBeforeTheFirstSampleToo) {
  JobBoard board = two_and_two();
  const auto wait = [] { std::this_thread::sleep_for(std::chrono::milliseconds(300)); };
  board.started(2, 100);
  wait();
  EXPECT_EQ(board.stall().seconds, 0) << "it says nothing: it may be no program of ours";
  board.report(2, "process_cpu_seconds_total 5\n");
  wait();
  board.report(2, "process_cpu_seconds_total 5.0001\n");
  EXPECT_GE(board.stall().seconds, 0.3);
  EXPECT_FALSE(board.stall().begun);
  board.report(2, "process_cpu_seconds_total 6\n");
  EXPECT_LT(board.stall().seconds, 0.3) << "it computes";
  wait();
  board.report(2, "process_cpu_seconds_total 6\nargosy_work_ratio{work=\"load\"} 0.25\n");
  EXPECT_LT(board.stall().seconds, 0.3) << "it loads";
  wait();
  board.report(2, "process_cpu_seconds_total 6\nargosy_work_ratio{work=\"load\"} 0.25\n");
  EXPECT_GE(board.stall().seconds, 0.3) << "and does not go on";
  board.report(2, "argosy_worker_samples_total 10\n");
  wait();
  board.report(2, "process_cpu_seconds_total 60\nargosy_worker_samples_total 10\n");
  EXPECT_GE(board.stall().seconds, 0.3) << "once it has trained, batches count alone";
  EXPECT_TRUE(board.stall().begun);
}

// The time left is that of the pass that runs, not of one that has ended: the second pass begins where less has been read.
TEST(JobBoard, ANewPassIsTimedAnew) {
  JobBoard board = two_and_two();
  board.started(2, 100);
  const auto report = [&](double ratio) { board.report(2, fmt::format("argosy_worker_pass_ratio {}\n", ratio)); };
  for (const double ratio : {0.01, 0.9, 0.05}) report(ratio);
  std::this_thread::sleep_for(std::chrono::milliseconds(3200));  // a time left is told after some seconds of a pass
  report(0.06);
  EXPECT_GT(board.view().eta_seconds, 290) << "0.01 of it took 3.2 s";
}

// The last words of a server that ends say nothing of tables, which it has let go: what they were is what a report shows.
TEST(JobBoard, KeepsTheTablesOfServersThatEnd) {
  JobBoard board = two_and_two();
  board.started(0, 100);
  board.report(0, "argosy_server_table_rows{table=\"ids\"} 5\nargosy_server_table_memory_bytes{table=\"ids\"} 400\n");
  board.report(0, "process_threads 3\n");
  board.ended(0, true, "", "");
  const JobView view = board.view();
  ASSERT_EQ(view.tables.size(), 1);
  EXPECT_EQ(view.tables[0].rows, 5);
  EXPECT_EQ(view.processes[0].rows, 5);
  EXPECT_EQ(view.processes[0].table_bytes, 400);
}

TEST(JobBoard, AFailureWithoutALogIsShownToo) {
  JobBoard board = two_and_two();
  board.started(3, 100);
  board.ended(3, false, "killed by signal 9", "");
  EXPECT_THAT(job_text(board.view()), HasSubstr("---- the end of logs/workerlog.1:\n(nothing was written)\n----"));
}

TEST(JobBoard, CountsRestartsAndKeepsTheCause) {
  JobBoard board = two_and_two();
  for (size_t i = 0; i < 4; ++i) board.started(i, 100);
  board.ended(3, false, "killed by signal 9 (Killed)", "last words\n");
  EXPECT_EQ(board.view().alive, 3);
  EXPECT_EQ(board.view().processes[3].tail, "last words\n");
  ASSERT_NE(board.view().last_warning(), nullptr);
  EXPECT_EQ(board.view().last_warning()->text, "killed by signal 9 (Killed)");
  board.started(3, 101);
  const JobView view = board.view();
  EXPECT_EQ(view.restarts, 1);
  EXPECT_EQ(view.processes[3].restarts, 1);
  EXPECT_EQ(view.processes[3].state, ProcessView::State::running);
}

TEST(JobBoard, StoppedProcessesHaveNotFailed) {
  JobBoard board = two_and_two();
  for (size_t i = 0; i < 4; ++i) board.started(i, 100);
  board.stopping("stopped by signal 15");
  board.ended(0, false, "exit status 143", "");
  board.finished(143);
  EXPECT_EQ(board.view().processes[0].state, ProcessView::State::stopped);
  EXPECT_EQ(board.view().processes[2].state, ProcessView::State::stopped);
  EXPECT_EQ(board.view().state, "stopped");
  EXPECT_EQ(*board.view().exit_code, 143);
}

TEST(JobBoard, AJobWhoseProcessWasKilledHasFailed) {
  JobBoard board = two_and_two();
  board.finished(128 + 9);
  EXPECT_EQ(board.view().state, "failed");
}

TEST(JobBoard, EventsAndLedgerAreBounded) {
  JobBoard board = two_and_two();
  for (int i = 0; i < 1000; ++i)
    board.event(LogLevel::info, "server 0", fmt::format("pass {}: 10 samples read, 10 applied once", i));
  EXPECT_EQ(board.view().events.size(), 100);
  EXPECT_EQ(board.view().ledger.size(), 50);
  EXPECT_EQ(board.view().ledger.back(), "server 0: pass 999: 10 samples read, 10 applied once");
  EXPECT_EQ(board.view().last_warning(), nullptr);
}

TEST(JobBoard, AReportOfAnotherVersionIsPassedOver) {
  JobBoard board = two_and_two();
  board.started(2, 100);
  board.report(2, "this is no report");
  EXPECT_FALSE(is_known(board.view().processes[2].samples));
}

TEST(JobView, TheLineFitsTheTerminal) {
  JobBoard board = two_and_two();
  for (size_t i = 0; i < 4; ++i) board.started(i, 100);
  board.report(2, worker_report(1'234'567, 0.4, 0.7));
  board.event(LogLevel::warning, "worker 0", "the disk of the log is full; nothing is acknowledged");
  const std::string line = job_line(board.view(), 200);
  EXPECT_THAT(line, AllOf(HasSubstr("1,234,567 samples"), HasSubstr("loss 0.4000"), HasSubstr("AUC 0.7000"),
                          HasSubstr("4/4 alive"), HasSubstr("worker 0: the disk of the log is full"), Not(HasSubstr("\n"))));
  const std::string short_line = job_line(board.view(), 40);
  size_t columns = 0;
  for (const char c : short_line) columns += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  EXPECT_LE(columns, 40);
  EXPECT_TRUE(short_line.ends_with("…"));
}

TEST(JobView, TextAndJsonHaveEverybody) {
  JobBoard board = two_and_two();
  for (size_t i = 0; i < 4; ++i) board.started(i, 100);
  board.report(2, worker_report(1000, 0.4, 0.7));
  board.ended(1, false, "exit status 3", "no </script> here\n");
  const std::string text = job_text(board.view());
  for (const char* name : {"clicks (run r1): running", "worker 0", "worker 1", "server 0", "failed: exit status 3", "0.7000",
                           "the end of logs/serverlog.1"})
    EXPECT_THAT(text, HasSubstr(name));
  const std::string json = job_json(board.view());
  EXPECT_THAT(json, AllOf(HasSubstr("\"name\":\"worker 1\""), HasSubstr("\"samples\":1000"), HasSubstr("\"auc\":null"),
                          HasSubstr("\"how\":\"exit status 3\""), Not(HasSubstr("</script>"))));
}

TEST(JobView, QuantitiesReadEasily) {
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(count_text(kUnknown), "–");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(1500), "1.5 KB");
  EXPECT_EQ(bytes_text(2.5e9), "2.5 GB");
  EXPECT_EQ(bytes_text(123e6), "123 MB");
  EXPECT_EQ(duration_text(65), "1:05");
  EXPECT_EQ(duration_text(3725), "1:02:05");
}

TEST(JsonWriter, WritesWhatJsonAllows) {
  JsonWriter json;
  json.begin_object().text("a\"b", "x\n\t\x01\\<é\xff").number("n", 1.5).number("none", kUnknown).boolean("yes", true);
  json.begin_array("list").number({}, 1).number({}, 2).begin_object().end_object().end_array().end_object();
  EXPECT_EQ(json.json(),
            "{\"a\\\"b\":\"x\\n\\u0009\\u0001\\\\\\u003cé\\ufffd\",\"n\":1.5,\"none\":null,\"yes\":true,\"list\":[1,2,{}]}");
}

}  // namespace
}  // namespace argosy::observe
