#include "argosy/fleet/train_steps.h"

#include <ATen/Context.h>

#include "argosy/base/error.h"
#include "argosy/base/random.h"
#include "argosy/base/text.h"
#include "argosy/collective/guard.h"
#include "argosy/fleet/checkpoint_bytes.h"
#include "argosy/fleet/step_loop.h"

namespace argosy::fleet {
namespace {

struct StepPlace {
  int64_t pass = 0, index = 0;  // of the next step; the index behind a pass's last batch is what comes after the pass
};

void check_strategy(const CollectiveStrategy& strategy) {
  if (strategy.gradient_merge <= 1 && !strategy.local_sgd) return;
  throw Error(Status::unimplemented(
      "train_steps() moves the parameters after every step by gradients of all ranks; found {}; add gradients up within a step, "
      "by no_sync()",
      strategy.local_sgd ? "local_sgd" : "gradient_merge"));
}

LoopModel loop_model(const SteppedModel& model, StepPlace& place) {
  collective::DataParallel& parallel = model.data_parallel;
  return {.keep_buffers = [&] { parallel.keep_buffers(); },
          .put_buffers_back = [&] { parallel.put_buffers_back(); },
          .share_buffers = [&] { throw_if_error(parallel.share_buffers()); },
          .renew = [&] { throw_if_error(parallel.renew()); },
          .lend =
              [&model, &place] {
                std::string bytes;
                const std::string text = fmt::format("{} {}", place.pass, place.index);
                throw_if_error(collective::guarded([&] { bytes = checkpoint_to_bytes(model.module, model.optimizer, text); }));
                return bytes;
              },
          .take =
              [&model, &place](const std::string& bytes) {
                std::string text;
                throw_if_error(collective::guarded([&] { text = checkpoint_from_bytes(bytes, model.module, model.optimizer); }));
                const auto parts = split(text, ' ');
                place = {.pass = parse_integer(parts.at(0)).value_or(0), .index = parse_integer(parts.at(1)).value_or(0)};
              }};
}

// The random numbers of a step do not depend on what was computed before it: so they are the same in a step that is taken again,
// and in a process that was started again.
void seed_step(uint64_t seed, int rank, const StepPlace& place) {
  at::manual_seed(mix64(fmt::format("{} {} {} {}", seed, rank, place.pass, place.index)));
}

class HeldSteps {
 public:
  explicit HeldSteps(OptimizerSteps& steps) : steps_(steps) { steps_.hold(true); }
  HeldSteps(const HeldSteps&) = delete;
  ~HeldSteps() { steps_.hold(false); }

 private:
  OptimizerSteps& steps_;
};

void clear_gradients(torch::optim::Optimizer& optimizer) {
  for (auto& group : optimizer.param_groups()) {
    for (auto& parameter : group.params()) parameter.mutable_grad().reset();
  }
}

void seek(collective::BatchSampler& sampler, const StepPlace& place) {
  sampler.set_epoch(place.pass);
  while (sampler.position() < place.index && !sampler.next().empty()) continue;
}

}  // namespace

void train_steps(const SteppedModel& model, collective::BatchSampler& sampler, const Step& step, const TrainSteps& how) {
  check_strategy(model.steps.strategy());
  const bool between = sampler.position() >= sampler.size();  // a checkpoint of after_pass
  StepPlace place{.pass = sampler.epoch() + (between ? 1 : 0), .index = between ? 0 : sampler.position()};
  const std::shared_ptr<collective::Group> world = model.job.world();
  StepLoop loop(world, loop_model(model, place));
  loop.begin();
  while (place.pass < how.passes) {
    seek(sampler, place);
    for (auto batch = sampler.next(); !batch.empty(); batch = sampler.next()) {
      double loss = 0;
      const auto body = [&] {
        seed_step(how.seed, world->rank(), place);
        const HeldSteps held(model.steps);
        loss = step(batch);
      };
      const auto commit = [&] {
        model.steps.step(loss);
        clear_gradients(model.optimizer);
        const CountedStep done{.pass = place.pass, .index = place.index++, .loss = loss};
        if (how.counted) how.counted(done);
      };
      loop.step({.body = body, .commit = commit});
    }
    const auto after = [&] {
      seed_step(how.seed, world->rank(), place);
      if (how.after_pass) how.after_pass(place.pass);
    };
    loop.step({.body = after, .commit = [&] { place = {.pass = place.pass + 1, .index = 0}; }});
  }
  loop.finish();
}

}  // namespace argosy::fleet
