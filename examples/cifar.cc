// Trains a small CNN on CIFAR-10's binary files, alone or as one of many processes. The five lines that make a libtorch program
// distributed are numbered.
//
//   cifar FOLDER [EPOCHS]                                  one process
//   fleetrun --no-python --nproc_per_node 2 cifar FOLDER   two; on machines with GPUs: fleetrun --gpus 0,1 …
//
// FOLDER has data_batch_*.bin and test_batch.bin: records of a label byte and 3 x 32 x 32 bytes.
#include <argosy/collective.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace nn = torch::nn;
using namespace argosy;

struct Net : nn::Module {
  at::Tensor forward(const at::Tensor& images) {
    at::Tensor x = at::max_pool2d(at::relu(conv1(images)), 2);
    x = at::max_pool2d(at::relu(conv2(x)), 2);
    x = at::relu(conv3(x)).flatten(1);
    return linear2(at::relu(linear1(x)));
  }

  nn::Conv2d conv1 = register_module("conv1", nn::Conv2d(nn::Conv2dOptions(3, 32, 3)));
  nn::Conv2d conv2 = register_module("conv2", nn::Conv2d(nn::Conv2dOptions(32, 64, 3)));
  nn::Conv2d conv3 = register_module("conv3", nn::Conv2d(nn::Conv2dOptions(64, 64, 3)));
  nn::Linear linear1 = register_module("linear1", nn::Linear(1024, 64));
  nn::Linear linear2 = register_module("linear2", nn::Linear(64, 10));
};

struct Images {
  at::Tensor pixels, labels;  // [n, 3, 32, 32] in 0 … 1; [n]
};

Images read(const std::filesystem::path& folder, const std::string& prefix) {
  std::string bytes;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with(prefix)) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    bytes.append(std::istreambuf_iterator<char>(file), {});
  }
  constexpr int64_t kRecord = 1 + 3 * 32 * 32;
  const auto count = static_cast<int64_t>(bytes.size()) / kRecord;
  const at::Tensor records = at::from_blob(bytes.data(), {count, kRecord}, at::kByte).clone();
  return {records.narrow(1, 1, kRecord - 1).reshape({count, 3, 32, 32}).to(at::kFloat) / 255, records.select(1, 0).to(at::kLong)};
}

double accuracy(Net& net, const Images& images) {
  const at::NoGradGuard no_grad;
  const at::Tensor best = net.forward(images.pixels.to(fleet::device())).argmax(1).cpu();
  return best.eq(images.labels).to(at::kDouble).mean().item<double>();
}

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: %s FOLDER [EPOCHS]\n", argv[0]), 2;
  const int epochs = argc > 2 ? std::atoi(argv[2]) : 3;
  fleet::init({.is_collective = true});  // 1
  at::manual_seed(7);
  auto net = std::make_shared<Net>();
  net->to(fleet::device());
  auto model = fleet::distributed_model(net);                                                  // 2
  auto optimizer = fleet::distributed_optimizer(torch::optim::Adam(net->parameters(), 1e-3));  // 3
  const Images train = read(argv[1], "data_batch"), test = read(argv[1], "test_batch");
  DistributedBatchSampler sampler(train.labels.size(0), {.batch_size = 32, .shuffle = true});  // 4
  fleet::load(*net, optimizer, "", &sampler);  // after fleetrun --max_restart, from the last checkpoint
  for (int64_t epoch = sampler.epoch(); epoch < epochs; ++epoch) {
    double total = 0;
    for (auto batch = sampler.next(); !batch.empty(); batch = sampler.next()) {
      const at::Tensor chosen = at::tensor(batch, at::kLong);
      const at::Tensor scores = model.forward(train.pixels.index_select(0, chosen).to(fleet::device()));
      const at::Tensor loss = at::cross_entropy_loss(scores, train.labels.index_select(0, chosen).to(fleet::device()));
      loss.backward();
      optimizer.step();
      optimizer.clear_grad();
      total += loss.item<double>();
    }
    std::printf("rank %d epoch %d loss %.4f\n", fleet::worker_index(), static_cast<int>(epoch),
                total / static_cast<double>(sampler.size()));
    std::fflush(stdout);
    sampler.set_epoch(epoch + 1);
    fleet::save(*net, optimizer, std::string(argv[1]) + "/checkpoint", &sampler);  // 5: from the first process, atomically
  }
  if (fleet::is_first_worker()) std::printf("test accuracy %.4f\n", accuracy(*net, test));
}
