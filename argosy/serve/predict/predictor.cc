#include "argosy/serve/predict/predictor.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <optional>

#include "argosy/base/mutex.h"
#include "argosy/base/text.h"
#include "argosy/base/uri.h"
#include "argosy/data/store_uri.h"
#include "argosy/data/working_folder.h"
#include "argosy/engine/program/frame.h"
#include "argosy/engine/program/model_io.h"
#include "argosy/engine/program/run_frame.h"
#include "argosy/engine/train/runner.h"
#include "argosy/serve/predict/live_parameters.h"

namespace argosy::serve {
namespace fs = std::filesystem;
namespace {

constexpr size_t kIdleFrames = 64;

// The calling thread's number of threads inside of operators, for the time of a run.
class ThreadsOfRun {
 public:
  explicit ThreadsOfRun(int threads) : before_(at::get_num_threads()), changed_(before_ != threads) {
    if (changed_) at::set_num_threads(threads);
  }
  ~ThreadsOfRun() {
    if (changed_) at::set_num_threads(before_);
  }
  ThreadsOfRun(const ThreadsOfRun&) = delete;

 private:
  const int before_;
  const bool changed_;
};

engine::Value to_value(const Tensor& tensor) {
  engine::Value value;
  const auto options = at::TensorOptions(engine::scalar_type(tensor.dtype));
  // A tensor without elements may have no data, which from_blob refuses.
  value.tensor = tensor.size() == 0
                     ? at::empty(tensor.shape, options)
                     : at::from_blob(const_cast<void*>(tensor.data.get()), tensor.shape, [kept = tensor.data](void*) {}, options);
  if (!tensor.lod.empty()) value.lod = std::make_shared<const engine::Lod>(tensor.lod);
  return value;
}

Tensor from_tensor(const at::Tensor& given) {
  auto kept = std::make_shared<at::Tensor>(given.contiguous());
  Tensor tensor{.dtype = engine::dtype_of(*kept), .shape = kept->sizes().vec(), .lod = {}, .data = nullptr};
  tensor.data = std::shared_ptr<const void>(kept, kept->const_data_ptr());
  return tensor;
}

Result<Tensor> from_value(const engine::Value& value, const std::string& name) {
  if (!value.defined())
    return Status::failed_precondition("output '{}' has no value after the run; nothing in the model computes it", name);
  if (value.array != nullptr)
    return Status::unimplemented("output '{}' is a list of tensors, which cannot be given out; make one tensor of it", name);
  Tensor tensor = from_tensor(value.rows != nullptr ? value.rows->to_dense() : value.tensor);
  if (value.lod != nullptr) tensor.lod = *value.lod;
  return tensor;
}

TensorInfo info_of(const graph::Block& block, const std::string& name) {
  const graph::VarDesc* variable = block.find_var(name);
  if (variable == nullptr) return {.name = name, .shape = {}};
  return {.name = name, .dtype = variable->dtype, .shape = variable->shape, .lod_level = variable->lod_level};
}

// Whether a run changes what the next one finds. The running means of batch_norm stand as its outputs, but do not move here.
bool changes_state(const graph::Program& program) {
  for (size_t i = 0; i < program.block_count(); ++i) {
    const graph::Block& block = program.block(i);
    for (const auto& op : block.ops()) {
      if (op->type == "batch_norm" || op->type == "fetch") continue;
      for (const std::string& name : op->output_names()) {
        const graph::VarDesc* variable = block.find_var_recursive(name);
        if (variable != nullptr && variable->persistable) return true;
      }
    }
  }
  return false;
}

// A failed run, with what is most often behind it.
Status explained(const Status& status, const std::vector<TensorInfo>& expected, const Inputs& inputs) {
  const auto samples = count_samples(expected, inputs);
  return samples.ok() ? status : status.with_context("{}", samples.status().message());
}

engine::ExecutorOptions executor_options(const PredictorOptions& options) {
  engine::ExecutorOptions made{.bfloat16_matmul = options.bfloat16_matmul, .fuse = options.fuse};
  if (options.gpu >= 0) made.device = c10::Device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(options.gpu));
  return made;
}

}  // namespace

// What clones share.
class Predictor::Model {
 public:
  Model(const PredictorOptions& given) : options(given), runner(executor_options(given)) {}

  const PredictorOptions options;
  engine::Scope scope;
  engine::InferenceModel loaded;
  std::unique_ptr<LiveParameters> live;  // null: all parameters are the files'
  engine::Runner runner;
  std::vector<TensorInfo> inputs, outputs;
  std::unique_ptr<engine::Frame> first;  // never run; others are made like it
  std::vector<int32_t> fed, fetched;     // places of inputs and outputs in a frame
  bool changes_state = false;
  Mutex turn;  // held for a run where changes_state
};

