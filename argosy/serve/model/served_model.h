#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "argosy/base/mutex.h"
#include "argosy/base/status.h"
#include "argosy/base/thread.h"
#include "argosy/serve/model/counters.h"
#include "argosy/serve/model/served_version.h"

namespace argosy::serve {

struct ServedModelOptions {
  std::filesystem::path path;  // a model, or a folder with one folder per version, whose names are numbers: the highest serves
  PredictorOptions predictor = {};
  int warmup = 1;             // runs of a version on random samples, of 1 and of `warmup_batch`, before it serves
  int64_t warmup_batch = 1;
  double reload_seconds = 0;  // how often the path is looked at for a new version; 0: never
};

// The model that is served, and its next version: where the files of the path have changed, the new ones are opened, tried on
// random samples and then put in place of the old ones, in one step: a request that has begun keeps the version that it began
// with. A version that cannot be opened or run is refused, with a line in the log, and not looked at again until its files
// change.
//
// Owns the thread "serve-reload". Thread-safe.
class ServedModel {
 public:
  using Open = std::function<Result<ServedVersion>(const std::filesystem::path&)>;

  // Opens the first version; an error where that fails. `open` is open_version() but in tests.
  static Result<std::unique_ptr<ServedModel>> start(const ServedModelOptions& options, ServeCounters& counters,
                                                    Open open = nullptr);
  ~ServedModel();

  std::shared_ptr<const ServedVersion> current() const;
  std::string last_problem() const;  // why the newest version was refused; empty: it was not
  void look_for_new_version();       // now, in this thread
  void stop();                       // safe to call twice

 private:
  ServedModel(const ServedModelOptions& options, ServeCounters& counters, Open open);
  Status open_current();
  void watch();

  const ServedModelOptions options_;
  ServeCounters& counters_;
  const Open open_;
  Mutex looking_;  // one look at a time
  std::string seen_ ARGOSY_GUARDED_BY(looking_);  // the state of the files that were opened last, good or bad
  int opened_ ARGOSY_GUARDED_BY(looking_) = 0;
  mutable Mutex mutex_;
  ConditionVariable stopped_;
  std::shared_ptr<const ServedVersion> current_ ARGOSY_GUARDED_BY(mutex_);
  std::string problem_ ARGOSY_GUARDED_BY(mutex_);
  bool stopping_ ARGOSY_GUARDED_BY(mutex_) = false;
  Thread thread_;  // last: it uses all of the above
};

// The model at `path`, opened and tried as `options` say.
Result<ServedVersion> open_version(const std::filesystem::path& path, const ServedModelOptions& options);

}  // namespace argosy::serve
