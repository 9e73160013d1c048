#include <gtest/gtest.h>

#include <cstdlib>

#include "argosy/base/text.h"
#include "argosy/fleet/mpi.h"
#include "argosy/fleet/role.h"

namespace argosy::fleet {
namespace {

int variable(const char* name) { return static_cast<int>(parse_integer(std::getenv(name)).value()); }

// tests/system/test_mpi.py runs this program under mpirun too and compares what the ranks print; alone it is an error.
TEST(MpiRole, IsThatOfTheRank) {
  const auto role = mpi_symmetric_role();
  if (!Mpi::was_started_by_it()) {
    ASSERT_EQ(role.status().code(), Code::failed_precondition);
    EXPECT_NE(role.status().message().find("was not started by mpirun"), std::string::npos) << role.status().message();
    return;
  }
  ASSERT_TRUE(role.ok()) << role.status().message();
  const int rank = variable("OMPI_COMM_WORLD_RANK"), ranks = variable("OMPI_COMM_WORLD_SIZE");
  EXPECT_EQ(role->role, rank % 2 == 0 ? Role::server : Role::worker);
  EXPECT_EQ(role->index, rank / 2);
  EXPECT_EQ(role->worker_count, ranks / 2);
  const auto again = mpi_symmetric_role();
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->server_endpoints, role->server_endpoints);
  std::printf("servers %s workers %s\n", join(role->server_endpoints, ",").c_str(), join(role->worker_endpoints, ",").c_str());
}

TEST(Mpi, ALibraryThatIsNotOneIsNamed) {
  if (Mpi::was_started_by_it()) return;  // whose library this would replace
  ::setenv("ARGOSY_MPI_LIBRARY", "/nowhere/libmpi.so", 1);
  const auto absent = Mpi::begin();
  EXPECT_NE(absent.status().message().find("/nowhere/libmpi.so"), std::string::npos) << absent.status().message();
  ::setenv("ARGOSY_MPI_LIBRARY", "libc.so.6", 1);
  const auto other = Mpi::begin();
  EXPECT_EQ(other.status().message(), "the MPI library has no MPI_Initialized: it is not OpenMPI's, and no other is known here");
  ::unsetenv("ARGOSY_MPI_LIBRARY");
}

}  // namespace
}  // namespace argosy::fleet