// Frames that nobody runs now. Thread-safe.
class Predictor::FramePool {
 public:
  std::unique_ptr<engine::Frame> take(const engine::Frame& like) {
    {
      MutexLock lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<engine::Frame> frame = std::move(idle_.back());
        idle_.pop_back();
        return frame;
      }
    }
    return like.another();
  }
  void give_back(std::unique_ptr<engine::Frame> frame) {
    MutexLock lock(mutex_);
    if (idle_.size() < kIdleFrames) idle_.push_back(std::move(frame));
  }

 private:
  Mutex mutex_;
  std::vector<std::unique_ptr<engine::Frame>> idle_ ARGOSY_GUARDED_BY(mutex_);
};

Predictor::Predictor(std::shared_ptr<Model> model) : model_(std::move(model)), frames_(std::make_unique<FramePool>()) {}
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&& other) noexcept {
  frames_ = std::move(other.frames_);  // before the model that they use
  model_ = std::move(other.model_);
  return *this;
}
Predictor::~Predictor() = default;

Result<Predictor> Predictor::open(const std::filesystem::path& model, const PredictorOptions& options) {
  const data::FolderPlace place(model);
  if (place.in_object_store())
    return open_copy(place, [](const fs::path& copy) { return graph::ModelFiles::find(copy); }, options);
  ASSIGN_OR_RETURN(const graph::ModelFiles files, graph::ModelFiles::find(place.path));
  return open(files, options);
}

// All is read before the copy goes.
Result<Predictor> Predictor::open_copy(const data::FolderPlace& place, const FindFiles& find, const PredictorOptions& options) {
  ASSIGN_OR_RETURN(const auto copy, data::WorkingFolder::for_reading(place));
  auto files = find(copy.path());
  if (!files.ok()) return files.status().with_context("'{}', copied to this machine", place.path);
  auto opened = open(*files, options);
  if (!opened.ok()) return opened.status().with_context("'{}', copied to this machine", place.path);
  return opened;
}

Result<Predictor> Predictor::open(const graph::ModelFiles& files, const PredictorOptions& options) {
  if (const std::string model = files.model.string(); data::is_store_uri(model)) {
    const UriParts parts = split_uri(model), params = split_uri(files.params.string());
    if (!files.params.empty() && params.folder != parts.folder)
      return Status::invalid_argument("'{}' and '{}' lie in two folders; put the program and its parameters into one", model,
                                      files.params.string());
    return open_copy(
        data::FolderPlace(parts.folder),
        [&](const fs::path& copy) {
          return Result<graph::ModelFiles>(
              graph::ModelFiles{copy / parts.name, files.params.empty() ? fs::path() : copy / params.name});
        },
        options);
  }
  if (options.threads < 1) return Status::invalid_argument("a predictor needs at least 1 thread, not {}", options.threads);
  auto model = std::make_shared<Model>(options);
  std::error_code error;
  const std::string params = files.params.empty() ? "" : std::filesystem::absolute(files.params, error).string();
  const std::filesystem::path folder = files.model.has_parent_path() ? files.model.parent_path() : ".";
  ASSIGN_OR_RETURN(model->loaded,
                   engine::load_inference_model(folder.string(), model->scope, files.model.filename().string(), params,
                                                options.source == nullptr ? std::set<std::string>() : names_of(*options.source)));
  if (options.source != nullptr) {
    ASSIGN_OR_RETURN(model->live,
                     LiveParameters::start(*model->loaded.program, options.source, model->scope, options.refresh_seconds));
  }
  const graph::Block& block = model->loaded.program->global_block();
  for (const std::string& name : model->loaded.feeds) model->inputs.push_back(info_of(block, name));
  for (const std::string& name : model->loaded.fetches) model->outputs.push_back(info_of(block, name));
  model->changes_state = changes_state(*model->loaded.program);
  auto first = model->runner.make_frame(*model->loaded.program, model->loaded.feeds, model->loaded.fetches, model->scope);
  if (!first.ok()) return first.status().with_context("model '{}'", files.model.string());
  model->first = std::move(*first);
  for (const std::string& name : model->loaded.feeds) model->fed.push_back(model->first->program().find_value(name));
  for (const std::string& name : model->loaded.fetches) model->fetched.push_back(model->first->program().find_value(name));
  return Predictor(std::move(model));
}

