#include "argosy/ps/spec/job_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "argosy/ps/server/server_scratch.h"
#include "argosy/ps/spec/job_spec_wire.h"

namespace argosy::ps {
namespace {

using testing::HasSubstr;

JobSpec full_job() {
  TableSpec rows = scratch::counting_rows("emb", 10);
  rows.declared_rows = 1'000'001;
  rows.initializer = {RowInitializer::Kind::uniform, -0.1f, 0.1f, 7};
  rows.rule = "adam";
  rows.hyper_parameters = {{"beta1", 0.8f}};
  rows.schedule = optim::exponential_decay(0.1, 100, 0.9);
  rows.rate_factor = 2;
  rows.regularization = optim::L2Decay{1e-4};
  rows.admission = {.kind = Admission::Kind::count, .count = 3};
  rows.expiry = {.score = 0.5f, .unseen_steps = 10, .ttl_seconds = 60};
  rows.show_click = {.enabled = true, .decay = 0.98f};
  TableSpec dense = scratch::counting_dense("fc_0.w_0", 100'000);
  dense.clip_group = "default_group";
  dense.value_clip = ValueClip{-1, 1};
  return {Mode::sync, 3, {rows, dense}};
}

TEST(JobSpec, SurvivesTheWire) {
  const JobSpec spec = full_job();
  ASSERT_TRUE(spec.check().ok()) << spec.check().message();
  const auto again = from_wire(to_wire(spec));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, spec);
  EXPECT_EQ(difference(spec, "a", *again, "b"), std::nullopt);
}

// An error names the field that is wrong.
TEST(JobSpec, RefusesEveryBadFieldByName) {
  const auto refusal = [](const std::function<void(JobSpec&)>& spoil) {
    JobSpec spec = full_job();
    spoil(spec);
    return spec.check().message();
  };
  EXPECT_THAT(refusal([](auto& s) { s.workers = 0; }), HasSubstr("workers is 0"));
  EXPECT_THAT(refusal([](auto& s) { s.tables[1].name = ""; }), HasSubstr("table 1: name is empty"));
  EXPECT_THAT(refusal([](auto& s) { s.tables[1].name = "emb"; }), HasSubstr("two tables have the name 'emb'"));
  EXPECT_THAT(refusal([](auto& s) { s.tables[0].width = 0; }), HasSubstr("table 'emb': width is 0"));
  EXPECT_THAT(refusal([](auto& s) { s.tables[0].size = 5; }), HasSubstr("table 'emb': size is 5"));
  EXPECT_THAT(refusal([](auto& s) { s.tables[1].size = 0; }), HasSubstr("'fc_0.w_0': size is 0"));
  EXPECT_THAT(refusal([](auto& s) { s.tables[1].width = 4; }), HasSubstr("'fc_0.w_0': width is 4"));
  EXPECT_THAT(refusal([](auto& s) { s.tables[1].declared_rows = 4; }), HasSubstr("declared_rows is 4"));
  EXPECT_THAT(refusal([](auto& s) { s.tables[1].admission.kind = Admission::Kind::count; }), HasSubstr("admission is set"));
  EXPECT_THAT(refusal([](auto& s) { s.tables[1].expiry.score = 1; }), HasSubstr("expiry is set"));
  EXPECT_THAT(refusal([](auto& s) { s.tables[1].show_click.decay = 0.5; }), HasSubstr("show_click is set"));
  EXPECT_THAT(refusal([](auto& s) { s.tables[0].rule = "adm"; }), HasSubstr("did you mean 'adam'"));
  EXPECT_THAT(refusal([](auto& s) { s.tables[0].hyper_parameters["beta3"] = 1; }), HasSubstr("'beta3'"));
  EXPECT_THAT(refusal([](auto& s) { s.tables[0].schedule.kind = "up"; }), HasSubstr("table 'emb': schedule"));
  EXPECT_THAT(refusal([](auto& s) { s.tables[0].rate_factor = std::numeric_limits<float>::infinity(); }),
              HasSubstr("rate_factor"));
  EXPECT_THAT(refusal([](auto& s) { s.tables[0].regularization->coeff = NAN; }), HasSubstr("'emb'"));
  EXPECT_THAT(refusal([](auto& s) { s.tables[1].value_clip->max = -2; }), HasSubstr("value_clip is from -1 to -2"));
  EXPECT_THAT(refusal([](auto& s) { s.tables[1].geo = true; }), HasSubstr("geo is set in sync mode"));
  const auto geo = [](JobSpec& s) {
    s.mode = Mode::geo;
    s.tables[1].clip_group.clear();
    s.tables[1].value_clip.reset();
    s.tables[0].admission = {};
    for (TableSpec& table : s.tables) table.geo = true;
  };
  EXPECT_THAT(refusal([&](auto& s) { geo(s), s.tables[0].geo = false; }), HasSubstr("geo is not set in geo"));
  EXPECT_EQ(refusal([&](auto& s) { geo(s); }), "");
  EXPECT_THAT(refusal([&](auto& s) { geo(s), s.tables[1].rule = "lamb", s.tables[1].hyper_parameters.clear(); }),
              AllOf(HasSubstr("'lamb'"), HasSubstr("in geo mode a worker trains parts of a parameter")));
  EXPECT_THAT(refusal([](auto& s) { s.mode = Mode::async; }), HasSubstr("clip_group is set in async mode"));
  EXPECT_THAT(refusal([](auto& s) { s.tables[0].initializer.b = -1; }), HasSubstr("emb"));
  wire::JobSpec unknown = to_wire(full_job());
  unknown.set_mode(static_cast<wire::Mode>(17));
  EXPECT_THAT(from_wire(unknown).status().message(), HasSubstr("mode has the unknown value 17"));
}

TEST(JobSpec, NamesTheFirstDifferenceOnBothSides) {
  const JobSpec ours = full_job();
  const auto found = [&](const std::function<void(JobSpec&)>& alter) {
    JobSpec theirs = full_job();
    alter(theirs);
    return difference(ours, "server 0", theirs, "worker 1").value_or("none");
  };
  EXPECT_EQ(found([](auto& s) { s.mode = Mode::geo; }), "mode is sync at server 0 and geo at worker 1");
  EXPECT_EQ(found([](auto& s) { s.workers = 2; }), "the number of workers is 3 at server 0 and 2 at worker 1");
  EXPECT_EQ(found([](auto& s) { s.tables.pop_back(); }), "the number of tables is 2 at server 0 and 1 at worker 1");
  EXPECT_EQ(found([](auto& s) { s.tables[0].name = "e"; }), "table 0: name is 'emb' at server 0 and 'e' at worker 1");
  EXPECT_EQ(found([](auto& s) { s.tables[0].rule = "sgd"; }), "table 'emb': rule is 'adam' at server 0 and 'sgd' at worker 1");
  EXPECT_EQ(found([](auto& s) { s.tables[0].hyper_parameters["beta1"] = 0.5f; }),
            "table 'emb': hyper_parameters is {beta1=0.8} at server 0 and {beta1=0.5} at worker 1");
  EXPECT_EQ(found([](auto& s) { s.tables[1].value_clip.reset(); }),
            "table 'fc_0.w_0': value_clip is [-1, 1] at server 0 and none at worker 1");
}

// Whatever differs is found, and named: a field that the comparison left out would let two processes train different jobs.
TEST(JobSpec, NoFieldMayDiffer) {
  using Kind = Admission::Kind;
  const std::pair<const char*, std::function<void(TableSpec&)>> fields[] = {
      {"sparse", [](auto& t) { t.sparse = !t.sparse; }},
      {"size", [](auto& t) { ++t.size; }},
      {"width", [](auto& t) { ++t.width; }},
      {"declared_rows", [](auto& t) { ++t.declared_rows; }},
      {"initializer", [](auto& t) { ++t.initializer.seed; }},
      {"initializer", [](auto& t) { t.initializer.a -= 1; }},
      {"schedule", [](auto& t) { t.schedule.floats.push_back(1); }},
      {"schedule", [](auto& t) { t.schedule.ints.push_back(1); }},
      {"rate_factor", [](auto& t) { t.rate_factor *= 2; }},
      {"regularization", [](auto& t) { t.regularization = optim::Regularization{.coeff = 7}; }},
      {"clip_group", [](auto& t) { t.clip_group += "x"; }},
      {"value_clip", [](auto& t) { t.value_clip = ValueClip{.min = -7, .max = 7}; }},
      {"admission", [](auto& t) { t.admission.kind = t.admission.kind == Kind::all ? Kind::count : Kind::all; }},
      {"admission", [](auto& t) { t.admission.score += 1; }},
      {"expiry", [](auto& t) { t.expiry.ttl_seconds += 1; }},
      {"show_click", [](auto& t) { t.show_click.decay += 0.5; }},
      {"geo", [](auto& t) { t.geo = !t.geo; }},
      {"wire_format", [](auto& t) { t.wire_format = WireFormat::bfloat16; }},
  };
  const JobSpec ours = full_job();
  for (size_t table = 0; table < ours.tables.size(); ++table) {
    for (const auto& [field, alter] : fields) {
      JobSpec theirs = full_job();
      alter(theirs.tables[table]);
      ASSERT_NE(ours, theirs) << field;
      const std::string found = difference(ours, "a", theirs, "b").value_or("none");
      EXPECT_THAT(found, HasSubstr(fmt::format("table '{}': {} is ", ours.tables[table].name, field)));
      const std::string back = difference(theirs, "b", ours, "a").value_or("none");
      EXPECT_NE(back, found) << "what is whose is told";
      EXPECT_NE(encode_job_spec(ours), encode_job_spec(theirs)) << field << " is not written";
    }
  }
}

// Every element of a dense table is on exactly one server, in pieces that are worth a message.
TEST(JobSpec, DealsDenseTablesToTheServers) {
  for (const int servers : {1, 2, 3, 7}) {
    JobSpec spec = full_job();
    spec.tables.push_back(scratch::counting_dense("small", 10));
    spec.tables.push_back(scratch::counting_dense("middle", 20'000));
    spec.tables.push_back(scratch::counting_dense("lamb", 100'000));
    spec.tables.back().rule = "lamb";
    std::vector<uint64_t> load(static_cast<size_t>(servers));
    for (size_t table = 1; table < spec.tables.size(); ++table) {
      std::map<uint64_t, uint64_t> ranges;
      for (int server = 0; server < servers; ++server) {
        const Range range = dense_range(spec, table, servers, server);
        if (range.size() == 0) continue;
        ranges[range.begin] = range.end;
        load[static_cast<size_t>(server)] += range.size();
        EXPECT_TRUE(range.size() >= std::min(kDenseBlock, spec.tables[table].size));
      }
      uint64_t covered = 0;
      for (const auto& [begin, end] : ranges) {
        EXPECT_EQ(begin, covered);
        covered = end;
      }
      EXPECT_EQ(covered, spec.tables[table].size) << spec.tables[table].name << " on " << servers;
      EXPECT_TRUE(spec.tables[table].rule != "lamb" || ranges.size() == 1u);  // its rule needs all of it
    }
  }
}

TEST(JobSpec, SpreadsKeysEvenly) {
  std::vector<int> count(5);
  for (uint64_t key = 0; key < 50'000; ++key) ++count[static_cast<size_t>(server_of(key, 5))];
  for (const int one : count) EXPECT_NEAR(one, 10'000, 500);
}

}  // namespace
}  // namespace argosy::ps
