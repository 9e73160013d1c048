// Roles under mpirun.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "argosy/base/address.h"
#include "argosy/base/env.h"
#include "argosy/base/mutex.h"
#include "argosy/base/settings.h"
#include "argosy/base/text.h"
#include "argosy/fleet/mpi.h"
#include "argosy/fleet/role.h"

namespace argosy::fleet {
namespace {

constexpr double kExchangeSeconds = 600;
constexpr const char* kGiven = "given";  // instead of a token of the rank's own
// Above the ports that Linux gives to outgoing connections, so that none of those takes it before the server does.
constexpr int kFirstPort = 61000, kPorts = 4000;

// A free port of this machine, kept until the destructor so that two ranks of one machine do not choose the same.
class ReservedPort {
 public:
  explicit ReservedPort(int rank) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int start = (static_cast<int>(::getpid()) + rank) % kPorts;
    for (int i = 0; fd_ >= 0 && i < kPorts && port_ == 0; ++i) {
      sockaddr_in where{};
      where.sin_family = AF_INET;
      where.sin_addr.s_addr = htonl(INADDR_ANY);
      where.sin_port = htons(static_cast<uint16_t>(kFirstPort + (start + i) % kPorts));
      if (::bind(fd_, reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0) port_ = ntohs(where.sin_port);
    }
  }
  ~ReservedPort() {
    if (fd_ >= 0) ::close(fd_);
  }
  ReservedPort(const ReservedPort&) = delete;
  int port() const { return port_; }  // 0 where none is free

 private:
  const int fd_;
  int port_ = 0;
};

// What a rank tells the others. The loopback address does where all of them are on one machine. The token is one that it has
// drawn because nobody gave it any, or "given".
struct RankPlace {
  std::string machine, address, port, token;
  std::string endpoint(bool one_machine) const { return (one_machine ? "127.0.0.1" : address) + ":" + port; }
};

Result<std::vector<RankPlace>> exchange_places(Mpi& mpi, int port) {
  char machine[128] = "";
  ::gethostname(machine, sizeof machine - 1);
  const bool given = !env_text("ARGOSY_TOKEN").value_or("").empty();
  const std::string text = fmt::format("{} {} {} {}", machine, own_address(), port, given ? kGiven : draw_token());
  ASSIGN_OR_RETURN(const auto texts, mpi.all_gather(text, Deadline::after_seconds(kExchangeSeconds)));
  std::vector<RankPlace> places;
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    const auto parts = split(texts[rank], ' ');
    if (parts.size() != 4 || parts[2] == "0")
      return Status::unavailable("rank {} has no free port between {} and {}", rank, kFirstPort, kFirstPort + kPorts - 1);
    places.push_back({parts[0], parts[1], parts[2], parts[3]});
  }
  return places;
}

// The ranks of a run have the token that the first one has drawn, unless mpirun has handed one on.
void share_token(const std::vector<RankPlace>& places) {
  if (std::none_of(places.begin(), places.end(), [](const RankPlace& place) { return place.token == kGiven; }))
    set_drawn_token(places[0].token);
}

Result<RoleInfo> find_out() {
  if (!Mpi::was_started_by_it()) {
    return Status::failed_precondition(
        "MPISymetricRoleMaker: this process was not started by mpirun (there is no OMPI_COMM_WORLD_SIZE); start the script with "
        "mpirun, or give fleet.init another role maker, such as PaddleCloudRoleMaker for fleetrun");
  }
  ASSIGN_OR_RETURN(const auto mpi, Mpi::begin());
  if (mpi->size() < 2 || mpi->size() % 2 != 0) {
    return Status::invalid_argument(
        "MPISymetricRoleMaker: mpirun started {} ranks; expected an even number, a server and a worker each", mpi->size());
  }
  const ReservedPort port(mpi->rank());
  ASSIGN_OR_RETURN(const auto places, exchange_places(*mpi, port.port()));
  share_token(places);
  const bool one_machine =
      std::all_of(places.begin(), places.end(), [&](const RankPlace& place) { return place.machine == places[0].machine; });
  RoleInfo info{
      .role = mpi->rank() % 2 == 0 ? Role::server : Role::worker, .index = mpi->rank() / 2, .worker_count = mpi->size() / 2};
  for (size_t rank = 0; rank < places.size(); ++rank) {
    (rank % 2 == 0 ? info.server_endpoints : info.worker_endpoints).push_back(places[rank].endpoint(one_machine));
  }
  RETURN_IF_ERROR(info.check());
  return info;
}

}  // namespace

// MPI can be begun once per process, and a rank's role does not change.
Result<RoleInfo> mpi_symmetric_role() {
  static Mutex mutex;
  static std::optional<RoleInfo>& known = *new std::optional<RoleInfo>;
  MutexLock lock(mutex);
  if (!known) {
    ASSIGN_OR_RETURN(known, find_out());
  }
  return *known;
}

}  // namespace argosy::fleet
