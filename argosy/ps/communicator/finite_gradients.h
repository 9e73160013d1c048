#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/base/step_gradients.h"
#include "argosy/ps/communicator/gradients.h"
#include "argosy/ps/spec/job_spec.h"
#include "argosy/ps/spec/nonfinite_policy.h"

namespace argosy::ps {

// Keeps gradients that are not finite out of a worker's own copy of the parameters (geo). By the time that servers see a
// difference the copy is trained: its row would be NaN for the rest of the job, and soon everything that is computed with it.
//
// A row of a sparse table, and a server's part of a dense one, is one gradient, as servers count them.
//
// Thread-safe.
class FiniteGradients {
 public:
  FiniteGradients(const JobSpec& spec, int servers, int worker, Nonfinite policy);

  // Whether all numbers of a batch are. One pass; the usual case.
  bool is_finite(const StepGradients& gradients) const;

  // REQUIRES, of both: !is_finite(gradients).
  // The policy `refuse`: names the batch and the first number that is not finite.
  Status refusal(const StepGradients& gradients) const;
  // The other policies. skip: all numbers of a gradient that has such a number become 0; clip: these numbers do. (Weight decay
  // applies all the same.) The first one of each table is said; all are counted.
  void make_finite(GradientCopy& gradients);

  bool refuses() const { return policy_ == Nonfinite::refuse; }
  // Appends how many there were by server and table since the last call; nothing where there were none.
  void take_counts(std::vector<uint64_t>& counts);

 private:
  // A gradient in a batch: which numbers of which table, and whose.
  struct Part {
    int table = 0, server = 0;
    std::span<const float> values;
    std::string name;  // "key 6"; of a dense table empty
    size_t begin = 0;  // of the values, in a dense table
  };

  template <typename Body>
  void for_bad(const StepGradients& gradients, const Body& body) const;
  std::string describe(const StepGradients& gradients, const Part& part) const;
  size_t place(int server, int table) const {
    return static_cast<size_t>(server) * spec_.tables.size() + static_cast<size_t>(table);
  }

  const JobSpec& spec_;
  const int servers_, worker_;
  const Nonfinite policy_;
  std::vector<std::atomic<uint64_t>> counts_;  // by place()
  std::vector<std::atomic<bool>> said_;        // by table
};

}  // namespace argosy::ps
