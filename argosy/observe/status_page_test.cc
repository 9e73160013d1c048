#include "argosy/observe/status_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace argosy::observe {
namespace {

using testing::HasSubstr;
using testing::Not;

// A machine of a cluster reaches nothing else, and what runs there concerns nobody else.
TEST(StatusPage, LoadsNothingFromElsewhere) {
  for (const char* outside : {"http:", "src=", "@import", "url("}) {
    std::string page = status_page();
    if (const size_t at = page.find("http://www.w3.org/2000/svg"); at != std::string::npos) page.erase(at, 26);  // a name only
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  }
}

// What the launcher knows of a server's two processes is on the page: who leads, in which epoch, whether alone, how far behind.
TEST(StatusPage, ShowsWhatIsKnownOfServersWithTwoProcesses) {
  for (const char* field : {"replica_epoch", "replica_whole", "follower_lag_records"})
    EXPECT_THAT(status_page(), HasSubstr(std::string("process.") + field));
}

TEST(StatusPage, ShowsHowStaleGradientsAre) {
  for (const char* field : {"mean_staleness", "pushes_by_staleness"})
    EXPECT_THAT(status_page(), HasSubstr(std::string("t.") + field));
}

TEST(StatusPage, AReportHasItsJobInside) {
  EXPECT_THAT(report_page("{\"job\":\"x\"}"), HasSubstr("id=\"data\">{\"job\":\"x\"}</script>"));
  EXPECT_THAT(status_page(), HasSubstr("id=\"data\"></script>"));
}

}  // namespace
}  // namespace argosy::observe
