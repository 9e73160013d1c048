// Pulling rows from parameter servers, sending gradients, and the first meeting with them.
#include <ATen/ATen.h>

#include <algorithm>

#include "argosy/engine/program/device.h"
#include "argosy/engine/program/frame.h"
#include "argosy/engine/program/op.h"
#include "argosy/engine/program/pulled_rows.h"
#include "argosy/engine/program/row_merge.h"
#include "argosy/engine/remote/remote_rows.h"

namespace argosy::engine {
namespace {

void throw_if_failed(const Status& status) {
  if (!status.ok()) throw KernelError(status);
}

std::shared_ptr<RemoteParameters> remote_of(const OpContext& op) {
  auto remote = op.frame().scope().remote();
  if (remote == nullptr) op.fail("this scope is not connected to parameter servers; run the startup program first");
  return remote;
}

const RemoteVariable& remote_variable(const OpContext& op, const RemoteParameters& remote, const std::string& name) {
  const RemoteVariable* variable = remote.find(name);
  if (variable == nullptr) op.fail("the servers of this job hold no variable '{}'", name);
  return *variable;
}

at::Tensor ids_input(const OpContext& op, size_t slot) {
  at::Tensor ids = op.on_cpu("Ids", slot).contiguous();
  if (ids.scalar_type() != at::kLong)
    op.fail("variable '{}' holds {}, expected int64 ids", op.input_name("Ids", slot), c10::toString(ids.scalar_type()));
  return ids;
}

// Numbers of rows where the program runs; lookups check them without waiting for it.
void set_numbers(const OpContext& op, at::Tensor numbers, size_t slot) {
  Value value{.tensor = op.frame().bring(numbers), .lod = op.input("Ids", slot).lod};
  if (!value.tensor.is_cpu()) value.fed = std::move(numbers);
  op.set_value("LocalIds", std::move(value), slot);
}

void use_prefetched(const OpContext& op, PulledRows& pulled) {
  for (size_t i = 0; i < op.input_count("Ids"); ++i) set_numbers(op, pulled.numbers[i].reshape(op.tensor("Ids", i).sizes()), i);
  pulled.numbers.clear();
  op.set_output("W", op.frame().bring(pulled.rows));
  if (op.device().is_cpu()) pulled.rows = at::Tensor();
  pulled.prefetched = false;
}

// What the run has of the table that the operator pulls.
PulledRows& pulled_of(const OpContext& op) {
  PulledRows& pulled = op.frame().pulled_rows(op.instruction().find_output("W")->values[0]);
  if (pulled.step != op.frame().step) {
    pulled.index.reset(0);
    pulled.step = op.frame().step;
    pulled.prefetched = false;
  }
  return pulled;
}

// Numbers the keys of the operator's ids, and says what is to be asked for.
RowsToPull number_and_request(const OpContext& op, const RemoteParameters& remote, PulledRows& pulled) {
  const int32_t table = op.instruction().find_output("W")->values[0];
  const std::string& name = op.frame().program().values()[static_cast<size_t>(table)].name;
  const RemoteVariable& variable = remote_variable(op, remote, name);
  const size_t known = pulled.index.size();
  const auto& paddings = op.attr<std::vector<int64_t>>("padding_ids");
  pulled.numbers.clear();
  for (size_t i = 0; i < op.input_count("Ids"); ++i) {
    Result<at::Tensor> numbers = number_ids(ids_input(op, i), paddings[i], pulled.index);
    if (!numbers.ok())
      throw KernelError(numbers.status().with_context("variable '{}', table '{}'", op.input_name("Ids", i), name));
    pulled.numbers.push_back(*std::move(numbers));
  }
  const bool create = op.frame().program().sends() && op.attr<bool>("create");
  at::Tensor before;
  if (known > 0) before = op.device().is_cpu() ? op.output("W").tensor : pulled.rows;
  return rows_to_pull(variable, pulled.index, known, before, create, op.device());
}

// The pulls that stand right behind this one, whose ids therefore are there already.
std::vector<const Instruction*> pulls_behind(const OpContext& op) {
  const std::vector<Instruction>& all = op.frame().program().instructions();
  std::vector<const Instruction*> behind;
  const auto at = std::ranges::find(all, &op.instruction(), [](const Instruction& one) { return &one; });
  for (auto next = at; next != all.end() && ++next != all.end() && next->desc.type == kPullRowsOp;) behind.push_back(&*next);
  return behind;
}

void pull_rows(const OpContext& op) {
  op.not_captured("pulls rows from parameter servers");
  PulledRows& pulled = pulled_of(op);
  if (pulled.prefetched) return use_prefetched(op, pulled);
  const auto remote = remote_of(op);
  std::vector<PulledRows*> tables = {&pulled};
  std::vector<RowsToPull> pulls = {number_and_request(op, *remote, pulled)};
  for (const Instruction* behind : pulls_behind(op)) {
    const OpContext other(*behind, op.frame());
    PulledRows& more = pulled_of(other);
    if (more.prefetched || more.index.size() > 0) continue;
    tables.push_back(&more);
    pulls.push_back(number_and_request(other, *remote, more));
  }
  throw_if_failed(pull_together(*remote, pulls));
  for (size_t i = 0; i < tables.size(); ++i) {
    tables[i]->rows = std::move(pulls[i].rows);
    tables[i]->prefetched = true;
  }
  use_prefetched(op, pulled);
}

ARGOSY_OP("pull_rows", pull_rows)
    .doc("The rows of a batch from the parameter servers; made by the executor before lookups of remote tables.")
    .input_list("Ids", "int64 keys")
    .output("W", "the table: a row of zeros, then one row for each key of the batch")
    .output_list("LocalIds", "each of Ids with rows of W in place of keys")
    .attr("padding_ids", std::vector<int64_t>{}, "for each of Ids: the key that becomes row 0; -1: none")
    .attr("create", true, "false: a training run makes no row for a new key")
    .no_gradient();

// What a thread keeps of a send operator between steps.
struct Sender {
  std::vector<RemoteVariable> variables;  // of each gradient
  std::vector<RowMerger> mergers;
  std::vector<std::vector<uint64_t>> keys;
  std::vector<std::vector<float>> shows, clicks;
  std::vector<at::Tensor> held;  // dense gradients, alive until the step has taken them
  std::vector<DenseGradient> dense;
  std::vector<RowGradients> rows;
};

Sender* make_sender(const OpContext& op) {
  auto sender = std::make_unique<Sender>();
  const auto remote = remote_of(op);
  const auto& parameters = op.attr<std::vector<std::string>>("parameters");
  if (parameters.size() != op.input_count("X")) op.fail("{} gradients for {} parameters", op.input_count("X"), parameters.size());
  for (const std::string& name : parameters) sender->variables.push_back(remote_variable(op, *remote, name));
  sender->mergers.resize(parameters.size());
  sender->keys.resize(parameters.size());
  sender->shows.resize(parameters.size());
  sender->clicks.resize(parameters.size());
  return sender.release();
}

// The gradients of the step in the CPU's memory, each dense or of rows as its variable wants it.
std::vector<Value> gradients_on_cpu(const OpContext& op, const Sender& sender) {
  Readback readback(op.device());
  std::vector<Value> gradients(op.input_count("X"));
  for (size_t i = 0; i < gradients.size(); ++i) {
    const Value& value = op.input("X", i);
    if (sender.variables[i].kind != RemoteVariable::rows) {
      const at::Tensor dense = value.rows != nullptr ? value.rows->to_dense() : value.tensor;
      gradients[i].tensor = readback.take(dense.to(at::kFloat));
      continue;
    }
    gradients[i].rows = std::make_shared<LookupGradient>(*value.rows);
    for (LookupGradient::Piece& piece : gradients[i].rows->pieces) {
      piece.ids = readback.take(piece.ids);
      piece.gradient = readback.take(piece.gradient);
    }
  }
  readback.wait();
  return gradients;
}

void add_dense(Sender& sender, size_t i, const at::Tensor& gradient) {
  sender.held.push_back(gradient);
  sender.dense.push_back(
      {.table = sender.variables[i].table, .values = {gradient.const_data_ptr<float>(), static_cast<size_t>(gradient.numel())}});
}

// The shows or clicks of each key of a batch, from one number per sample.
const float* add_up(const OpContext& op, std::string_view slot, size_t at, const LookupGradient& gradient, RowMerger& merger,
                    std::vector<float>& sums) {
  const at::Tensor numbers = op.on_cpu(slot, at).to(at::kFloat).flatten().contiguous();
  for (const auto& piece : gradient.pieces) {
    const LodPtr& bounds = piece.lod != nullptr ? piece.lod : piece.samples;
    const int64_t samples = bounds == nullptr ? piece.ids.numel() : static_cast<int64_t>(bounds->back().size()) - 1;
    const bool fits = bounds == nullptr ? numbers.numel() > 0 && samples % numbers.numel() == 0 : samples == numbers.numel();
    if (!fits) {
      op.fail("variable '{}' has {} values for {} samples; it counts shows or clicks, one per sample", op.input_name(slot, at),
              numbers.numel(), samples);
    }
  }
  merger.add_up(gradient, {numbers.const_data_ptr<float>(), static_cast<size_t>(numbers.numel())}, sums);
  return sums.data();
}

void add_rows(const OpContext& op, Sender& sender, size_t i, const LookupGradient& gradient) {
  const auto& parameters = op.attr<std::vector<std::string>>("parameters");
  const int32_t table = op.frame().program().find_value(parameters[i]);
  const auto known = op.frame().pulled_rows(table).index.keys();
  RowMerger& merger = sender.mergers[i];
  merger.merge(gradient);
  std::vector<uint64_t>& keys = sender.keys[i];
  keys.clear();
  for (const int64_t row : merger.index()) keys.push_back(known[static_cast<size_t>(row) - 1]);
  sender.rows.push_back({.table = sender.variables[i].table, .keys = keys, .values = merger.gradients()});
  const auto& statistics = op.attr<std::vector<int32_t>>("statistics");
  if (i >= statistics.size() || statistics[i] < 0) return;
  const auto at = static_cast<size_t>(statistics[i]);
  sender.rows.back().shows = add_up(op, "Show", at, gradient, merger, sender.shows[i]);
  sender.rows.back().clicks = add_up(op, "Click", at, gradient, merger, sender.clicks[i]);
}

void send(const OpContext& op) {
  op.not_captured("sends gradients to parameter servers");
  Sender& sender = op.state<Sender>([&] { return make_sender(op); });
  sender.held.clear();
  sender.dense.clear();
  sender.rows.clear();
  const std::vector<Value> gradients = gradients_on_cpu(op, sender);
  for (size_t i = 0; i < gradients.size(); ++i)
    gradients[i].rows != nullptr ? add_rows(op, sender, i, *gradients[i].rows) : add_dense(sender, i, gradients[i].tensor);
  throw_if_failed(remote_of(op)->step(
      {.batch_id = op.frame().batch_id, .samples = op.frame().samples, .dense = sender.dense, .rows = sender.rows}));
  op.frame().sent = true;
}

ARGOSY_OP("send", send)
    .doc("Gives the gradients of a batch to the parameter servers, and waits as the mode of training says.")
    .input_list("X", "gradients, dense or of rows")
    .optional_input_list("Show", "how often each sample was shown")
    .optional_input_list("Click", "how often it was clicked; as many as Show")
    .attr("parameters", std::vector<std::string>{}, "the parameter of each gradient")
    .attr("statistics", std::vector<int32_t>{},
          "for each gradient: which of Show and Click its keys count; -1 or none: they do not")
    .attr("job", std::string(), "whose servers")
    .no_gradient();

ARGOSY_OP("listen_and_serv",
          [](const OpContext& op) {
            throw_if_failed(op.frame().context().serve(op.frame().program().program(), op.desc(), op.frame().scope()));
          })
    .doc("Serves the tables of a job until its workers are done.")
    .input_list("X", "the dense parameters, with the first values of this server's part where they have any")
    .attr("job", std::string(), "its name")
    .attr("job_spec", std::string(), "its tables, as hexadecimal bytes")
    .attr("mode", std::string(), "sync, half_async, async or geo")
    .attr("endpoint", std::string(), "where this server listens")
    .attr("endpoints", std::vector<std::string>{}, "where all do")
    .attr("Fanin", 1, "the number of workers")
    .attr("settings", std::vector<std::string>{}, "of the job, as name=value; the environment wins over them")
    .no_gradient()
    .cpu_only();

// Dense parameters of servers are written by the worker's own threads, in the CPU's memory; each step takes a copy.
void keep_on_cpu(const OpContext& op) {
  for (size_t i = 0; i < op.input_count("X"); ++i) {
    Value* stored = op.frame().scope().find(op.input_name("X", i));
    if (stored != nullptr && stored->tensor.defined()) stored->tensor = stored->tensor.cpu();
  }
}

ARGOSY_OP("recv",
          [](const OpContext& op) {
            auto remote = op.frame().context().remote(op.attr<std::string>("job"));
            if (!remote.ok()) throw KernelError(remote.status());
            Scope& scope = op.frame().scope();
            keep_on_cpu(op);
            throw_if_failed((*remote)->attach(scope));
            scope.set_remote(*remote);
          })
    .doc("Meets the parameter servers: the first worker gives them first values, then everybody receives the parameters.")
    .input_list("X", "the dense parameters")
    .output_list("Out", "the same variables")
    .attr("job", std::string(), "whose servers")
    .no_gradient();

}  // namespace
}  // namespace argosy::engine
