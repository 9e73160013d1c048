// Models of the collective benchmarks, as bench/peers/torch_ddp.py has them in Python.
#pragma once

#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "argosy/collective/fused_batch_norm.h"

namespace argosy::bench {

namespace nn = torch::nn;

struct Model : nn::Module {
  virtual at::Tensor forward(const at::Tensor& input) = 0;
};

// The CIFAR net of the collective guide.
struct CifarNet : Model {
  CifarNet()
      : conv1(register_module("conv1", nn::Conv2d(nn::Conv2dOptions(3, 32, 3)))),
        conv2(register_module("conv2", nn::Conv2d(nn::Conv2dOptions(32, 64, 3)))),
        conv3(register_module("conv3", nn::Conv2d(nn::Conv2dOptions(64, 64, 3)))),
        linear1(register_module("linear1", nn::Linear(1024, 64))),
        linear2(register_module("linear2", nn::Linear(64, 10))) {}

  at::Tensor forward(const at::Tensor& input) override {
    at::Tensor x = at::max_pool2d(at::relu(conv1(input)), 2, 2);
    x = at::max_pool2d(at::relu(conv2(x)), 2, 2);
    x = at::relu(conv3(x)).flatten(1);
    return linear2(at::relu(linear1(x)));
  }

  nn::Conv2d conv1, conv2, conv3;
  nn::Linear linear1, linear2;
};

// Many small tensors: the cost of a step is in its number of calls.
struct ManyLayers : Model {
  explicit ManyLayers(int layers = 100, int width = 32) {
    for (int i = 0; i < layers; ++i) all.push_back(register_module("layer" + std::to_string(i), nn::Linear(width, width)));
  }
  at::Tensor forward(const at::Tensor& input) override {
    at::Tensor x = input;
    for (auto& layer : all) x = at::relu(layer(x));
    return x;
  }
  std::vector<nn::Linear> all;
};

inline nn::Conv2d conv(int from, int to, int kernel, int stride) {
  return nn::Conv2d(nn::Conv2dOptions(from, to, kernel).stride(stride).padding(kernel / 2).bias(false));
}

using Norm = collective::FusedBatchNorm;

// What goes from a block to the next, once for each of the two branches that read it.
using Branches = std::array<at::Tensor, 2>;

// One block of a ResNet: two 3x3 convolutions, or 1x1, 3x3, 1x1 with four times the channels.
struct Block : nn::Module {
  Block(int from, int width, int stride, bool bottleneck) {
    const int to = bottleneck ? 4 * width : width;
    const auto add = [&](int a, int b, int kernel, int step) {
      const std::string number = std::to_string(convs.size() + 1);
      convs.push_back(register_module("conv" + number, conv(a, b, kernel, step)));
      norms.push_back(register_module("bn" + number, Norm(b)));
    };
    if (bottleneck) {
      add(from, width, 1, 1), add(width, width, 3, stride), add(width, to, 1, 1);
    } else {
      add(from, width, 3, stride), add(width, to, 3, 1);
    }
    if (stride != 1 || from != to) {
      shortcut = register_module("downsample", conv(from, to, 1, stride));
      shortcut_norm = register_module("downsample_bn", Norm(to));
    }
  }

  Branches forward(const Branches& input) {
    at::Tensor x = input[0];
    for (size_t i = 0; i + 1 < convs.size(); ++i) x = norms[i]->relu(convs[i](x));
    return norms.back()->add_relu_for_two(convs.back()(x), shortcut ? shortcut_norm(shortcut(input[1])) : input[1]);
  }

  std::vector<nn::Conv2d> convs;
  std::vector<Norm> norms;
  nn::Conv2d shortcut{nullptr};
  Norm shortcut_norm{nullptr};
};

struct ResNet : Model {
  ResNet(const std::vector<int>& depths, bool bottleneck)
      : stem(register_module("conv1", conv(3, 64, 7, 2))), norm(register_module("bn1", Norm(64))) {
    int from = 64;
    for (size_t stage = 0; stage < depths.size(); ++stage) {
      const int width = 64 << stage;
      for (int i = 0; i < depths[stage]; ++i) {
        const auto name = "layer" + std::to_string(stage + 1) + "_" + std::to_string(i);
        blocks.push_back(register_module(name, std::make_shared<Block>(from, width, i == 0 && stage > 0 ? 2 : 1, bottleneck)));
        from = bottleneck ? 4 * width : width;
      }
    }
    head = register_module("fc", nn::Linear(from, 1000));
  }

  at::Tensor forward(const at::Tensor& input) override {
    const at::Tensor first = at::max_pool2d(norm->relu(stem(input)), 3, 2, 1);
    Branches x{first, first};
    for (auto& block : blocks) x = block->forward(x);
    return head(at::adaptive_avg_pool2d(x[0], {1, 1}).flatten(1));
  }

  nn::Conv2d stem;
  Norm norm;
  std::vector<std::shared_ptr<Block>> blocks;
  nn::Linear head{nullptr};
};

inline std::shared_ptr<Model> make_model(const std::string& name) {
  if (name == "cifar") return std::make_shared<CifarNet>();
  if (name == "resnet18") return std::make_shared<ResNet>(std::vector<int>{2, 2, 2, 2}, false);
  if (name == "resnet50") return std::make_shared<ResNet>(std::vector<int>{3, 4, 6, 3}, true);
  if (name == "mlp") return std::make_shared<ManyLayers>();
  return nullptr;
}

}  // namespace argosy::bench
