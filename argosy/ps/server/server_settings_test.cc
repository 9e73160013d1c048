#include "argosy/ps/server/server_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace argosy::ps {
namespace {

using testing::HasSubstr;

TEST(ServerSettings, BecomeAServersOptions) {
  const auto settings = Settings::from_environment({{"job", "ctr"},
                                                    {"directory", "/data/job"},
                                                    {"durability", "wal_sync"},
                                                    {"snapshot_seconds", "30"},
                                                    {"log_limit", "1G"},
                                                    {"mem_limit", "8G"},
                                                    {"lease_seconds", "5"},
                                                    {"on_worker_loss", "shrink"},
                                                    {"worker_wait_seconds", "7"},
                                                    {"mailbox_limit", "2M"},
                                                    {"token", "secret"},
                                                    {"tls_ca", "ca.pem"},
                                                    {"tls_certificate", "c.pem"},
                                                    {"tls_key", "k.pem"}});
  ASSERT_TRUE(settings.ok()) << settings.status().message();
  const auto options = server_options(*settings, 1, 2);
  ASSERT_TRUE(options.ok()) << options.status().message();
  EXPECT_EQ(options->job, "ctr");
  EXPECT_EQ(options->directory, "/data/job/server-1");
  EXPECT_EQ(options->settled_durability(), Durability::wal_sync);
  EXPECT_EQ(options->snapshot_seconds, 30);
  EXPECT_EQ(options->log_limit_bytes, int64_t{1} << 30);
  EXPECT_EQ(options->mem_limit_bytes, uint64_t{8} << 30);
  EXPECT_EQ(options->lease_seconds, 5);
  EXPECT_EQ(options->on_worker_loss, OnWorkerLoss::shrink);
  EXPECT_EQ(options->worker_wait_seconds, 7);
  EXPECT_EQ(options->mailbox_limit_bytes, uint64_t{2} << 20);
  EXPECT_EQ(options->security.token, "secret");
  EXPECT_EQ(options->security.ca, "ca.pem");
  EXPECT_EQ(options->security.certificate, "c.pem");
  EXPECT_EQ(options->security.key, "k.pem");
}

TEST(ServerSettings, ChooseTheDurabilityByTheDirectory) {
  EXPECT_EQ(server_options(*Settings::from_environment(), 0, 1)->settled_durability(), Durability::none);
  EXPECT_EQ(server_options(*Settings::from_environment({{"directory", "/d"}}), 0, 1)->settled_durability(), Durability::wal);
}

TEST(ServerSettings, RefuseWhatCannotBe) {
  const auto refusal = [](const std::map<std::string, std::string>& fields, int server, int servers) {
    return server_options(*Settings::from_environment(fields), server, servers).status().message();
  };
  EXPECT_THAT(refusal({{"durability", "wal"}}, 0, 1), HasSubstr("durability is wal; that needs a directory"));
  EXPECT_THAT(refusal({{"mem_limit", "1G"}}, 0, 1), HasSubstr("mem_limit is 1073741824 bytes; that needs a directory"));
  EXPECT_THAT(refusal({}, 2, 2), HasSubstr("server is 2; expected 0 to 1"));
}

// replicas=1: the seat says where a process listens and keeps its state.
TEST(ServerSettings, AServerOfTwoProcessesHasTwoSeats) {
  const std::map<std::string, std::string> fields = {{"replicas", "1"}, {"followers", "b:1,b:2"}, {"directory", "/d"}};
  const Settings settings = *Settings::from_environment(fields);
  const std::vector<std::string> servers = {"a:1", "a:2"};
  EXPECT_TRUE(server_options(settings, 1, 2)->replica);
  EXPECT_EQ(server_options(settings, 1, 2)->directory, "/d/server-1");
  EXPECT_EQ(*server_address(settings, servers, 1), "a:2");
  ::setenv("ARGOSY_SEAT", "follower", 1);
  EXPECT_EQ(server_options(settings, 1, 2)->directory, "/d/followers/server-1");
  EXPECT_EQ(*server_address(settings, servers, 1), "b:2");
  EXPECT_THAT(server_options(Settings(), 0, 1).status().message(), HasSubstr("ARGOSY_SEAT=follower, and replicas is 0"));
  ::setenv("ARGOSY_SEAT", "spectator", 1);
  EXPECT_THAT(server_options(settings, 1, 2).status().message(), HasSubstr("expected server or follower"));
  ::unsetenv("ARGOSY_SEAT");
  EXPECT_THAT(follower_endpoints(settings, 3).status().message(), HasSubstr("followers lists 2 for 3 servers"));
  EXPECT_THAT(follower_endpoints(*Settings::from_environment({{"followers", "b:1"}}), 1).status().message(),
              HasSubstr("replicas is 0; set replicas=1"));
  EXPECT_THAT(server_options(*Settings::from_environment({{"replicas", "1"}}), 0, 1).status().message(),
              HasSubstr("give a directory"));
}

}  // namespace
}  // namespace argosy::ps
