// Every field of a job's spec, found in the message's description: one that is added later is tested without a line here.
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <gtest/gtest.h>

#include <functional>

#include "argosy/base/random.h"
#include "argosy/ps/spec/job_spec.h"
#include "argosy/ps/spec/job_spec_wire.h"

namespace argosy::ps {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using testing::HasSubstr;

// A table with something in every field; such a one need not pass check().
TableSpec full_table(const std::string& name) {
  TableSpec table;
  table.name = name;
  table.sparse = true;
  table.size = 11;
  table.width = 12;
  table.declared_rows = 13;
  table.initializer = {RowInitializer::Kind::uniform, 0.25f, 0.5f, 14};
  table.rule = "adam";
  table.hyper_parameters = {{"beta1", 0.5f}, {"epsilon", 0.25f}};
  table.schedule = optim::exponential_decay(0.5, 15, 0.25);
  table.rate_factor = 2;
  table.regularization = optim::L1Decay{0.5};
  table.clip_group = "group";
  table.value_clip = ValueClip{-3, 4};
  table.admission = {Admission::Kind::count, 0.75f, 5, 0.5f, 16};
  table.expiry = {.score = 0.25f, .unseen_steps = 17, .ttl_seconds = 18};
  table.show_click = {.enabled = true, .non_click_weight = 0.5f, .click_weight = 2, .decay = 0.25f};
  table.geo = true;
  table.wire_format = WireFormat::bfloat16;
  return table;
}

JobSpec full_spec() { return {Mode::half_async, 7, {full_table("first"), full_table("second")}}; }

// Gives one number or text of a message another value.
void alter_scalar(Message& message, const FieldDescriptor* field, int index) {
  const auto& reflection = *message.GetReflection();
  const bool repeated = field->is_repeated();
#define ARGOSY_ALTER(Name, change)                                                                                         \
  {                                                                                                                        \
    auto value = repeated ? reflection.GetRepeated##Name(message, field, index) : reflection.Get##Name(message, field);    \
    change;                                                                                                                \
    repeated ? reflection.SetRepeated##Name(&message, field, index, value) : reflection.Set##Name(&message, field, value); \
    return;                                                                                                                \
  }
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32: ARGOSY_ALTER(UInt32, ++value)
    case FieldDescriptor::CPPTYPE_UINT64: ARGOSY_ALTER(UInt64, ++value)
    case FieldDescriptor::CPPTYPE_INT64: ARGOSY_ALTER(Int64, ++value)
    case FieldDescriptor::CPPTYPE_FLOAT: ARGOSY_ALTER(Float, value += 1)
    case FieldDescriptor::CPPTYPE_DOUBLE: ARGOSY_ALTER(Double, value += 1)
    case FieldDescriptor::CPPTYPE_BOOL: ARGOSY_ALTER(Bool, value = !value)
    case FieldDescriptor::CPPTYPE_STRING: ARGOSY_ALTER(String, value += "x")
    case FieldDescriptor::CPPTYPE_ENUM: ARGOSY_ALTER(EnumValue, value = value == 0 ? 1 : 0)
    default: FAIL() << field->full_name() << " has a type that this test does not know";
  }
#undef ARGOSY_ALTER
}

// Calls `visit` with every change of one value in `message`, each made alone in `root` and taken back; `top` is the field of the
// outermost message that it lies in.
void for_each_change(Message& message, const FieldDescriptor* top,
                     const std::function<void(const FieldDescriptor* field, const FieldDescriptor* top)>& visit) {
  const auto* descriptor = message.GetDescriptor();
  const auto* reflection = message.GetReflection();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const FieldDescriptor* field = descriptor->field(i);
    const FieldDescriptor* above = top == nullptr ? field : top;
    const int count = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
    ASSERT_GT(count, 0) << field->full_name() << " is empty in full_table(): its change would not be tested";
    for (int k = 0; k < count; ++k) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        Message* inner = field->is_repeated() ? reflection->MutableRepeatedMessage(&message, field, k)
                                              : reflection->MutableMessage(&message, field);
        for_each_change(*inner, above, visit);
        continue;
      }
      const std::unique_ptr<Message> before(message.New());
      before->CopyFrom(message);
      alter_scalar(message, field, k);
      visit(field, above);
      message.CopyFrom(*before);
    }
  }
}

