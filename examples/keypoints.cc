// Finds the eyes and the mouth in drawn faces: a CNN of libtorch's, trained by several processes that average gradients. The twin
// of keypoints.py.
//
//   fleetrun --no-python --nproc_per_node 2 keypoints          on machines with GPUs: fleetrun --gpus 0,1 …
#include <argosy/collective.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>

#include <cstdio>

namespace nn = torch::nn;
using namespace argosy;

constexpr int64_t kSide = 24, kFaces = 1024, kEpochs = 6;

struct Net : nn::Module {
  at::Tensor forward(const at::Tensor& images) {
    const at::Tensor x = at::relu(conv2(at::relu(conv1(images)))).flatten(1);
    return linear2(at::relu(linear1(x)));
  }

  nn::Conv2d conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(1, 8, 3).stride(2).padding(1)));
  nn::Conv2d conv2 = register_module("conv2", nn::Conv2d(nn::Conv2dOptions(8, 16, 3).stride(2).padding(1)));
  nn::Linear linear1 = register_module("linear1", nn::Linear(16 * (kSide / 4) * (kSide / 4), 64));
  nn::Linear linear2 = register_module("linear2", nn::Linear(64, 6));
};

// Each a dark square with three soft spots, and the places of their centres: x and y of each, in parts of a side.
struct Faces {
  at::Tensor images, places;  // [n, 1, side, side], [n, 6]
};

Faces draw_faces(int64_t count) {
  const at::Tensor middle = 0.35 + 0.3 * at::rand({count, 1, 2});
  const at::Tensor face = at::tensor({-0.18f, -0.12f, 0.18f, -0.12f, 0.0f, 0.2f}).view({1, 3, 2});
  const at::Tensor spots = middle + face + 0.1 * at::rand({count, 3, 2}) - 0.05;
  const at::Tensor grid = (at::arange(kSide, at::kFloat) + 0.5) / kSide;
  const auto near = [&](int64_t axis) { return at::exp(-(grid - spots.select(2, axis).unsqueeze(2)).square() / 0.005); };
  const at::Tensor images = at::einsum("nsx,nsy->nyx", {near(0), near(1)}).unsqueeze(1);
  return {images.to(fleet::device()), spots.reshape({count, 6}).to(fleet::device())};
}

int main() try {
  fleet::init({.is_collective = true});
  at::manual_seed(7);  // every process draws the same faces, and takes its own part of them
  auto net = std::make_shared<Net>();
  net->to(fleet::device());
  auto model = fleet::distributed_model(net);
  auto optimizer = fleet::distributed_optimizer(torch::optim::Adam(net->parameters(), 2e-3));
  const Faces faces = draw_faces(kFaces), test = draw_faces(200);
  DistributedBatchSampler sampler(kFaces, {.batch_size = 16, .shuffle = true});
  for (int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    sampler.set_epoch(epoch);
    at::Tensor loss;
    for (auto batch = sampler.next(); !batch.empty(); batch = sampler.next()) {
      const at::Tensor chosen = at::tensor(batch, at::kLong).to(fleet::device());
      loss = at::mse_loss(model.forward(faces.images.index_select(0, chosen)), faces.places.index_select(0, chosen));
      loss.backward();
      optimizer.step();
      optimizer.clear_grad();
    }
    std::printf("rank %d epoch %d loss %.5f\n", fleet::worker_index(), static_cast<int>(epoch), loss.item<double>());
    std::fflush(stdout);
  }
  const at::NoGradGuard no_grad;
  const double miss = (net->forward(test.images) - test.places).abs().mean().item<double>() * kSide;
  std::printf("new faces: places are missed by %.2f pixels\n", miss);
  if (miss > 1.0) return std::fprintf(stderr, "the places were not learned: they are missed by more than a pixel\n"), 1;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
