#include "argosy/ps/server/server_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "argosy/ps/server/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using observe::Health;
using testing::HasSubstr;
using testing::Not;

// The sum over the series of this name that have this text in one of their labels; -1: there is none.
double reading(const std::string& name, const std::string& label = "") {
  double sum = 0;
  bool found = false;
  const auto samples = observe::parse_samples(observe::Registry::process().text());
  for (const observe::Sample& sample : *samples) {
    bool has = label.empty();
    for (const auto& [key, value] : sample.labels) has |= value == label;
    if (sample.name != name || !has) continue;
    sum += sample.value;
    found = true;
  }
  return found ? sum : -1;
}

TEST(ServerMetrics, SayWhatTheServerHolds) {
  {
    const JobSpec spec = job(Mode::async, 1, {counting_rows(), counting_dense()});
    InProcess process(InProcess::options());
    EXPECT_EQ(reading("argosy_server_pushes_total"), -1) << "there is no job yet";
    EXPECT_THAT(Health::process().problems(Health::Kind::ready), HasSubstr("no worker has said yet what the job is"));
    EXPECT_EQ(Health::process().problems(Health::Kind::healthy), "");
    Worker worker = process.worker(spec, 0);
    ASSERT_OK(worker.hello());
    ASSERT_OK(worker.init_dense(1, {1, 2, 3, 4}));
    const double pulls = reading("argosy_server_pulls_total");
    ASSERT_OK(worker.pull_rows(0, {1, 2, 3}));
    EXPECT_EQ(reading("argosy_server_pulls_total"), pulls + 1);
    EXPECT_EQ(Health::process().problems(Health::Kind::ready), "");
    EXPECT_EQ(reading("argosy_server_workers", "live"), 1);
    EXPECT_EQ(reading("argosy_server_workers", "lost"), 0);
    EXPECT_EQ(reading("argosy_server_table_rows", spec.tables[0].name), 3);
    EXPECT_GT(reading("argosy_server_table_memory_bytes", spec.tables[1].name), 0);
    EXPECT_NEAR(reading("argosy_server_table_norm", spec.tables[1].name), std::sqrt(30), 1e-6) << "of 1, 2, 3, 4";
    EXPECT_EQ(reading("argosy_server_table_rows_by_norm", spec.tables[0].name), 3) << "each row is in one bucket";
    EXPECT_EQ(reading("argosy_server_table_rows_by_norm", "0.001"), 3) << "they are zeros";
    EXPECT_EQ(reading("argosy_server_limit_most", "parked_calls"), 65536);
    EXPECT_EQ(reading("argosy_server_snapshot_age_seconds"), -1) << "none was cut";
    EXPECT_EQ(reading("argosy_server_snapshot_failures_total"), 0) << "and none has failed";
    EXPECT_EQ(reading("argosy_server_log_refused_total"), 0);
  }
  EXPECT_EQ(reading("argosy_server_table_rows"), -1) << "a server that is gone says nothing";
  EXPECT_EQ(Health::process().problems(Health::Kind::ready), "");
}

}  // namespace
}  // namespace argosy::ps
