#include "argosy/serve/model/served_model.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "argosy/base/log.h"
#include "argosy/base/text.h"
#include "argosy/base/uri.h"
#include "argosy/data/object_folder.h"
#include "argosy/data/object_store.h"
#include "argosy/serve/predict/sample_inputs.h"

namespace argosy::serve {
namespace fs = std::filesystem;
namespace {

// Of an object store.
Result<std::string> newest_stored_version(const std::string& uri) {
  ASSIGN_OR_RETURN(const auto found, data::list_objects(uri, false));
  int64_t highest = -1;
  std::string newest = uri;
  for (const data::ObjectInfo& object : found) {
    const auto number = parse_integer(split_uri(object.uri).name);
    if (!object.folder || !number || *number <= highest) continue;
    highest = *number;
    newest = object.uri;
  }
  return newest;
}

// The folder of the newest version where `path` is a folder of versions; else `path` itself.
Result<fs::path> newest_version(const fs::path& path) {
  if (data::is_store_uri(path.string())) {
    ASSIGN_OR_RETURN(const std::string newest, newest_stored_version(path.string()));
    return fs::path(newest);
  }
  std::error_code error;
  int64_t highest = -1;
  fs::path found = path;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    const auto number = parse_integer(entry.path().filename().string());
    if (!number || *number <= highest || !entry.is_directory(error)) continue;
    highest = *number;
    found = entry.path();
  }
  return found;
}

// The number of a version; nothing where it is none.
std::optional<std::string> version_of(const fs::path& path) {
  const std::string name = data::is_store_uri(path.string()) ? split_uri(path.string()).name : path.filename().string();
  return parse_integer(name) ? std::optional(name) : std::nullopt;
}

void add_state(std::string& state, const fs::path& file) {
  struct stat info = {};
  if (::stat(file.c_str(), &info) != 0 || S_ISDIR(info.st_mode)) return;
  state += fmt::format("{}:{}:{}:{}.{}\n", file.string(), info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

// A text that is another one whenever a file of the model is.
Result<std::string> state_of(const fs::path& path) {
  if (data::is_store_uri(path.string())) {
    ASSIGN_OR_RETURN(const std::string state, data::folder_state(path.string()));
    return path.string() + "\n" + state;
  }
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(path, error)) files.push_back(entry.path());
  if (files.empty())  // a file, or the common beginning of x.pdmodel and x.pdiparams
    for (const char* ending : {"", ".pdmodel", ".pdiparams"}) files.emplace_back(path.string() + ending);
  std::sort(files.begin(), files.end());
  std::string state = path.string() + "\n";
  for (const fs::path& file : files) add_state(state, file);
  return state;
}

}  // namespace

Result<ServedVersion> open_version(const fs::path& path, const ServedModelOptions& options) {
  ASSIGN_OR_RETURN(Predictor opened, Predictor::open(path, options.predictor));
  const auto predictor = std::make_shared<const Predictor>(std::move(opened));
  for (int i = 0; i < options.warmup; ++i) {
    for (const int64_t samples : {int64_t{1}, options.warmup_batch}) {
      ASSIGN_OR_RETURN(const Inputs inputs, sample_inputs(*predictor, samples, static_cast<uint64_t>(i)));
      RETURN_IF_ERROR(
          predictor->run(inputs).status().with_context("warm-up of '{}' with {} random samples", path.string(), samples));
    }
  }
  return ServedVersion{.version = "",
                       .inputs = predictor->inputs(),
                       .outputs = predictor->outputs(),
                       .options = predictor->options(),
                       .run = [predictor](const Inputs& inputs) { return predictor->run(inputs); },
                       .parameters = [predictor](uint64_t most) { return predictor->parameters(most); },
                       .ready = [predictor] { return predictor->ready(); },
                       .origins = [predictor] { return predictor->origins(); }};
}

ServedModel::ServedModel(const ServedModelOptions& options, ServeCounters& counters, Open open)
    : options_(options), counters_(counters), open_(std::move(open)) {}

Result<std::unique_ptr<ServedModel>> ServedModel::start(const ServedModelOptions& options, ServeCounters& counters, Open open) {
  if (open == nullptr) open = [options](const fs::path& path) { return open_version(path, options); };
  std::unique_ptr<ServedModel> model(new ServedModel(options, counters, std::move(open)));
  RETURN_IF_ERROR(model->open_current());
  if (options.reload_seconds > 0) model->thread_ = Thread("serve-reload", [served = model.get()] { served->watch(); });
  return model;
}

ServedModel::~ServedModel() { stop(); }

void ServedModel::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  stopped_.notify_all();
  thread_.join();
}

std::shared_ptr<const ServedVersion> ServedModel::current() const {
  MutexLock lock(mutex_);
  return current_;
}

std::string ServedModel::last_problem() const {
  MutexLock lock(mutex_);
  return problem_;
}

// Opens what is there where it is not what was opened before. Files that change meanwhile are left to the next look.
Status ServedModel::open_current() {
  MutexLock looking(looking_);
  ASSIGN_OR_RETURN(const fs::path path, newest_version(options_.path));
  ASSIGN_OR_RETURN(std::string state, state_of(path));
  if (state == seen_) return {};
  auto opened = open_(path);
  ASSIGN_OR_RETURN(const std::string after, state_of(path));
  if (after != state) return Status::aborted("'{}' changed while it was read", path.string());
  seen_ = std::move(state);
  if (!opened.ok()) {
    MutexLock lock(mutex_);
    problem_ = opened.status().message();
    return opened.status();
  }
  ++opened_;
  opened->version = version_of(path).value_or(std::to_string(opened_));
  auto version = std::make_shared<const ServedVersion>(std::move(*opened));
  MutexLock lock(mutex_);
  current_.swap(version);  // the old one ends after the lock, or with its last request
  problem_.clear();
  lock.unlock();
  return {};
}

void ServedModel::look_for_new_version() {
  const auto before = current();
  const Status status = open_current();
  if (status.code() == Code::aborted) return;  // being written: the next look has it
  if (!status.ok()) {
    counters_.add_reload(false);
    log_error("the new version of '{}' is refused, and version {} goes on serving: {}", options_.path.string(), before->version,
              status.message());
  } else if (const auto now = current(); now != before) {
    counters_.add_reload(true);
    log_info("version {} of '{}' serves now, in place of {}", now->version, options_.path.string(), before->version);
  }
}

void ServedModel::watch() {
  const auto period = std::chrono::duration<double>(options_.reload_seconds);
  for (;;) {
    {
      MutexLock lock(mutex_);
      if (stopped_.wait_for(lock, period, [&]() ARGOSY_REQUIRES(mutex_) { return stopping_; })) return;
    }
    look_for_new_version();
  }
}

}  // namespace argosy::serve