TEST(JobSpecFields, EveryFieldSurvivesTheWire) {
  wire::JobSpec message = to_wire(full_spec());
  int changes = 0;
  for_each_change(*message.mutable_tables(1), nullptr, [&](const FieldDescriptor* field, const FieldDescriptor*) {
    ++changes;
    const auto spec = from_wire(message);
    ASSERT_TRUE(spec.ok()) << spec.status().message();
    EXPECT_EQ(to_wire(*spec).SerializeAsString(), message.SerializeAsString()) << field->full_name();
    EXPECT_NE(*spec, full_spec()) << field->full_name() << " is no part of what makes two specs equal";
  });
  EXPECT_GT(changes, 35);
}

// A worker and a server whose scripts differ in one number are told which.
TEST(JobSpecFields, ADifferenceInAnyFieldIsFoundAndNamed) {
  const JobSpec ours = full_spec();
  wire::JobSpec message = to_wire(ours);
  for_each_change(*message.mutable_tables(1), nullptr, [&](const FieldDescriptor* field, const FieldDescriptor* top) {
    const auto theirs = from_wire(message);
    ASSERT_TRUE(theirs.ok());
    const auto found = difference(ours, "server 0", *theirs, "worker 3");
    ASSERT_TRUE(found.has_value()) << field->full_name();
    EXPECT_THAT(*found, HasSubstr(std::string(top->name()) + " is ")) << field->full_name();
    EXPECT_THAT(*found, HasSubstr(top->name() == "name" ? "table 1: " : "table 'second': ")) << field->full_name();
    EXPECT_THAT(*found, HasSubstr(" at server 0 and "));
    EXPECT_THAT(*found, testing::EndsWith(" at worker 3"));
    const std::string values = found->substr(found->find(" is ") + 4);
    const size_t between = values.find(" at server 0 and ");
    EXPECT_NE(values.substr(0, between), values.substr(between + 17, between)) << "both sides look alike: " << *found;
    EXPECT_EQ(difference(*theirs, "a", ours, "b").has_value(), true) << "found from either side";
  });
}