const std::vector<TensorInfo>& Predictor::inputs() const { return model_->inputs; }
const std::vector<TensorInfo>& Predictor::outputs() const { return model_->outputs; }
const PredictorOptions& Predictor::options() const { return model_->options; }
const graph::Program& Predictor::program() const { return *model_->loaded.program; }
Predictor Predictor::clone() const { return Predictor(model_); }

Status Predictor::ready() const { return model_->live == nullptr ? Status() : model_->live->ready(); }

std::vector<ParameterSource::Origin> Predictor::origins() const {
  return model_->live == nullptr ? std::vector<ParameterSource::Origin>() : model_->live->origins();
}

Result<std::map<std::string, Tensor>> Predictor::parameters(uint64_t most_rows_bytes) const {
  std::map<std::string, Tensor> found;
  LiveParameters* const live = model_->live.get();
  if (live != nullptr) {
    if (const uint64_t bytes = live->rows_bytes(); bytes > most_rows_bytes)
      return Status::resource_exhausted("the tables that this model reads from a job have {} bytes, and {} may be read at once",
                                        with_thousands(static_cast<int64_t>(bytes)),
                                        with_thousands(static_cast<int64_t>(most_rows_bytes)));
  }
  for (const graph::VarDesc* variable : model_->loaded.program->persistables()) {
    if (live != nullptr && live->find_rows(variable->name) != nullptr) {
      ASSIGN_OR_RETURN(const std::vector<float> rows, live->all_rows(variable->name));
      found.emplace(variable->name, Tensor::copy_of(rows, variable->shape));
      continue;
    }
    std::optional<MutexLock> binding;
    if (live != nullptr) binding.emplace(live->binding());
    const engine::Value* value = model_->scope.find(variable->name);
    if (value != nullptr && value->tensor.defined()) found.emplace(variable->name, from_tensor(value->tensor.detach().cpu()));
  }
  return found;
}

// A run keeps the parameters that it begins with.
Status Predictor::begin(engine::Frame& frame) const {
  if (model_->live == nullptr) return frame.begin();
  const MutexLock binding(model_->live->binding());
  return frame.begin();
}

Result<std::vector<Tensor>> Predictor::run(const Inputs& inputs) const {
  RETURN_IF_ERROR(check_inputs(model_->inputs, inputs));
  RETURN_IF_ERROR(ready());
  std::optional<MutexLock> turn;
  if (model_->changes_state) turn.emplace(model_->turn);
  const ThreadsOfRun threads(model_->options.threads);
  std::unique_ptr<engine::Frame> frame = frames_->take(*model_->first);
  RETURN_IF_ERROR(begin(*frame));
  for (size_t i = 0; i < model_->fed.size(); ++i)  // -1: no operator reads it
    if (model_->fed[i] >= 0) frame->feed(model_->fed[i], to_value(inputs.at(model_->inputs[i].name)));
  if (const Status status = engine::run_frame(*frame); !status.ok()) return explained(status, model_->inputs, inputs);
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < model_->fetched.size(); ++i) {
    const engine::Value value = model_->fetched[i] < 0 ? engine::Value{} : frame->fetch(model_->fetched[i]);
    ASSIGN_OR_RETURN(outputs.emplace_back(), from_value(value, model_->outputs[i].name));
  }
  frame->end();
  frames_->give_back(std::move(frame));
  return outputs;
}

Result<std::vector<Tensor>> Predictor::run_one(const Inputs& inputs) const {
  Inputs batch = inputs;
  for (const TensorInfo& info : model_->inputs) {
    const auto found = batch.find(info.name);
    if (found == batch.end()) continue;  // run() says so
    Tensor& tensor = found->second;
    if (info.lod_level > 1)
      return Status::invalid_argument("input '{}' has sequences of {} levels; give run() a batch of one", info.name,
                                      info.lod_level);
    if (info.lod_level == 1) {
      if (tensor.shape.size() + 1 == info.shape.size()) tensor.shape.push_back(1);  // ids as a plain list
      tensor.lod = {{0, tensor.shape.empty() ? 0 : tensor.shape[0]}};
    } else {
      tensor.shape.insert(tensor.shape.begin(), 1);
    }
  }
  ASSIGN_OR_RETURN(std::vector<Tensor> outputs, run(batch));
  for (Tensor& output : outputs) {
    if (!output.lod.empty())
      output.lod.erase(output.lod.begin());
    else if (!output.shape.empty() && output.shape[0] == 1)
      output.shape.erase(output.shape.begin());
  }
  return outputs;
}

}  // namespace argosy::serve
