#include "argosy/data/arrow_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "argosy/data/arrow_export.h"
#include "argosy/data/arrow_table.h"
#include "argosy/data/in_memory_dataset.h"
#include "argosy/data/queue_dataset.h"
#include "argosy/data/scratch_files_test.h"

namespace argosy::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A table whose columns point into the test's own memory, which is what every other library hands over.
class TestTable {
 public:
  // `valid`: a bit for each value; empty: all are there.
  TestTable& column(std::string name, std::string format, const void* values, std::vector<uint8_t> valid = {}) {
    columns_.push_back({std::move(name), std::move(format), values, std::move(valid), {}, nullptr});
    return *this;
  }
  TestTable& list(std::string name, std::string format, const void* values, std::vector<int32_t> offsets,
                  std::vector<uint8_t> valid = {}) {
    columns_.push_back({std::move(name), std::move(format), values, std::move(valid), std::move(offsets), nullptr});
    return *this;
  }
  // The last column is the indices of these.
  TestTable& dictionary(const int64_t* values, int64_t count) {
    dictionary_ = {.length = count, .n_buffers = 2, .buffers = new const void*[2]{nullptr, values}};
    columns_.back().dictionary = &dictionary_;
    return *this;
  }

  ArrowSchema schema() {
    schemas_.clear();
    schemas_.reserve(2 * columns_.size() + 1);
    fields_.clear();
    for (Column& column : columns_) {
      schemas_.push_back({.format = column.format.c_str(),
                          .name = column.name.c_str(),
                          .dictionary = column.dictionary ? &values_of_ : nullptr});
      ArrowSchema* field = &schemas_.back();
      if (!column.offsets.empty()) {
        column.child = field;
        schemas_.push_back({.format = "+l", .name = column.name.c_str(), .n_children = 1, .children = &column.child});
        field = &schemas_.back();
      }
      fields_.push_back(field);
    }
    return {.format = "+s", .name = "", .n_children = static_cast<int64_t>(fields_.size()), .children = fields_.data()};
  }
  ArrowArray rows(int64_t length) {
    arrays_.clear();
    arrays_.reserve(2 * columns_.size());
    children_.clear();
    for (Column& column : columns_) {
      const bool list = !column.offsets.empty();
      column.buffers[0] = list || column.valid.empty() ? nullptr : column.valid.data();
      column.buffers[1] = column.values;
      arrays_.push_back({.length = list ? column.offsets.back() : length,
                         .null_count = column.buffers[0] ? -1 : 0,
                         .n_buffers = 2,
                         .buffers = column.buffers,
                         .dictionary = column.dictionary});
      ArrowArray* array = &arrays_.back();
      if (list) {
        column.values_of_list = array;
        column.list_buffers[0] = column.valid.empty() ? nullptr : column.valid.data();
        column.list_buffers[1] = column.offsets.data();
        arrays_.push_back({.length = length,
                           .null_count = column.valid.empty() ? 0 : -1,
                           .n_buffers = 2,
                           .n_children = 1,
                           .buffers = column.list_buffers,
                           .children = &column.values_of_list});
        array = &arrays_.back();
      }
      children_.push_back(array);
    }
    return {.length = length,
            .n_buffers = 1,
            .n_children = static_cast<int64_t>(children_.size()),
            .buffers = no_buffer_,
            .children = children_.data()};
  }
  ~TestTable() { delete[] dictionary_.buffers; }

 private:
  struct Column {
    std::string name, format;
    const void* values;
    std::vector<uint8_t> valid;
    std::vector<int32_t> offsets;
    ArrowArray* dictionary;
    ArrowSchema* child = nullptr;
    ArrowArray* values_of_list = nullptr;
    const void* buffers[2] = {};
    const void* list_buffers[2] = {};
  };
  std::vector<Column> columns_;
  std::vector<ArrowSchema> schemas_;
  std::vector<ArrowSchema*> fields_;
  std::vector<ArrowArray> arrays_;
  std::vector<ArrowArray*> children_;
  ArrowArray dictionary_{};
  ArrowSchema values_of_{.format = "l", .name = ""};
  const void* no_buffer_[1] = {nullptr};
};

