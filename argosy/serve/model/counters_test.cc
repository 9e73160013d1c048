#include "argosy/serve/model/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "argosy/base/text.h"
#include "argosy/base/thread.h"

namespace argosy::serve {
namespace {

using testing::HasSubstr;

TEST(ServeCounters, CountRequestsByStatus) {
  ServeCounters counters;
  counters.add_request(200, 0.001);
  counters.add_request(200, 0.002);
  counters.add_request(429, 0.0001);
  counters.add_request(Code::not_found, 0.001);
  const std::string text = counters.text("ctr", "3");
  EXPECT_THAT(text, HasSubstr("argosy_serve_requests_total{code=\"200\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("argosy_serve_requests_total{code=\"429\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("argosy_serve_requests_total{code=\"not_found\",protocol=\"grpc\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("argosy_serve_model_info{model=\"ctr\",version=\"3\"} 1\n"));
}

// A bucket of Prometheus counts all that is at most its bound, and the last one counts all.
TEST(ServeCounters, BucketsCountWhatIsWithinTheirBound) {
  ServeCounters counters;
  for (const double seconds : {0.0005, 0.02, 99.0}) counters.add_request(200, seconds);
  const std::string text = counters.text("", "");
  EXPECT_THAT(text, HasSubstr("_bucket{le=\"0.0005\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{le=\"0.01\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{le=\"0.025\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{le=\"10\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("_bucket{le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("argosy_serve_request_seconds_count 3\n"));
}

TEST(ServeCounters, CountRunsOfTheModelAndVersions) {
  ServeCounters counters;
  counters.add_batch(3, 12);
  counters.add_batch(1, 4);
  counters.add_reload(true);
  counters.add_reload(false);
  counters.add_reload(false);
  counters.set_queued(5);
  counters.set_connections(6);
  const std::string text = counters.text("", "");
  for (const char* line :
       {"argosy_serve_batches_total 2\n", "argosy_serve_batched_requests_total 4\n", "argosy_serve_samples_total 16\n",
        "argosy_serve_reloads_total 1\n", "argosy_serve_failed_reloads_total 2\n", "argosy_serve_queued_requests 5\n",
        "argosy_serve_connections 6\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

// As Prometheus wants it: words and kind of each number once, before its first value.
TEST(ServeCounters, EachNumberIsDescribedOnce) {
  ServeCounters counters;
  counters.add_request(200, 0.001);
  std::set<std::string> described;
  for (const std::string& line : split(counters.text("m", "1"), '\n')) {
    if (line.starts_with("# TYPE ")) {
      EXPECT_TRUE(described.insert(split(line, ' ')[2]).second) << line;
    }
    if (line.empty() || line.starts_with('#')) continue;
    std::string name = line.substr(0, line.find_first_of(" {"));
    for (const char* part : {"_bucket", "_sum", "_count"}) {
      if (name.ends_with(part)) name.resize(name.size() - std::string_view(part).size());
    }
    EXPECT_TRUE(described.contains(name)) << line;
  }
  EXPECT_EQ(described.size(), 10);
}

TEST(ServeCounters, LoseNothingBetweenThreads) {
  ServeCounters counters;
  std::vector<Thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back("count", [&] {
      for (int k = 0; k < 1000; ++k) counters.add_request(200, 0.001), counters.add_batch(1, 2);
    });
  }
  for (Thread& thread : threads) thread.join();
  EXPECT_THAT(counters.text("", ""), HasSubstr("argosy_serve_requests_total{code=\"200\"} 4000\n"));
  EXPECT_THAT(counters.text("", ""), HasSubstr("argosy_serve_samples_total 8000\n"));
}

}  // namespace
}  // namespace argosy::serve
