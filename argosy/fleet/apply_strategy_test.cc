#include "argosy/fleet/apply_strategy.h"

#include <gmock/gmock.h>

#include <cstdlib>

namespace argosy::fleet {
namespace {

using ::testing::HasSubstr;

ps::JobSpec spec_with_table() {
  return {
      .mode = ps::Mode::async,
      .workers = 1,
      .tables = {
          {.name = "w", .size = 4, .schedule = optim::LearningRate(1).to_schedule()},
          {.name = "emb", .sparse = true, .width = 2, .declared_rows = 10, .schedule = optim::LearningRate(1).to_schedule()}}};
}

TEST(Strategy, OptionsReachTheirTable) {
  ps::JobSpec spec = spec_with_table();
  const Strategy strategy{.tables = {{"emb",
                                      {{"sparse_delete_threshold", 0.5},
                                       {"sparse_delete_after_unseen_days", 2},
                                       {"sparse_delete_after_unseen_steps", 7},
                                       {"sparse_show_click_decay_rate", 0.9},
                                       {"sparse_nonclk_coeff", 0.2},
                                       {"sparse_click_coeff", 3},
                                       {"sparse_embedx_threshold", 4}}}}};
  const Status status = apply_table_options(strategy, spec);
  ASSERT_TRUE(status.ok()) << status.message();
  const ps::TableSpec& table = spec.tables[1];
  EXPECT_EQ(table.expiry, (ps::Expiry{.score = 0.5f, .unseen_steps = 7, .ttl_seconds = 2 * 86'400}));
  EXPECT_EQ(table.show_click, (ps::ShowClick{.enabled = true, .non_click_weight = 0.2f, .click_weight = 3, .decay = 0.9f}));
  EXPECT_EQ(table.admission, (ps::Admission{.kind = ps::Admission::Kind::show_click, .score = 4}));
}

TEST(Strategy, OptionsThatCannotBeAreNamed) {
  const auto refused = [](std::map<std::string, std::map<std::string, double>> tables) {
    ps::JobSpec spec = spec_with_table();
    return apply_table_options({.tables = std::move(tables)}, spec).message();
  };
  EXPECT_THAT(refused({{"w", {}}}), HasSubstr("the sparse table 'w', which this job does not have; it has: emb"));
  EXPECT_THAT(refused({{"emb", {{"ttl", 1}}}}), HasSubstr("table 'emb': 'ttl' is no option of a sparse table; expected one of"));
  EXPECT_THAT(refused({{"emb", {{"sparse_click_coeff", -1}}}}), HasSubstr("sparse_click_coeff is -1, expected a number from 0"));
}

TEST(Strategy, FlagsOfTheEnvironmentAreHonouredOrRefused) {
  const auto options = [] { return communicator_options({.mode = ps::Mode::async}, Plan{}, *Settings::from_environment({})); };
  ::setenv("FLAGS_communicator_send_queue_size", "7", 1);
  ASSERT_TRUE(options().ok()) << options().status().message();
  EXPECT_EQ(options()->send_queue_size, 7);
  ::unsetenv("FLAGS_communicator_send_queue_size");
  ::setenv("FLAGS_communicator_send_que_size", "7", 1);
  EXPECT_THAT(options().status().message(),
              HasSubstr("FLAGS_communicator_send_que_size is no flag that is honoured here; did you "
                        "mean FLAGS_communicator_send_queue_size?"));
  ::unsetenv("FLAGS_communicator_send_que_size");
}

// Given by the strategy; a variable of the environment would win. Means are left as they are unless they are named.
TEST(WireFormats, CountForAllTablesOrForOne) {
  const auto applied = [](const std::map<std::string, std::string>& fields, ps::Mode mode = ps::Mode::sync) {
    ps::JobSpec spec{
        .mode = mode,
        .tables = {ps::TableSpec{.name = "w"}, ps::TableSpec{.name = "emb", .sparse = true}, ps::TableSpec{.name = "mean"}}};
    spec.tables[0].size = spec.tables[2].size = 8;
    spec.tables[1].width = 4;
    spec.tables[2].rule = optim::kRunningMean;
    for (ps::TableSpec& table : spec.tables) {
      table.geo = mode == ps::Mode::geo;
      table.schedule = optim::LearningRate(1).to_schedule();
    }
    const auto settings = Settings::from_environment(fields);
    const Status status = settings.ok() ? apply_wire_formats(*settings, spec) : settings.status();
    if (!status.ok()) return status.message();
    std::string text;
    for (const ps::TableSpec& table : spec.tables) text += std::string(ps::wire_format_name(table.wire_format)) + " ";
    return text;
  };
  EXPECT_EQ(applied({}), "float32 float32 float32 ");
  EXPECT_EQ(applied({{"wire_format", "bfloat16"}}), "bfloat16 bfloat16 float32 ");
  EXPECT_EQ(applied({{"wire_format", "int8"}, {"wire_format_tables", "w=bfloat16,mean=int8"}}), "bfloat16 int8 int8 ");
  EXPECT_THAT(applied({{"wire_format", "float16"}}), HasSubstr("wire_format"));
  EXPECT_THAT(applied({{"wire_format_tables", "w=half"}}), HasSubstr("found 'w=half', expected NAME=CHOICE"));
  EXPECT_THAT(applied({{"wire_format_tables", "v=int8"}}), HasSubstr("no parameter 'v'; it has: w, emb, mean"));
  EXPECT_THAT(applied({{"wire_format", "int8"}}, ps::Mode::geo), HasSubstr("table 'w': wire_format is int8 in geo mode"));
}

}  // namespace
}  // namespace argosy::fleet