SlotSpec ragged(std::string name, SlotType type = SlotType::int64) {
  return {.name = std::move(name), .type = type, .dense = false, .width = 1};
}
SlotSpec dense(std::string name, int64_t width = 1, SlotType type = SlotType::float32) {
  return {.name = std::move(name), .type = type, .dense = true, .width = width};
}

Batch taken(TestTable& table, const std::vector<SlotSpec>& slots, int64_t rows, const ColumnOptions& options = {}) {
  const ArrowSchema schema = table.schema();
  const ArrowArray array = table.rows(rows);
  const auto columns = ArrowColumns::make(schema, ArrowColumns::Rows::whole, slots, options, "t");
  EXPECT_TRUE(columns.ok()) << columns.status().message();
  Batch batch;
  batch.reset(slots);
  if (!columns.ok()) return batch;
  EXPECT_TRUE((*columns)->check(array).ok());
  EXPECT_FALSE((*columns)->first_bad(array, 0, rows).has_value());
  (*columns)->append(array, 0, rows, batch);
  return batch;
}

std::string refusal(TestTable& table, const std::vector<SlotSpec>& slots, const ColumnOptions& options = {}) {
  const auto columns = ArrowColumns::make(table.schema(), ArrowColumns::Rows::whole, slots, options, "t.parquet");
  return columns.ok() ? "" : columns.status().message();
}

TEST(ArrowColumns, NumbersOfAnyTypeBecomeThoseOfTheSlot) {
  const int8_t small[] = {-1, 2};
  const uint64_t large[] = {18446744073709551615u, 7};
  const double real[] = {0.1, -2.5};
  const uint16_t half[] = {0x3c00, 0xc100};  // 1, -2.5
  const uint8_t bits[] = {0b10};
  TestTable table;
  table.column("real", "g", real)
      .column("half", "e", half)
      .column("bits", "b", bits)
      .column("small", "c", small)
      .column("large", "L", large);
  const Batch batch =
      taken(table, {ragged("small"), ragged("large"), dense("real"), dense("half"), dense("bits", 1, SlotType::int64)}, 2);
  EXPECT_THAT(ints_of(batch.columns[0]), ElementsAre(-1, 2));
  EXPECT_THAT(ints_of(batch.columns[1]), ElementsAre(-1, 7));
  EXPECT_THAT(floats_of(batch.columns[2]), ElementsAre(0.1f, -2.5f));
  EXPECT_THAT(floats_of(batch.columns[3]), ElementsAre(1.0f, -2.5f));
  EXPECT_THAT(ints_of(batch.columns[4]), ElementsAre(0, 1));
}

TEST(ArrowColumns, AMissingValueOfARaggedSlotIsNoValue) {
  const int64_t ids[] = {5, 99, 7};
  const int64_t listed[] = {1, 2, 99, 4};
  TestTable table;
  table.column("one", "l", ids, {0b101}).list("many", "l", listed, {0, 2, 3, 4}, {0b101});
  const Batch batch = taken(table, {ragged("one"), ragged("many")}, 3);
  EXPECT_THAT(ints_of(batch.columns[0]), ElementsAre(5, 7));
  EXPECT_THAT(offsets_of(batch.columns[0]), ElementsAre(0, 1, 1, 2));
  EXPECT_THAT(ints_of(batch.columns[1]), ElementsAre(1, 2, 4));
  EXPECT_THAT(offsets_of(batch.columns[1]), ElementsAre(0, 2, 2, 3));
  const Batch with =
      taken(table, {ragged("one"), ragged("many")}, 3, {.columns = {}, .defaults = {{"one", int64_t{0}}, {"many", int64_t{3}}}});
  EXPECT_THAT(ints_of(with.columns[0]), ElementsAre(5, 0, 7));
  EXPECT_THAT(ints_of(with.columns[1]), ElementsAre(1, 2, 3, 4));
}

