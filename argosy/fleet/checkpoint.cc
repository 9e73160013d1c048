#include <torch/serialize/archive.h>

#include <sstream>

#include "argosy/base/error.h"
#include "argosy/base/log.h"
#include "argosy/base/resume.h"
#include "argosy/collective/guard.h"
#include "argosy/fleet/checkpoint_bytes.h"
#include "argosy/fleet/checkpoint_place.h"
#include "argosy/fleet/collective_training.h"

// A checkpoint is one archive of libtorch's: "model" and "optimizer" as torch::save() would write them, "sampler" as text.
namespace argosy::fleet {
namespace {

using torch::serialize::InputArchive;
using torch::serialize::OutputArchive;

}  // namespace

std::string checkpoint_to_bytes(const torch::nn::Module& module, const torch::optim::Optimizer& optimizer,
                                const std::string& sampler) {
  OutputArchive whole, model, state;
  module.save(model);
  optimizer.save(state);
  whole.write("model", model);
  whole.write("optimizer", state);
  whole.write("sampler", c10::IValue(sampler));
  std::ostringstream out;
  whole.save_to(out);
  return std::move(out).str();
}

std::string checkpoint_from_bytes(const std::string& bytes, torch::nn::Module& module, torch::optim::Optimizer& optimizer) {
  std::istringstream in(bytes);
  InputArchive whole, model, state;
  whole.load_from(in, c10::Device(c10::kCPU));
  whole.read("model", model);
  whole.read("optimizer", state);
  module.load(model);
  optimizer.load(state);
  c10::IValue sampler;
  whole.read("sampler", sampler);
  return sampler.toStringRef();
}

namespace {

// The same outcome on every process: the first one's bytes, or the first one's error.
Result<std::string> told_by_the_first(const std::string& path, collective::Group& group) {
  std::string message;
  if (group.rank() == 0) {
    auto bytes = read_checkpoint(path);
    message = bytes.ok() ? "+" + *bytes : "-" + bytes.status().message();
  }
  ASSIGN_OR_RETURN(message, group.broadcast(message, 0));
  if (message.empty() || message[0] == '-')
    return Status::not_found("checkpoint: {}", message.substr(std::min<size_t>(1, message.size())));
  return message.substr(1);
}

}  // namespace

void save_checkpoint(const torch::nn::Module& module, const torch::optim::Optimizer& optimizer, const std::string& path,
                     const collective::BatchSampler* sampler, CollectiveJob& job) {
  throw_if_error(check_checkpoint_place(path));
  std::string failure;
  if (job.world()->rank() == 0) {
    std::string bytes;
    Status status = collective::guarded([&] { bytes = checkpoint_to_bytes(module, optimizer, sampler ? sampler->save() : ""); });
    if (status.ok()) status = write_checkpoint(path, bytes);
    if (status.ok()) status = note_checkpoint(path);
    if (!status.ok()) failure = status.with_context("checkpoint '{}'", path).message();
  }
  failure = value_or_throw(job.world()->broadcast(failure, 0));  // nobody goes on as if it were there
  if (!failure.empty()) throw Error(Status(Code::unavailable, failure));
}

bool load_checkpoint(torch::nn::Module& module, torch::optim::Optimizer& optimizer, const std::string& path,
                     collective::BatchSampler* sampler, CollectiveJob& job) {
  if (job.world()->generation() == 0) return false;  // another rank's model is copied by train_steps()
  const std::string from = path.empty() ? checkpoint_to_resume() : path;
  throw_if_error(check_checkpoint_place(from));
  if (from.empty()) return false;
  const std::string bytes = value_or_throw(told_by_the_first(from, *job.world()));
  std::string position;
  throw_if_error(collective::guarded([&] {
                   position = checkpoint_from_bytes(bytes, module, optimizer);
                 }).with_context("checkpoint '{}' does not fit this model and optimizer", from));
  if (sampler != nullptr && !position.empty()) {
    const Status status = sampler->restore(position);
    if (status.code() == Code::data_loss) throw Error(status);
    if (!status.ok()) log_warning("checkpoint '{}': {}", from, status.message());
  }
  return true;
}

}  // namespace argosy::fleet
