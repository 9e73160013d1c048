#include "argosy/engine/train/training_metrics.h"

#include <cmath>

#include "argosy/graph/backward.h"
#include "argosy/observe/metrics.h"
#include "argosy/observe/process_observer.h"

namespace argosy::engine {
namespace {

using observe::Registry;

struct TrainingCounters {
  observe::Counter& samples =
      Registry::process().counter("argosy_worker_samples_total", "Samples that this worker has trained or scored.");
  observe::Counter& batches = Registry::process().counter("argosy_worker_batches_total", "Batches that these samples were in.");
  observe::Counter& read_seconds =
      Registry::process().counter("argosy_worker_read_seconds_total",
                                  "Seconds in which threads waited for data and for prefetched rows, summed over threads.");
  observe::Counter& compute_seconds =
      Registry::process().counter("argosy_worker_compute_seconds_total", "Seconds in which threads ran operators, likewise.");
  observe::Histogram& step_seconds =
      Registry::process().histogram("argosy_worker_step_seconds", "Operators of one batch.", observe::seconds_bounds());
};

TrainingCounters& counters() {
  static TrainingCounters& instance = *new TrainingCounters;
  return instance;
}

const std::string* first_of(const graph::OpDesc& op, std::string_view slot, bool output) {
  const auto* names = output ? op.outputs.find(slot) : op.inputs.find(slot);
  return names == nullptr || names->empty() ? nullptr : &names->front();
}

// `target` of a backward, or, where it is a loss times a factor that its gradients are divided by again, the loss.
const std::string* before_scaling(const graph::Block& block, const std::string* target) {
  const std::string* factor = nullptr;
  for (const auto& op : block.ops()) {
    if (op->type == "check_finite_and_unscale") factor = first_of(*op, "Scale", false);
  }
  if (factor == nullptr || target == nullptr) return target;
  for (const auto& op : block.ops()) {
    const std::string *out = first_of(*op, "Out", true), *by = first_of(*op, "Y", false);
    if (op->type == "elementwise_mul" && out != nullptr && *out == *target && by != nullptr && *by == *factor)
      return first_of(*op, "X", false);
  }
  return target;
}

}  // namespace

std::vector<Measure> measures_of(const graph::Program& program) {
  const std::string *loss = nullptr, *auc = nullptr;
  for (const auto& op : program.global_block().ops()) {
    if (op->type == graph::kBackwardOp && loss == nullptr) loss = first_of(*op, "Targets", false);
    if (op->type == "auc" && op->attribute_or<int32_t>("slide_steps", 1) == 0) auc = first_of(*op, "AUC", true);
  }
  loss = before_scaling(program.global_block(), loss);
  std::vector<Measure> measures;
  if (loss != nullptr) measures.push_back({"loss", *loss});
  if (auc != nullptr) measures.push_back({"auc", *auc});
  return measures;
}

bool training_is_observed() { return observe::is_observed(); }

void count_batch(int64_t samples, double read_seconds, double compute_seconds) {
  counters().samples.add(static_cast<double>(samples));
  counters().batches.add();
  counters().read_seconds.add(read_seconds);
  counters().compute_seconds.add(compute_seconds);
  counters().step_seconds.observe(compute_seconds);
}

void set_measure(std::string_view name, double value) {
  Registry::process()
      .gauge("argosy_worker_measure", "A number of the model over a recent batch (loss) or all batches (auc).",
             {{"measure", std::string(name)}})
      .set(value);
}

void set_pass_ratio(std::optional<double> ratio) {
  Registry::process()
      .gauge("argosy_worker_pass_ratio", "How much of the current pass over the data has been read; NaN where it is not known.")
      .set(ratio.value_or(std::nan("")));
}

}  // namespace argosy::engine