TEST(ArrowColumns, AMissingValueOfADenseSlotMakesTheRowBadOrIsReplaced) {
  const float values[] = {1, 99, 3};
  TestTable table;
  table.column("x", "f", values, {0b101});
  const std::vector<SlotSpec> slots = {dense("x")};
  const ArrowSchema schema = table.schema();
  const ArrowArray rows = table.rows(3);
  const auto columns = ArrowColumns::make(schema, ArrowColumns::Rows::whole, slots, {}, "t");
  const auto bad = (*columns)->first_bad(rows, 0, 3);
  ASSERT_TRUE(bad.has_value());
  EXPECT_EQ(bad->row, 1);
  EXPECT_THAT(bad->what, HasSubstr("column 'x' has no value (null)"));
  EXPECT_FALSE((*columns)->first_bad(rows, 2, 1).has_value());
  EXPECT_THAT(floats_of(taken(table, slots, 3, {.columns = {}, .defaults = {{"x", -0.5}}}).columns[0]), ElementsAre(1, -0.5, 3));
}

// It would become infinite, and the model's loss NaN some steps later.
TEST(ArrowColumns, ANumberThatNoFloat32HoldsMakesTheRowBad) {
  const double x[] = {1, -1e300, 1e39, 4}, listed[] = {1e300, 2, 3e38, -5e38};
  TestTable table;
  table.column("x", "g", x, {0b1101}).list("many", "g", listed, {0, 1, 2, 3, 4}, {0b1110});
  const auto first_bad = [&](const SlotSpec& slot, int64_t first) {
    const auto columns = ArrowColumns::make(table.schema(), ArrowColumns::Rows::whole, std::vector{slot}, {}, "t");
    return (*columns)->first_bad(table.rows(4), first, 4 - first);
  };
  auto bad = first_bad(ragged("x", SlotType::float32), 0);
  ASSERT_TRUE(bad.has_value());
  EXPECT_EQ(bad->row, 2) << "-1e300 is not there";
  EXPECT_THAT(bad->what, HasSubstr("column 'x' has 1e+39, which a float32 cannot hold"));
  EXPECT_FALSE(first_bad(ragged("x", SlotType::float32), 3).has_value());
  EXPECT_EQ(first_bad(dense("x"), 0)->row, 1) << "of two bad rows the first";
  EXPECT_EQ(first_bad(ragged("many", SlotType::float32), 0)->row, 3) << "the first list is not there";
  EXPECT_THAT(refusal(table, {dense("x")}, {.columns = {}, .defaults = {{"x", 1e300}}}), HasSubstr("a float32 cannot hold"));
  const double odd[] = {INFINITY, NAN, 3.4028235e38, -0.0};
  TestTable fine;
  fine.column("x", "g", odd);
  EXPECT_EQ(floats_of(taken(fine, {dense("x")}, 4).columns[0])[0], INFINITY) << "what the table says itself";
}

TEST(ArrowColumns, SeveralColumnsFillOneSlot) {
  const float a[] = {1, 2}, b[] = {10, 20};
  TestTable table;
  table.column("b", "f", b, {0b01}).column("a", "f", a);
  const ColumnOptions options{.columns = {{"x", {"a", "b"}}}, .defaults = {{"x", int64_t{-1}}}};
  EXPECT_THAT(floats_of(taken(table, {dense("x", 2)}, 2, options).columns[0]), ElementsAre(1, 10, 2, -1));
  const Batch batch = taken(table, {ragged("x", SlotType::float32)}, 2, {.columns = {{"x", {"a", "b"}}}, .defaults = {}});
  EXPECT_THAT(floats_of(batch.columns[0]), ElementsAre(1, 10, 2));
  EXPECT_THAT(offsets_of(batch.columns[0]), ElementsAre(0, 2, 3));
}

TEST(ArrowColumns, DictionariesAreLookedUp) {
  const int64_t words[] = {100, 200};
  const int8_t indices[] = {1, 0, 1, 7};
  TestTable table;
  table.column("id", "c", indices).dictionary(words, 2);
  const Batch batch = taken(table, {ragged("id")}, 4);
  EXPECT_THAT(ints_of(batch.columns[0]), ElementsAre(200, 100, 200)) << "an index that is none of the dictionary is no value";
}