TEST(JobSpecFields, KindsOfANewerVersionAreRefusedByName) {
  const auto refusal = [](const std::function<void(wire::JobSpec&)>& alter) {
    wire::JobSpec message = to_wire(full_spec());
    alter(message);
    const auto spec = decode_job_spec(message.SerializeAsString());
    EXPECT_EQ(spec.status().code(), Code::invalid_argument);
    return std::string(spec.status().message());
  };
  EXPECT_EQ(refusal([](auto& m) { m.mutable_tables(1)->mutable_initializer()->set_kind(wire::Initializer::Kind(9)); }),
            "table 'second': initializer.kind has the unknown value 9; is the peer of a newer version?");
  EXPECT_EQ(refusal([](auto& m) { m.mutable_tables(0)->mutable_admission()->set_kind(wire::Admission::Kind(4)); }),
            "table 'first': admission.kind has the unknown value 4; is the peer of a newer version?");
  EXPECT_EQ(refusal([](auto& m) { m.set_workers(4'000'000'000u); }), "workers is 4000000000; expected 1 to 65536");
}

// Bytes that are none are refused; whatever else they hold, the result can be checked and compared.
TEST(JobSpecFields, DamagedBytesAreRefusedOrAnotherSpec) {
  const JobSpec spec = full_spec();
  const std::string bytes = encode_job_spec(spec);
  ASSERT_EQ(*decode_job_spec(bytes), spec);
  int refused = 0;
  for (size_t cut = 1; cut < bytes.size(); ++cut) {
    const auto read = decode_job_spec(std::string_view(bytes).substr(0, cut));
    refused += read.ok() ? 0 : 1;
    if (read.ok()) {
      EXPECT_NE(*read, spec) << cut;
    }
  }
  EXPECT_GT(refused, static_cast<int>(bytes.size() * 9 / 10)) << "only a cut between two fields reads as a shorter spec";
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int bit : {0, 3, 7}) {
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      const auto read = decode_job_spec(flipped);
      if (!read.ok()) continue;
      (void)read->check();
      (void)difference(spec, "a", *read, "b");
    }
  }
  EXPECT_EQ(decode_job_spec("\xff\xff\xff").status().message(), "3 bytes are no job spec");
}

TEST(JobSpecFields, LimitsAreWhereTheySayTheyAre) {
  const auto message = [](const std::function<void(JobSpec&)>& alter) {
    TableSpec rows, dense;
    rows.name = "rows", rows.sparse = true, rows.width = 4;
    dense.name = "dense", dense.size = 4;
    rows.schedule = dense.schedule = optim::LearningRate(1.0).to_schedule();
    JobSpec spec{Mode::sync, 1, {rows, dense}};
    alter(spec);
    return std::string(spec.check().message());
  };
  EXPECT_EQ(message([](auto&) {}), "");
  EXPECT_EQ(message([](auto& s) { s.workers = 65536; }), "");
  EXPECT_EQ(message([](auto& s) { s.workers = 65537; }), "workers is 65537; expected 1 to 65536");
  EXPECT_EQ(message([](auto& s) { s.workers = -1; }), "workers is -1; expected 1 to 65536");
  EXPECT_EQ(message([](auto& s) { s.tables[0].width = 1u << 20; }), "");
  EXPECT_THAT(message([](auto& s) { s.tables[0].width = (1u << 20) + 1; }), HasSubstr("table 'rows': width is 1048577"));
  EXPECT_EQ(message([](auto& s) { s.tables[1].size = uint64_t{1} << 34; }), "");
  EXPECT_THAT(message([](auto& s) { s.tables[1].size = (uint64_t{1} << 34) + 1; }), HasSubstr("table 'dense': 17179869185"));
  EXPECT_EQ(message([](auto& s) { s.tables[1].value_clip = ValueClip{1, 1}; }), "");
  EXPECT_EQ(message([](auto& s) { s.tables.clear(); }), "") << "a job without tables";
}

// Of any tables on any number of servers: each element is on one server, in blocks that differ by one element at most, and no
// server has more than one block more than another.
TEST(JobSpecFields, DenseTablesAreDealtEvenly) {
  const uint64_t seed = 20261116;
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int round = 0; round < 60; ++round) {
    const int servers = 1 + static_cast<int>(random.below(12));
    JobSpec spec;
    for (size_t i = 0; i < 1 + random.below(6); ++i) {
      TableSpec table;
      table.name = std::to_string(i);
      table.sparse = random.below(4) == 0;
      table.size = table.sparse ? 0 : 1 + random.below(20 * kDenseBlock);
      table.rule = random.below(5) == 0 ? "lamb" : "sgd";
      spec.tables.push_back(table);
    }
    std::vector<int> blocks(static_cast<size_t>(servers));
    for (size_t table = 0; table < spec.tables.size(); ++table) {
      if (spec.tables[table].sparse) continue;
      uint64_t sum = 0, least = ~uint64_t{0}, most = 0;
      for (int server = 0; server < servers; ++server) {
        const Range range = dense_range(spec, table, servers, server);
        ASSERT_LE(range.end, spec.tables[table].size);
        if (range.size() == 0) continue;
        ++blocks[static_cast<size_t>(server)];
        sum += range.size(), least = std::min(least, range.size()), most = std::max(most, range.size());
      }
      ASSERT_EQ(sum, spec.tables[table].size);
      ASSERT_LE(most - least, 1u);
      ASSERT_TRUE(least >= kDenseBlock || least == spec.tables[table].size);
    }
    const auto [fewest, most] = std::ranges::minmax(blocks);
    ASSERT_LE(most - fewest, 1) << "blocks are dealt in turn, from table to table";
  }
}

}  // namespace
}  // namespace argosy::ps
