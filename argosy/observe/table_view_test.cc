// What several servers say of a table, put together, is what one server with all of it would say.
#include "argosy/observe/table_view.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "argosy/base/random.h"

namespace argosy::observe {
namespace {

TableView sum_of(std::vector<TableView> parts) {
  TableView all{.name = parts[0].name};
  for (const TableView& part : parts) all.add(part);
  return all;
}

// Parts of a vector have norms whose squares add up, in any order and over any number of servers.
TEST(TableView, PartsOfADenseTableHaveTheNormOfTheWhole) {
  Random random(7);
  for (int i = 0; i < 100; ++i) {
    double squares = 0;
    std::vector<TableView> parts;
    for (uint64_t server = 0, servers = 1 + random.below(5); server < servers; ++server) {
      const double norm = random.uniform() * 10;
      squares += norm * norm;
      parts.push_back({.name = "w", .memory_bytes = 8, .norm = norm});
    }
    EXPECT_NEAR(sum_of(parts).norm, std::sqrt(squares), 1e-9);
    std::ranges::reverse(parts);
    EXPECT_NEAR(sum_of(parts).norm, std::sqrt(squares), 1e-9);
    EXPECT_EQ(sum_of(parts).memory_bytes, 8.0 * static_cast<double>(parts.size()));
  }
}

// Of a sparse table each server tells the mean over the rows that it looked at: a server with more rows counts for more.
TEST(TableView, TheMeanNormOfRowsCountsRows) {
  const TableView many{.name = "ids", .rows = 900, .norm = 1, .rows_by_norm = {{1, 60}, {2, 30}}};
  const TableView few{.name = "ids", .rows = 100, .cold_rows = 5, .norm = 11, .rows_by_norm = {{2, 4}, {16, 6}}};
  for (const auto& parts : {std::vector{many, few}, std::vector{few, many}}) {
    const TableView all = sum_of(parts);
    EXPECT_DOUBLE_EQ(all.norm, (90 * 1.0 + 10 * 11.0) / 100);
    EXPECT_EQ(all.rows_looked_at(), 100);
    EXPECT_EQ(all.rows_by_norm, (std::map<double, double>{{1, 60}, {2, 34}, {16, 6}}));
    EXPECT_EQ(all.rows, 1000);
    EXPECT_EQ(all.cold_rows, 5);
  }
}

TEST(TableView, AServerThatDoesNotKnowItsNormChangesNoOthers) {
  const TableView known{.name = "w", .norm = 3}, unknown{.name = "w"};
  EXPECT_EQ(sum_of({known, unknown}).norm, 3);
  EXPECT_EQ(sum_of({unknown, known, unknown}).norm, 3);
  EXPECT_FALSE(is_known(sum_of({unknown, unknown}).norm));
}

// Dense parameters are pushed together, so that a report says it once for all of them; servers' counts add up.
TEST(TableView, StalenessIsThatOfTheTableOrOfAllDenseOnes) {
  const auto samples = parse_samples(
      "argosy_server_table_rows{table=\"ids\"} 12\n"
      "argosy_server_table_memory_bytes{table=\"w\"} 80\n"
      "argosy_server_pushes_by_staleness_total{table=\"ids\",staleness_up_to=\"0\"} 6\n"
      "argosy_server_pushes_by_staleness_total{table=\"ids\",staleness_up_to=\"4\"} 2\n"
      "argosy_server_pushes_by_staleness_total{table=\"ids\",staleness_up_to=\"8\"} 0\n"
      "argosy_server_staleness_batches_total{table=\"ids\"} 7\n"
      "argosy_server_pushes_by_staleness_total{parameters=\"dense\",staleness_up_to=\"inf\"} 5\n"
      "argosy_server_staleness_batches_total{parameters=\"dense\"} 1000\n");
  ASSERT_TRUE(samples.ok()) << samples.status().message();
  const auto tables = tables_of(*samples);
  const TableView both = sum_of({tables.at("ids"), tables.at("ids")});
  EXPECT_EQ(both.pushes_by_staleness, (std::map<double, double>{{0, 12}, {4, 4}}));
  EXPECT_DOUBLE_EQ(both.mean_staleness(), 14.0 / 16);
  EXPECT_EQ(tables.at("w").pushes_by_staleness, (std::map<double, double>{{std::numeric_limits<double>::max(), 5}}));
  EXPECT_DOUBLE_EQ(tables.at("w").mean_staleness(), 200);
  EXPECT_FALSE(is_known(TableView().mean_staleness()));
}

TEST(TableView, AReportIsReadTableByTable) {
  const auto samples = parse_samples(
      "argosy_server_table_rows{table=\"ids\",server=\"1\"} 12\n"
      "argosy_server_table_cold_rows{table=\"ids\"} 2\n"
      "argosy_server_table_memory_bytes{table=\"w\"} 80\n"
      "argosy_server_table_norm{table=\"w\"} 2.5\n"
      "argosy_server_table_rows_by_norm{table=\"ids\",norm_up_to=\"0.5\"} 3\n"
      "argosy_server_table_rows_by_norm{table=\"ids\",norm_up_to=\"+Inf\"} 4\n"
      "argosy_server_table_rows_by_norm{table=\"ids\",norm_up_to=\"inf\"} 1\n"
      "argosy_server_pushes_total 9\n");
  ASSERT_TRUE(samples.ok()) << samples.status().message();
  const auto tables = tables_of(*samples);
  ASSERT_EQ(tables.size(), 2u) << "what names no table is no table";
  const TableView &ids = tables.at("ids"), &w = tables.at("w");
  EXPECT_EQ(ids.rows, 12);
  EXPECT_EQ(ids.cold_rows, 2);
  EXPECT_FALSE(is_known(ids.norm));
  EXPECT_EQ(ids.rows_by_norm, (std::map<double, double>{{0.5, 3}, {std::numeric_limits<double>::max(), 5}}));
  EXPECT_EQ(w.name, "w");
  EXPECT_EQ(w.norm, 2.5);
  EXPECT_EQ(w.memory_bytes, 80);
}

}  // namespace
}  // namespace argosy::observe
