#include "argosy/fleet/mpi.h"

#include <dlfcn.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "argosy/base/env.h"

namespace argosy::fleet {
namespace {

constexpr auto kPollEvery = std::chrono::milliseconds(1);
constexpr int kSuccess = 0;       // MPI_SUCCESS
constexpr int kThreadSingle = 0;  // MPI_THREAD_SINGLE
constexpr int kTextBytes = static_cast<int>(Mpi::kLongest) + 1;

// OpenMPI's handles are pointers; those of communicators, types and error handlers are addresses of variables that it exports.
using Handle = void*;

struct Functions {
  int (*initialized)(int*);
  int (*finalized)(int*);
  int (*init_thread)(int*, char***, int, int*);
  int (*finalize)();
  int (*comm_rank)(Handle, int*);
  int (*comm_size)(Handle, int*);
  int (*comm_set_errhandler)(Handle, Handle);
  int (*iallgather)(const void*, int, Handle, void*, int, Handle, Handle, Handle*);
  int (*test)(Handle*, int*, void*);
  Handle world, byte, errors_return;
};

// Finds symbols, and remembers the first that is not there.
class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}

  template <typename Function>
  void find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library_, name));
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

// RTLD_GLOBAL: OpenMPI's own plugins look for its symbols in the process. The library is never closed, as MPI cannot be unloaded.
Result<void*> open_library() {
  std::vector<std::string> names = {"libmpi.so.40", "libmpi.so"};
  if (const auto given = env_text("ARGOSY_MPI_LIBRARY")) names = {*given};
  std::string reason;
  for (const std::string& name : names) {
    if (void* library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL)) return library;
    if (const char* error = ::dlerror(); reason.empty() && error != nullptr) reason = error;
  }
  return Status::unavailable("OpenMPI's library is not there: {}; install OpenMPI 4, or name the file in ARGOSY_MPI_LIBRARY",
                             reason);
}

Result<Functions> load_functions() {
  ASSIGN_OR_RETURN(void* const library, open_library());
  Functions found{};
  Symbols symbols(library);
  symbols.find("MPI_Initialized", found.initialized);
  symbols.find("MPI_Finalized", found.finalized);
  symbols.find("MPI_Init_thread", found.init_thread);
  symbols.find("MPI_Finalize", found.finalize);
  symbols.find("MPI_Comm_rank", found.comm_rank);
  symbols.find("MPI_Comm_size", found.comm_size);
  symbols.find("MPI_Comm_set_errhandler", found.comm_set_errhandler);
  symbols.find("MPI_Iallgather", found.iallgather);
  symbols.find("MPI_Test", found.test);
  symbols.find("ompi_mpi_comm_world", found.world);
  symbols.find("ompi_mpi_byte", found.byte);
  symbols.find("ompi_mpi_errors_return", found.errors_return);
  if (!symbols.missing().empty())
    return Status::unimplemented("the MPI library has no {}: it is not OpenMPI's, and no other is known here", symbols.missing());
  return found;
}

Status check(int code, const char* call) {
  if (code == kSuccess) return {};
  return Status::unavailable("{} failed with MPI's error {}", call, code);
}

class OpenMpi : public Mpi {
 public:
  explicit OpenMpi(Functions functions) : mpi_(functions) {}
  ~OpenMpi() override {
    if (began_) mpi_.finalize();
  }

  Status start() {
    int finalized = 0, initialized = 0;
    RETURN_IF_ERROR(check(mpi_.finalized(&finalized), "MPI_Finalized"));
    if (finalized != 0)
      return Status::failed_precondition("MPI has been ended in this process and cannot be begun again; make the role once");
    RETURN_IF_ERROR(check(mpi_.initialized(&initialized), "MPI_Initialized"));
    if (initialized == 0) {
      int provided = 0;
      RETURN_IF_ERROR(check(mpi_.init_thread(nullptr, nullptr, kThreadSingle, &provided), "MPI_Init_thread"));
      began_ = true;
      RETURN_IF_ERROR(check(mpi_.comm_set_errhandler(mpi_.world, mpi_.errors_return), "MPI_Comm_set_errhandler"));
    }
    RETURN_IF_ERROR(check(mpi_.comm_rank(mpi_.world, &rank_), "MPI_Comm_rank"));
    return check(mpi_.comm_size(mpi_.world, &size_), "MPI_Comm_size");
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  Result<std::vector<std::string>> all_gather(std::string_view text, Deadline deadline) override {
    if (text.size() > kLongest) return Status::invalid_argument("a text of {} bytes for {} at most", text.size(), kLongest);
    own_.assign(kTextBytes, '\0');
    all_.resize(static_cast<size_t>(kTextBytes) * static_cast<size_t>(size_));
    std::memcpy(own_.data(), text.data(), text.size());
    Handle request = nullptr;
    RETURN_IF_ERROR(
        check(mpi_.iallgather(own_.data(), kTextBytes, mpi_.byte, all_.data(), kTextBytes, mpi_.byte, mpi_.world, &request),
              "MPI_Iallgather"));
    RETURN_IF_ERROR(wait(request, deadline));
    std::vector<std::string> texts;
    for (int rank = 0; rank < size_; ++rank) {
      const char* begin = all_.data() + static_cast<ptrdiff_t>(rank) * kTextBytes;
      texts.emplace_back(begin, ::strnlen(begin, kLongest));
    }
    return texts;
  }

 private:
  Status wait(Handle& request, Deadline deadline) {
    for (int done = 0;;) {
      RETURN_IF_ERROR(check(mpi_.test(&request, &done, nullptr), "MPI_Test"));
      if (done != 0) return {};
      if (deadline.passed()) {
        began_ = false;  // MPI_Finalize would wait for the others without end
        return Status::deadline_exceeded("rank {} timed out waiting for the other {} ranks; did all of them make their role?",
                                         rank_, size_ - 1);
      }
      std::this_thread::sleep_for(kPollEvery);  // MPI has no wait with a deadline, and goes on only while it is called
    }
  }

  const Functions mpi_;
  bool began_ = false;
  int rank_ = 0, size_ = 1;
  std::vector<char> own_, all_;  // of an exchange, which MPI uses until it is done
};

}  // namespace

bool Mpi::was_started_by_it() { return env_text("OMPI_COMM_WORLD_SIZE") || env_text("PMIX_RANK") || env_text("PMI_RANK"); }

Result<std::unique_ptr<Mpi>> Mpi::begin() {
  ASSIGN_OR_RETURN(const Functions functions, load_functions());
  auto mpi = std::make_unique<OpenMpi>(functions);
  RETURN_IF_ERROR(mpi->start());
  return std::unique_ptr<Mpi>(std::move(mpi));
}

}  // namespace argosy::fleet
