#include "argosy/fleet/executor.h"

#include "argosy/base/error.h"
#include "argosy/base/settings.h"

namespace argosy {
namespace {

engine::TrainOptions trainer_options(const DatasetRunOptions& options) {
  engine::TrainOptions result{.print_period = options.print_period,
                              .threads = options.threads,
                              .debug = options.debug,
                              .on_progress = options.on_progress,
                              .watch_seconds = options.watch_seconds,
                              .on_watch = options.on_watch};
  for (const auto& [label, variable] : options.fetch) result.fetch.emplace_back(label, variable.name());
  for (const Variable& variable : options.watch) result.watch.push_back(variable.name());
  return result;
}

}  // namespace

Executor::Executor(ExecutorOptions options, std::shared_ptr<const engine::Context> context)
    : runner_(options, std::move(context)) {
  throw_if_error(check_variable_names());
}

std::vector<Value> Executor::run(const std::shared_ptr<Program>& program, const Feed& feed, const std::vector<Variable>& fetch,
                                 Scope* scope) {
  std::vector<std::string> names;
  for (const Variable& variable : fetch) names.push_back(variable.name());
  return value_or_throw(runner_.run(*program, feed, names, scope_or_global(scope)));
}

TrainReport Executor::train_from_dataset(const std::shared_ptr<Program>& program, data::BatchSource& dataset,
                                         const DatasetRunOptions& options) {
  return value_or_throw(engine::train(runner_, *program, dataset, trainer_options(options), scope_or_global(options.scope)));
}

TrainReport Executor::infer_from_dataset(const std::shared_ptr<Program>& program, data::BatchSource& dataset,
                                         const DatasetRunOptions& options) {
  return train_from_dataset(program->clone(true), dataset, options);
}

}  // namespace argosy
