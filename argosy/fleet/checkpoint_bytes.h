#pragma once

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include <string>

namespace argosy::fleet {

// What a checkpoint has, without the file: model, optimizer and a text for the place in the data. torch's exceptions pass.
std::string checkpoint_to_bytes(const torch::nn::Module& module, const torch::optim::Optimizer& optimizer,
                                const std::string& position);
// Returns the text.
std::string checkpoint_from_bytes(const std::string& bytes, torch::nn::Module& module, torch::optim::Optimizer& optimizer);

}  // namespace argosy::fleet
