#include "argosy/rpc/work_pool.h"

#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <string>

namespace argosy::rpc {
namespace {

TEST(WorkPool, LetsSourcesTakeTurns) {
  std::latch gate(1), done(7);
  std::string order;  // the pool has one thread
  WorkPool pool("test", 1);
  pool.add(0, [&] { gate.wait(); });
  const auto add = [&](WorkPool::Source source, char name) {
    pool.add(source, [&, name] {
      order += name;
      done.count_down();
    });
  };
  for (int i = 0; i < 4; ++i) add(1, static_cast<char>('a' + i));
  add(2, 'A');
  add(2, 'B');
  add(3, 'x');
  gate.count_down();
  done.wait();
  EXPECT_EQ(order, "aAxbBcd");
}

TEST(WorkPool, DropsWhatComesAfterStop) {
  const auto held = std::make_shared<int>(0);
  WorkPool pool("test", 2);
  pool.stop();
  pool.add(1, [held] { ++*held; });
  pool.stop();
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(*held, 0);
}

}  // namespace
}  // namespace argosy::rpc
