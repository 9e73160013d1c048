#include "argosy/base/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

namespace argosy {
namespace {

// Variables that are there for one test.
class SettingsTest : public testing::Test {
 protected:
  ~SettingsTest() override {
    for (const std::string& name : set_) ::unsetenv(name.c_str());
  }
  void set(const std::string& name, const std::string& value) {
    ::setenv(name.c_str(), value.c_str(), 1);
    set_.insert(name);
  }

 private:
  std::set<std::string> set_;
};

std::string error_of(const Result<Settings>& result) { return result.ok() ? "" : result.status().message(); }

// The getters parse without a second look, so that the table itself must be right.
TEST_F(SettingsTest, EveryRowHasAStandardThatFits) {
  std::set<std::string> names;
  for (const Setting& setting : all_settings()) {
    EXPECT_TRUE(setting.check(setting.default_value).ok()) << setting.name;
    EXPECT_TRUE(names.insert(setting.name).second) << setting.name;
    EXPECT_FALSE(setting.help.empty()) << setting.name;
  }
}

TEST_F(SettingsTest, TheStarterHasTheLastWordThenTheScriptThenTheTable) {
  set("ARGOSY_MEM_LIMIT", "1.5G");
  set("ARGOSY_ON_WORKER_LOSS", "wait");
  const auto settings = Settings::from_environment({{"on_worker_loss", "shrink"}, {"lease_seconds", "2.5"}});
  ASSERT_TRUE(settings.ok()) << settings.status().message();
  EXPECT_EQ(settings->bytes("mem_limit"), int64_t{3} << 29);
  EXPECT_EQ(settings->text("on_worker_loss"), "wait");
  EXPECT_EQ(settings->seconds("lease_seconds"), 2.5);
  EXPECT_EQ(settings->text("durability"), "auto");
  EXPECT_EQ(settings->seconds("server_wait_seconds"), 600);
  EXPECT_TRUE(settings->given("lease_seconds"));
  EXPECT_FALSE(settings->given("durability"));
}

TEST_F(SettingsTest, WhatCannotBeIsNamed) {
  EXPECT_EQ(error_of(Settings::from_environment({{"durability", "wall"}})),
            "setting 'durability': found 'wall', expected auto, none, snapshot, wal, wal_sync");
  EXPECT_NE(
      error_of(Settings::from_environment({{"durabilty", "wal"}})).find("no setting 'durabilty', did you mean 'durability'?"),
      std::string::npos);
  set("ARGOSY_LEASE_SECONDS", "-1");
  EXPECT_EQ(error_of(Settings::from_environment()),
            "environment variable ARGOSY_LEASE_SECONDS: found '-1', expected a number of seconds above 0");
}

// Servers would keep their state in a folder of the name "s3:" below where they were started, and lose it with the machine.
TEST_F(SettingsTest, AFolderThatProcessesWriteIsNoPlaceOfAStore) {
  for (const std::string place : {"s3://bucket/kept", "file:///data/kept", "hdfs:/kept", "afs:/kept", "/data:s3://bucket"}) {
    EXPECT_EQ(error_of(Settings::from_environment({{"directory", place}})),
              "setting 'directory': found '" + place +
                  "', expected a folder on a disk of this machine, or on one that all machines mount (/shared/ctr); a URI is for "
                  "data and for models that are saved");
    EXPECT_FALSE(Settings::from_environment({{"snapshot_roots", place}}).ok()) << place;
    EXPECT_FALSE(Settings::from_environment({{"trace", place}}).ok()) << place;
    EXPECT_TRUE(Settings::from_environment({{"job", place}}).ok()) << place;
  }
  EXPECT_TRUE(Settings::from_environment({{"directory", "kept"}, {"snapshot_roots", "/data:here"}}).ok());
  set("ARGOSY_DIRECTORY", "s3://bucket/kept");
  EXPECT_EQ(error_of(Settings::from_environment()).find("environment variable ARGOSY_DIRECTORY: found 's3://bucket/kept'"), 0);
}

// Choices by name are found out before anything starts, by every program that reads them: one that is not there, and a name with
// two.
TEST_F(SettingsTest, ChoicesByNameAreEachOneOfThoseThatThereAre) {
  const auto tables = [](const std::string& text) { return Settings::from_environment({{"wire_format_tables", text}}); };
  const NamedChoices both = {{"emb", "int8"}, {"fc_0=w", "bfloat16"}};
  EXPECT_EQ(tables("emb=int8,fc_0=w=bfloat16")->choices_by_name("wire_format_tables"), both);
  EXPECT_TRUE(tables("")->choices_by_name("wire_format_tables").empty());
  for (const std::string wrong : {"emb=half", "emb", "=int8", "emb="}) {
    EXPECT_EQ(error_of(tables("w=int8," + wrong)),
              "setting 'wire_format_tables': found '" + wrong + "', expected NAME=CHOICE with one of float32, bfloat16, int8");
  }
  for (const std::string twice : {"likes=int8,likes=bfloat16", "likes=int8,w=int8,likes=int8"}) {
    EXPECT_EQ(error_of(tables(twice)),
              "setting 'wire_format_tables': found 'likes' twice, in '" + twice + "'; expected each name once");
  }
}

// A misspelt variable would silently train with another durability.
TEST_F(SettingsTest, AVariableThatNobodyKnowsIsAnErrorWithTheNearestName) {
  set("ARGOSY_DURABILTY", "wal");
  EXPECT_EQ(
      error_of(Settings::from_environment()),
      "there is no environment variable ARGOSY_DURABILTY, did you mean ARGOSY_DURABILITY?; `fleetrun --settings` lists all, "
      "unset it");
}

TEST_F(SettingsTest, EveryVariableOfTheTablesIsKnown) {
  for (const OtherVariable& variable : other_variables()) {
    EXPECT_FALSE(variable.help.empty()) << variable.name;
    set(variable.name, "");
  }
  EXPECT_TRUE(check_variable_names().ok()) << check_variable_names().message();
}

TEST_F(SettingsTest, ADrawnTokenIsTheLeastThatCounts) {
  const std::string drawn = draw_token();
  EXPECT_EQ(drawn.size(), 32);
  EXPECT_NE(drawn, draw_token());
  set_drawn_token(drawn);
  EXPECT_EQ(Settings::from_environment()->text("token"), drawn);
  EXPECT_EQ(Settings::from_environment({{"token", "script"}})->text("token"), "script");
  set("ARGOSY_TOKEN", "starter");
  EXPECT_EQ(Settings::from_environment()->text("token"), "starter");
  set_drawn_token("");
}

TEST_F(SettingsTest, TheDocumentEscapesWhatWouldEndACell) {
  EXPECT_NE(settings_document().find("| `on_worker_loss` | `ARGOSY_ON_WORKER_LOSS` | fail\\|wait\\|shrink | fail | when"),
            std::string::npos)
      << settings_document();
}

}  // namespace
}  // namespace argosy
