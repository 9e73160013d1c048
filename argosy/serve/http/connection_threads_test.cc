#include "argosy/serve/http/connection_threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace argosy::serve {
namespace {

using testing::HasSubstr;

constexpr std::chrono::seconds kPatience{30};

// A connection that stays until it is told to go.
struct Connection {
  std::promise<bool> begun;  // with refusing()
  std::promise<void> end;

  std::function<void()> task() {
    return [this] {
      begun.set_value(ConnectionThreads::refusing());
      end.get_future().wait();
    };
  }
  bool was_refused() {
    auto future = begun.get_future();
    EXPECT_EQ(future.wait_for(kPatience), std::future_status::ready);
    return future.get();
  }
};

TEST(ConnectionThreads, ServeAsManyAsTheyAreAndRefuseTheNext) {
  ServeCounters counters;
  ConnectionThreads threads(2, counters);
  Connection one, two, three;
  threads.enqueue(one.task());
  threads.enqueue(two.task());
  EXPECT_FALSE(one.was_refused());
  EXPECT_FALSE(two.was_refused());
  threads.enqueue(three.task());
  EXPECT_TRUE(three.was_refused()) << "answered, by the thread that says no";
  EXPECT_THAT(counters.text("", ""), HasSubstr("argosy_serve_connections 2\n"));
  for (Connection* connection : {&one, &two, &three}) connection->end.set_value();
  threads.shutdown();
  EXPECT_THAT(counters.text("", ""), HasSubstr("argosy_serve_connections 0\n"));
}

TEST(ConnectionThreads, APlaceThatIsFreeAgainIsUsed) {
  ServeCounters counters;
  ConnectionThreads threads(1, counters);
  for (int i = 0; i < 3; ++i) {
    Connection connection;
    threads.enqueue(connection.task());
    const bool refused = connection.was_refused();
    connection.end.set_value();
    while (counters.text("", "").find("argosy_serve_connections 0\n") == std::string::npos) std::this_thread::yield();
    EXPECT_FALSE(refused) << "connection " << i;
  }
  threads.shutdown();
}

// What has been accepted is served to its end; the library calls shutdown() after its last enqueue().
TEST(ConnectionThreads, ShutdownWaitsForOpenConnections) {
  ServeCounters counters;
  ConnectionThreads threads(1, counters);
  Connection open;
  threads.enqueue(open.task());
  EXPECT_FALSE(open.was_refused());
  std::future<void> ending = std::async(std::launch::async, [&] { threads.shutdown(); });
  EXPECT_EQ(ending.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  open.end.set_value();
  EXPECT_EQ(ending.wait_for(kPatience), std::future_status::ready);
}

TEST(ConnectionThreads, NoOtherThreadRefuses) { EXPECT_FALSE(ConnectionThreads::refusing()); }

}  // namespace
}  // namespace argosy::serve
