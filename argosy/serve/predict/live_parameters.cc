#include "argosy/serve/predict/live_parameters.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "argosy/base/log.h"
#include "argosy/base/text.h"

namespace argosy::serve {
namespace {

constexpr uint64_t kRowsPerPull = 65'536;  // where a whole table is asked for

Status only_reads(std::string_view what) {
  return Status::failed_precondition("{}: this model's parameters are read from a running job, and nothing is written there",
                                     what);
}

int64_t elements_of(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

std::vector<uint64_t> versions_of(const std::vector<ParameterSource::Origin>& origins) {
  std::vector<uint64_t> versions;
  for (const auto& origin : origins) versions.push_back(origin.version);
  return versions;
}

}  // namespace

// What the engine sees of the source: row tables to pull from. Everything else of a worker's side is refused.
class LiveParameters::Puller final : public engine::RemoteParameters {
 public:
  explicit Puller(std::shared_ptr<ParameterSource> source) : source_(std::move(source)) {}

  void add(const std::string& name, engine::RemoteVariable variable) { rows_.emplace(name, std::move(variable)); }

  const engine::RemoteVariable* find(std::string_view name) const override {
    const auto found = rows_.find(name);
    return found == rows_.end() ? nullptr : &found->second;
  }
  Status pull(std::span<const RowRequest> requests) override {
    for (const RowRequest& request : requests) {
      if (request.keys.empty()) continue;
      const auto table = static_cast<size_t>(request.table);
      const size_t floats = request.keys.size() * source_->tables()[table].width;
      RETURN_IF_ERROR(source_->pull_rows(table, request.keys, {request.rows, floats}));
    }
    return {};
  }
  Status fetch(std::string_view name, std::span<float> values) override {
    const engine::RemoteVariable* table = find(name);
    if (table == nullptr) return Status::not_found("the source has no rows of '{}'", name);
    const auto width = static_cast<uint64_t>(table->shape.back());
    const uint64_t rows = values.size() / width;
    for (uint64_t from = 0; from < rows; from += kRowsPerPull) {
      std::vector<uint64_t> keys(std::min(kRowsPerPull, rows - from));
      std::iota(keys.begin(), keys.end(), from);
      const auto into = values.subspan(from * width, keys.size() * width);
      RETURN_IF_ERROR(source_->pull_rows(static_cast<size_t>(table->table), keys, into));
    }
    return {};
  }

  Status attach(engine::Scope&) override { return only_reads("attach"); }
  Result<bool> begin_round(int) override { return only_reads("a pass over data"); }
  Status thread_done() override { return only_reads("a pass over data"); }
  void thread_failed(const Status&) override {}
  Status end_round(const ReadCounters&) override { return only_reads("a pass over data"); }
  void abandon_round(const Status&) override {}
  Status begin_parallel(int) override { return only_reads("a parallel run"); }
  Status end_parallel() override { return only_reads("a parallel run"); }
  BatchId begin_batch() override { return 0; }
  BatchId begin_batch(uint32_t, uint32_t, std::span<const FileLineRange>) override { return 0; }
  bool wants(BatchId) const override { return true; }
  Status step(const StepGradients&) override { return only_reads("a training step"); }
  Status refresh() override { return {}; }
  Status store(std::string_view name, std::span<const float>) override { return only_reads(fmt::format("storing '{}'", name)); }
  Result<Outcome> once(const std::string& kind, const std::string&, const OperationBody&) override { return only_reads(kind); }
  Status close() override { return {}; }

 private:
  const std::shared_ptr<ParameterSource> source_;
  std::map<std::string, engine::RemoteVariable, std::less<>> rows_;  // constant after take()
};

std::set<std::string> names_of(const ParameterSource& source) {
  std::set<std::string> names;
  for (const auto& table : source.tables()) names.insert(table.name);
  return names;
}

LiveParameters::LiveParameters(std::shared_ptr<ParameterSource> source, engine::Scope& scope, double refresh_seconds)
    : source_(std::move(source)), scope_(scope), refresh_seconds_(refresh_seconds), puller_(std::make_shared<Puller>(source_)) {}

LiveParameters::~LiveParameters() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
  }
  stopped_.notify_all();
  thread_.join();
}

Result<std::unique_ptr<LiveParameters>> LiveParameters::start(const graph::Program& program,
                                                              std::shared_ptr<ParameterSource> source, engine::Scope& scope,
                                                              double refresh_seconds) {
  if (!(refresh_seconds > 0))
    return Status::invalid_argument("refresh_seconds is {}, expected a number above 0", refresh_seconds);
  std::unique_ptr<LiveParameters> live(new LiveParameters(std::move(source), scope, refresh_seconds));
  RETURN_IF_ERROR(live->take(program));
  RETURN_IF_ERROR(live->refresh());
  scope.set_remote(live->puller_);
  live->thread_ = Thread("serve-refresh", [one = live.get()] { one->watch(); });
  return live;
}

