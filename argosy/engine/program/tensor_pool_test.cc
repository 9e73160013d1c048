#include "argosy/engine/program/tensor_pool.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <thread>

namespace argosy::engine {
namespace {

constexpr int64_t kLarge = 1 << 20;

TEST(TensorPool, ATensorIsAsAskedFor) {
  const at::Tensor tensor = pooled_tensor({3, kLarge}, at::kBFloat16);
  EXPECT_EQ(tensor.sizes(), (at::IntArrayRef{3, kLarge}));
  EXPECT_EQ(tensor.scalar_type(), at::kBFloat16);
  EXPECT_TRUE(tensor.is_contiguous());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data_ptr()) % 64, 0u);
  EXPECT_EQ(pooled_tensor({0, 4}, at::kFloat).numel(), 0);
}

// The point of it: the second step gets the memory of the first, also where its batch is a little smaller.
TEST(TensorPool, AStepGetsTheMemoryOfTheStepBefore) {
  const void* first = pooled_tensor({kLarge}, at::kFloat).data_ptr();
  EXPECT_EQ(pooled_tensor({kLarge}, at::kFloat).data_ptr(), first);
  EXPECT_EQ(pooled_tensor({kLarge - 100}, at::kFloat).data_ptr(), first);
}

TEST(TensorPool, MemoryInUseIsNotHandedOut) {
  const at::Tensor one = pooled_tensor({kLarge}, at::kFloat).fill_(1);
  at::Tensor view;
  {
    at::Tensor two = pooled_tensor({kLarge}, at::kFloat).fill_(2);
    view = two.narrow(0, 10, 10);
  }
  pooled_tensor({kLarge}, at::kFloat).fill_(3);
  EXPECT_EQ(one.sum().item<float>(), static_cast<float>(kLarge));
  EXPECT_EQ(view.sum().item<float>(), 20.0f) << "a view keeps the block";
}

// A tensor that was fetched outlives the trainer thread that made it.
TEST(TensorPool, ATensorMayOutliveItsThread) {
  at::Tensor kept;
  std::thread([&] { kept = pooled_tensor({kLarge}, at::kFloat).fill_(5); }).join();
  EXPECT_EQ(kept[kLarge - 1].item<float>(), 5.0f);
}

}  // namespace
}  // namespace argosy::engine