TEST(ArrowColumns, RefusesByName) {
  const int64_t ids[] = {1};
  const float real[] = {1};
  TestTable table;
  table.column("user", "l", ids).column("price", "f", real).column("city", "u", ids).list("tags", "l", ids, {0, 1});
  EXPECT_THAT(refusal(table, {ragged("usr")}),
              HasSubstr("t.parquet: there is no column 'usr', which slot 'usr' needs; did you mean 'user'?"));
  EXPECT_THAT(refusal(table, {ragged("price")}), HasSubstr("column 'price' has floats, and slot 'price' takes int64"));
  EXPECT_THAT(refusal(table, {ragged("city")}), HasSubstr("column 'city' has no numbers (Arrow's format 'u')"));
  EXPECT_THAT(refusal(table, {dense("price", 3)}),
              HasSubstr("column 'price' has one value per row, and slot 'price' is dense and has 3"));
  EXPECT_THAT(refusal(table, {dense("x", 3)}, {.columns = {{"x", {"price", "user"}}}, .defaults = {}}),
              HasSubstr("it was given 2 columns"));
  EXPECT_THAT(refusal(table, {ragged("x")}, {.columns = {{"x", {"user", "tags"}}}, .defaults = {}}),
              HasSubstr("column 'tags' has lists"));
  EXPECT_THAT(refusal(table, {ragged("user")}, {.columns = {{"usr", {"user"}}}, .defaults = {}}),
              HasSubstr("did you mean 'user'?"));
  EXPECT_THAT(refusal(table, {ragged("user")}, {.columns = {}, .defaults = {{"user", 0.5}}}), HasSubstr("expected an integer"));
}

TEST(ArrowColumns, LayoutsThatLieAreRefused) {
  const int64_t ids[] = {1, 2};
  TestTable falling, good;
  falling.list("tags", "l", ids, {0, 2, 1});
  good.list("tags", "l", ids, {0, 1, 2});
  const std::vector<SlotSpec> slots = {ragged("tags")};
  const auto columns = ArrowColumns::make(good.schema(), ArrowColumns::Rows::whole, slots, {}, "t");
  EXPECT_FALSE((*columns)->check(falling.rows(2)).ok()) << "offsets that go down";
  ArrowArray rows = good.rows(2);
  EXPECT_TRUE((*columns)->check(rows).ok());
  rows.children[0]->children[0]->length = 1;
  EXPECT_FALSE((*columns)->check(rows).ok()) << "offsets beyond the values";
  rows = good.rows(2);
  rows.length = 5;
  EXPECT_FALSE((*columns)->check(rows).ok()) << "a column that is shorter than the table";
}

const std::vector<SlotSpec> kSlots = {dense("x", 2), ragged("ids"), dense("label", 1, SlotType::int64)};

Batch numbered(int64_t first, int64_t count) {
  Batch batch;
  batch.reset(kSlots);
  for (int64_t i = first; i < first + count; ++i, ++batch.size) {
    float* x = batch.columns[0].room<float>(2);
    x[0] = x[1] = static_cast<float>(i);
    batch.columns[0].add_sample(2);
    std::fill_n(batch.columns[1].room<int64_t>(i % 3), i % 3, i);
    batch.columns[1].add_sample(i % 3);
    *batch.columns[2].room<int64_t>(1) = i;
    batch.columns[2].add_sample(1);
  }
  return batch;
}

// A stream of two batches, as another library would give it.
struct NumberedStream {
  int given = 0;
  static ArrowArrayStream make() {
    return {.get_schema =
                [](ArrowArrayStream*, ArrowSchema* out) {
                  *out = std::exchange(*arrow_schema(kSlots).get(), {});
                  return 0;
                },
            .get_next =
                [](ArrowArrayStream* stream, ArrowArray* out) {
                  int& given = static_cast<NumberedStream*>(stream->private_data)->given;
                  *out = {};
                  if (given < 2) *out = std::exchange(*arrow_rows(numbered(given * 100, 100), kSlots).get(), {});
                  ++given;
                  return 0;
                },
            .get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; },
            .release =
                [](ArrowArrayStream* stream) {
                  delete static_cast<NumberedStream*>(stream->private_data);
                  stream->release = nullptr;
                },
            .private_data = new NumberedStream};
  }
};

