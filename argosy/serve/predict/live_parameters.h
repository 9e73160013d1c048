#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/base/status.h"
#include "argosy/base/thread.h"
#include "argosy/engine/program/scope.h"
#include "argosy/engine/remote/remote_parameters.h"
#include "argosy/graph/program.h"
#include "argosy/serve/predict/parameter_source.h"

namespace argosy::serve {

// The names of the tables of a source: parameters that no file is read for.
std::set<std::string> names_of(const ParameterSource& source);

// The parameters of one model that come from a source. Each run pulls the rows that it looks up, through the scope's remote; of
// dense parameters there is a copy in the scope, which is made anew, as a whole, when the source has another version. The copy
// changes between two runs only: who begins a run holds binding().
//
// While the source does not answer, ready() is an error, and no run is begun: nothing is predicted from values of which nobody
// knows whether they are still the source's.
//
// Owns the thread "serve-refresh". Thread-safe.
class LiveParameters {
 public:
  // Takes the first values. Refuses by name a parameter that has another shape in `program` than in the source, and a program
  // with none of the source's tables. REQUIRES: scope and program outlive it.
  static Result<std::unique_ptr<LiveParameters>> start(const graph::Program& program, std::shared_ptr<ParameterSource> source,
                                                       engine::Scope& scope, double refresh_seconds);
  ~LiveParameters();

  Status ready() const;
  std::vector<ParameterSource::Origin> origins() const;  // when the source was last asked
  Mutex& binding() { return binding_; }

  // The whole value of a row table as `shape` says; keys 0 … n-1.
  Result<std::vector<float>> all_rows(const std::string& name) const;
  uint64_t rows_bytes() const { return rows_bytes_; }  // of all row tables, as the model declares them
  const engine::RemoteVariable* find_rows(std::string_view name) const;

 private:
  class Puller;
  struct Dense {
    std::string name;
    size_t table = 0;
    std::vector<int64_t> shape;
  };

  LiveParameters(std::shared_ptr<ParameterSource> source, engine::Scope& scope, double refresh_seconds);
  Status take(const graph::Program& program);
  Status add(const graph::VarDesc& variable, size_t table);
  Status refresh();
  Status copy_dense();
  void watch();

  const std::shared_ptr<ParameterSource> source_;
  engine::Scope& scope_;
  const double refresh_seconds_;
  std::shared_ptr<Puller> puller_;  // the scope's remote
  std::vector<Dense> dense_;        // constant after take()
  uint64_t rows_bytes_ = 0;         // likewise
  std::vector<uint64_t> copied_;    // the versions that the dense copies are of; of one thread at a time

  Mutex binding_;  // held while a run takes hold of the scope's tensors, and while they are replaced
  mutable Mutex mutex_;
  ConditionVariable stopped_;
  bool stopping_ ARGOSY_GUARDED_BY(mutex_) = false;
  Status ready_ ARGOSY_GUARDED_BY(mutex_);
  std::vector<ParameterSource::Origin> origins_ ARGOSY_GUARDED_BY(mutex_);
  Thread thread_;  // last: it uses all of the above
};

}  // namespace argosy::serve
