#include "argosy/observe/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

namespace argosy::observe {
namespace {

using testing::HasSubstr;

TEST(Metrics, TextIsInPrometheusFormat) {
  Registry registry;
  registry.counter("job_samples_total", "Samples\nof all.").add(3);
  registry.gauge("job_loss", "The loss.", {{"worker", "a\"b\\c"}}).set(0.25);
  Histogram& seconds = registry.histogram("job_seconds", "One step.", {0.1, 1});
  seconds.observe(0.1);
  seconds.observe(0.5);
  seconds.observe(7);
  EXPECT_EQ(registry.text(),
            "# HELP job_loss The loss.\n# TYPE job_loss gauge\njob_loss{worker=\"a\\\"b\\\\c\"} 0.25\n"
            "# HELP job_samples_total Samples\\nof all.\n# TYPE job_samples_total counter\njob_samples_total 3\n"
            "# HELP job_seconds One step.\n# TYPE job_seconds histogram\n"
            "job_seconds_bucket{le=\"0.1\"} 1\njob_seconds_bucket{le=\"1\"} 2\njob_seconds_bucket{le=\"+Inf\"} 3\n"
            "job_seconds_sum 7.6\njob_seconds_count 3\n");
  EXPECT_EQ(registry.brief(),
            "job_loss{worker=\"a\\\"b\\\\c\"} 0.25\njob_samples_total 3\njob_seconds_bucket{le=\"0.1\"} 1\n"
            "job_seconds_bucket{le=\"1\"} 2\njob_seconds_bucket{le=\"+Inf\"} 3\njob_seconds_sum 7.6\njob_seconds_count 3\n");
}

// Who stores the numbers must not grow by what a caller puts into labels.
TEST(Metrics, SeriesOfAFamilyAreBounded) {
  Registry registry;
  for (size_t i = 0; i < 2 * Registry::kMostSeries; ++i) registry.counter("x_total", "X.", {{"key", std::to_string(i)}}).add();
  const auto samples = parse_samples(registry.text());
  ASSERT_TRUE(samples.ok());
  EXPECT_EQ(samples->size(), Registry::kMostSeries + 1);
  double other = 0, all = 0;
  for (const Sample& sample : *samples) {
    all += sample.value;
    if (sample.label("key") == "other") other = sample.value;
  }
  EXPECT_EQ(other, Registry::kMostSeries);
  EXPECT_EQ(all, 2 * Registry::kMostSeries);
  const auto many = registry.collect([](Readings& readings) {
    for (size_t i = 0; i < 2 * Registry::kMostSeries; ++i) readings.gauge("y", "Y.", 1, {{"key", std::to_string(i)}});
  });
  EXPECT_EQ(parse_samples(registry.text())->size(), 2 * (Registry::kMostSeries + 1));
}

TEST(Metrics, ACollectorIsAskedUntilItsHandleIsGone) {
  Registry registry;
  {
    int asked = 0;
    const auto collection = registry.collect([&](Readings& readings) { readings.gauge("asked", "How often.", ++asked); });
    EXPECT_THAT(registry.text(), HasSubstr("\nasked 1\n"));
    EXPECT_THAT(registry.brief(), HasSubstr("asked 2\n"));
  }
  EXPECT_EQ(registry.text(), "");
}

TEST(Metrics, CountsFromSeveralThreadsAreAllThere) {
  Registry registry;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 10'000; ++n) {
        registry.counter("n_total", "N.").add();
        if (n % 1000 == 0) (void)registry.text();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(registry.counter("n_total", "N.").value(), 40'000);
}

TEST(Metrics, WhatIsWrittenIsRead) {
  Registry registry;
  registry.gauge("a", "A.", {{"x", "1,2}\n\"\\"}, {"y", ""}}).set(-1.5e-9);
  registry.gauge("b", "B.").set(std::nan(""));
  registry.gauge("c", "C.").set(-INFINITY);
  const auto samples = parse_samples(registry.text());
  ASSERT_TRUE(samples.ok()) << samples.status().message();
  ASSERT_EQ(samples->size(), 3);
  EXPECT_EQ((*samples)[0].label("x"), "1,2}\n\"\\");
  EXPECT_EQ((*samples)[0].label("y"), "");
  EXPECT_EQ((*samples)[0].label("z"), "");
  EXPECT_EQ((*samples)[0].value, -1.5e-9);
  EXPECT_TRUE(std::isnan((*samples)[1].value));
  EXPECT_EQ((*samples)[2].value, -INFINITY);
}

TEST(Metrics, ATextThatIsNoneIsRefused) {
  for (const char* text :
       {"a", "a{", "a{x} 1", "a{x=\"1} 1", "a{x=\"1\"y=\"2\"} 1", "{x=\"1\"} 1", "a one", "a 1 2", "a{x=\"\\"}) {
    const auto samples = parse_samples(text);
    ASSERT_FALSE(samples.ok()) << text;
    EXPECT_THAT(samples.status().message(), HasSubstr("is no line of metrics"));
  }
}

}  // namespace
}  // namespace argosy::observe