std::vector<int64_t> labels_of(BatchSource& source) {
  std::vector<int64_t> labels;
  Batch batch;
  for (;;) {
    const auto more = source.next(0, batch);
    EXPECT_TRUE(more.ok()) << more.status().message();
    if (!more.ok() || !*more) return labels;
    for (int64_t i = 0; i < batch.size; ++i) {
      const int64_t label = batch.columns[2].ints()[i];
      EXPECT_EQ(batch.columns[0].floats()[2 * i + 1], static_cast<float>(label));
      EXPECT_EQ(batch.columns[1].offsets()[static_cast<size_t>(i) + 1] - batch.columns[1].offsets()[static_cast<size_t>(i)],
                label % 3);
      labels.push_back(label);
    }
  }
}

TEST(ArrowTable, IsReadPassAfterPassAndIntoMemoryAndShuffled) {
  ArrowArrayStream stream = NumberedStream::make();
  const auto table = ArrowTable::read(&stream);
  ASSERT_TRUE(table.ok()) << table.status().message();
  EXPECT_EQ((*table)->rows(), 200);
  DatasetOptions options{.slots = kSlots, .batch_size = 7};
  options.table = *table;
  std::vector<int64_t> all(200);
  for (int64_t i = 0; i < 200; ++i) all[static_cast<size_t>(i)] = i;
  QueueDataset queue(options);
  for (int pass = 0; pass < 2; ++pass) {
    ASSERT_TRUE(queue.start(1).ok());
    EXPECT_EQ(labels_of(queue), all);
  }
  options.threads = 3;
  InMemoryDataset memory(options);
  const Status loaded = memory.load_into_memory();
  ASSERT_TRUE(loaded.ok()) << loaded.message();
  ASSERT_TRUE(memory.start(1).ok());
  EXPECT_EQ(labels_of(memory), all);
  ASSERT_TRUE(memory.local_shuffle(1).ok());
  ASSERT_TRUE(memory.start(1).ok());
  EXPECT_NE(labels_of(memory), all);
  // Samples without a value of some slot travel to other workers as well.
  ASSERT_TRUE(memory.begin_exchange(1).ok());
  std::vector<std::string> blocks(1);
  while (memory.take_records(blocks)) {
  }
  const Status given = memory.give_records(blocks[0]);
  ASSERT_TRUE(given.ok()) << given.message();
  ASSERT_TRUE(memory.end_exchange().ok());
  ASSERT_TRUE(memory.start(1).ok());
  std::vector<int64_t> shuffled = labels_of(memory);
  std::ranges::sort(shuffled);
  EXPECT_EQ(shuffled, all);
}

TEST(ArrowTable, SettingsOfTextAreRefused) {
  ArrowArrayStream stream = NumberedStream::make();
  DatasetOptions options{.slots = kSlots};
  options.table = *ArrowTable::read(&stream);
  options.pipe_command = "sed p";
  EXPECT_THAT(check_options(options).message(), HasSubstr("a pipe command is for text"));
  options.pipe_command = "cat";
  options.criteo.emplace();
  EXPECT_THAT(check_options(options).message(), HasSubstr("set_criteo is for text"));
  options.criteo.reset();
  for (const FileFormat format : {FileFormat::text, FileFormat::json, FileFormat::parquet, FileFormat::arrow}) {
    options.format = format;
    EXPECT_THAT(check_options(options).message(), HasSubstr("is for files, and the dataset has a table"));
  }
  options.format = FileFormat::by_name;
  options.files = {"part"};
  EXPECT_THAT(check_options(options).message(), HasSubstr("it reads one of them"));
  EXPECT_FALSE(ArrowTable::read(&stream).ok()) << "a stream is read once";
}

// It was taken, and the messages read as text.
TEST(Messages, AreNoParquetFiles) {
  DatasetOptions options{.slots = kSlots, .files = {"kafka://b:1/clicks/0?from=0&to=4"}};
  EXPECT_TRUE(check_options(options).ok());
  options.format = FileFormat::arrow;  // a stream per message
  EXPECT_TRUE(check_options(options).ok());
  options.format = FileFormat::parquet;
  EXPECT_THAT(check_options(options).message(),
              HasSubstr("set_format(\"parquet\") is for files, and 'kafka://b:1/clicks/0?from=0&to=4' has messages"));
  options.format = FileFormat::json;
  EXPECT_TRUE(check_options(options).ok());
}

}  // namespace
}  // namespace argosy::data
