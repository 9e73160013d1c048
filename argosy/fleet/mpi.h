#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/clock.h"
#include "argosy/base/status.h"

namespace argosy::fleet {

// The little of MPI that roles need. It is OpenMPI's library, opened when it is first used, so that nobody else needs one, not to
// build and not to run: libmpi.so.40, libmpi.so, or the file that ARGOSY_MPI_LIBRARY names. Confined to one thread.
class Mpi {
 public:
  // Whether this process was started by mpirun, or by a scheduler in its stead.
  static bool was_started_by_it();

  // Begins MPI in this process unless somebody has. Fails where there is no library, where it is not OpenMPI's, and where
  // MPI has been ended already: it can be begun once per process.
  static Result<std::unique_ptr<Mpi>> begin();
  virtual ~Mpi() = default;  // ends MPI if begin() began it

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // What every rank gives, in the order of ranks. All ranks must call it; a text has at most kLongest bytes.
  virtual Result<std::vector<std::string>> all_gather(std::string_view text, Deadline deadline) = 0;
  static constexpr size_t kLongest = 255;
};

}  // namespace argosy::fleet