// Which parameters of the program the source has.
Status LiveParameters::take(const graph::Program& program) {
  std::vector<std::string> own, theirs;
  size_t taken = 0;
  const auto& tables = source_->tables();
  for (const auto& table : tables) theirs.push_back("'" + table.name + "'");
  for (const graph::VarDesc* variable : program.persistables()) {
    const auto found = std::ranges::find(tables, variable->name, &ParameterSource::Table::name);
    if (found == tables.end()) {
      own.push_back("'" + variable->name + "'");
      continue;
    }
    RETURN_IF_ERROR(add(*variable, static_cast<size_t>(found - tables.begin())));
    ++taken;
  }
  if (taken == 0) {
    return Status::failed_precondition(
        "none of the model's parameters ({}) is a table of the job that they should come from, which has {}: is it another "
        "model's job?",
        join(own, ", "), join(theirs, ", "));
  }
  if (!own.empty()) log_info("from the model's files, because the job has no such tables: {}", join(own, ", "));
  return {};
}

Status LiveParameters::add(const graph::VarDesc& variable, size_t table) {
  const ParameterSource::Table& theirs = source_->tables()[table];
  const std::string shape = graph::shape_to_string(variable.shape);
  if (variable.dtype != graph::DType::float32) {
    return Status::failed_precondition("parameter '{}' is {} in the model, and the job's tables are float32", variable.name,
                                       graph::dtype_name(variable.dtype));
  }
  if (theirs.sparse) {
    if (variable.shape.empty() || variable.shape.back() != static_cast<int64_t>(theirs.width)) {
      return Status::failed_precondition("parameter '{}' has shape {} in the model, and rows of {} in the job", variable.name,
                                         shape, theirs.width);
    }
    puller_->add(variable.name,
                 {.kind = engine::RemoteVariable::rows, .table = static_cast<int>(table), .shape = variable.shape});
    rows_bytes_ += static_cast<uint64_t>(std::max<int64_t>(elements_of(variable.shape), 0)) * sizeof(float);
    return {};
  }
  if (elements_of(variable.shape) != static_cast<int64_t>(theirs.size)) {
    return Status::failed_precondition("parameter '{}' has shape {} in the model, and {} elements in the job", variable.name,
                                       shape, theirs.size);
  }
  dense_.push_back({.name = variable.name, .table = table, .shape = variable.shape});
  return {};
}

// The versions are asked for before the values: what changes in between is seen by the next look.
Status LiveParameters::refresh() {
  ASSIGN_OR_RETURN(auto origins, source_->origins());
  const auto versions = versions_of(origins);
  if (versions != copied_) {
    RETURN_IF_ERROR(copy_dense());
    copied_ = versions;
  }
  const MutexLock lock(mutex_);
  origins_ = std::move(origins);
  return {};
}

Status LiveParameters::copy_dense() {
  std::vector<at::Tensor> copies;
  for (const Dense& one : dense_) {
    copies.push_back(at::empty(one.shape, at::kFloat));
    RETURN_IF_ERROR(
        source_->pull_dense(one.table, {copies.back().mutable_data_ptr<float>(), static_cast<size_t>(copies.back().numel())}));
  }
  const MutexLock lock(binding_);
  for (size_t i = 0; i < dense_.size(); ++i) scope_.var(dense_[i].name).tensor = std::move(copies[i]);
  return {};
}

void LiveParameters::watch() {
  const auto period = std::chrono::duration<double>(refresh_seconds_);
  for (;;) {
    const Status status = refresh();
    MutexLock lock(mutex_);
    if (status.ok() != ready_.ok()) {
      if (status.ok())
        log_info("the parameters' source answers again");
      else
        log_error("no predictions until the parameters' source answers again: {}", status.message());
    }
    ready_ = status;
    if (stopped_.wait_for(lock, period, [&]() ARGOSY_REQUIRES(mutex_) { return stopping_; })) return;
  }
}

Status LiveParameters::ready() const {
  const MutexLock lock(mutex_);
  return ready_;
}

std::vector<ParameterSource::Origin> LiveParameters::origins() const {
  const MutexLock lock(mutex_);
  return origins_;
}

const engine::RemoteVariable* LiveParameters::find_rows(std::string_view name) const { return puller_->find(name); }

Result<std::vector<float>> LiveParameters::all_rows(const std::string& name) const {
  const int64_t count = elements_of(find_rows(name)->shape);
  if (count < 0) return Status::failed_precondition("table '{}' has no size in the model; its rows cannot be listed", name);
  std::vector<float> values(static_cast<size_t>(count));
  RETURN_IF_ERROR(puller_->fetch(name, values));
  return values;
}

}  // namespace argosy::serve
