#include "argosy/data/arrow_export.h"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

namespace argosy::data {
namespace {

constexpr int64_t kMayBeMissing = 2;  // ARROW_FLAG_NULLABLE

// What a struct of the interface points to, and owns.
template <typename Struct>
struct Parts {
  std::string format, name;
  std::vector<const void*> buffers;
  std::vector<Struct*> children;
  std::shared_ptr<const Batch> batch;
};

template <typename Struct>
void release(Struct* held) {
  auto* parts = static_cast<Parts<Struct>*>(held->private_data);
  for (Struct* child : parts->children) {
    if (child->release != nullptr) child->release(child);
    delete child;
  }
  delete parts;
  held->release = nullptr;
}

ArrowSchema field(std::string format, std::string name, std::vector<ArrowSchema> children, int64_t flags = 0) {
  auto* parts =
      new Parts<ArrowSchema>{.format = std::move(format), .name = std::move(name), .buffers = {}, .children = {}, .batch = {}};
  for (const ArrowSchema& child : children) parts->children.push_back(new ArrowSchema(child));
  return {.format = parts->format.c_str(),
          .name = parts->name.c_str(),
          .flags = flags,
          .n_children = static_cast<int64_t>(parts->children.size()),
          .children = parts->children.data(),
          .release = &release<ArrowSchema>,
          .private_data = parts};
}

ArrowArray array(int64_t length, std::vector<const void*> buffers, std::vector<ArrowArray> children,
                 std::shared_ptr<const Batch> batch) {
  auto* parts =
      new Parts<ArrowArray>{.format = {}, .name = {}, .buffers = std::move(buffers), .children = {}, .batch = std::move(batch)};
  for (const ArrowArray& child : children) parts->children.push_back(new ArrowArray(child));
  return {.length = length,
          .n_buffers = static_cast<int64_t>(parts->buffers.size()),
          .n_children = static_cast<int64_t>(parts->children.size()),
          .buffers = parts->buffers.data(),
          .children = parts->children.data(),
          .release = &release<ArrowArray>,
          .private_data = parts};
}

ArrowSchema slot_field(const SlotSpec& slot) {
  const std::string values = slot.type == SlotType::float32 ? "f" : "l";
  if (slot.dense && slot.width == 1) return field(values, slot.name, {});
  return field(slot.dense ? fmt::format("+w:{}", slot.width) : "+L", slot.name, {field(values, "item", {})},
               slot.dense ? 0 : kMayBeMissing);
}

ArrowArray slot_array(const Column& column, const std::shared_ptr<const Batch>& batch) {
  const void* memory = column.type() == SlotType::float32 ? static_cast<const void*>(column.floats()) : column.ints();
  const ArrowArray values = array(column.count(), {nullptr, memory}, {}, batch);
  if (column.dense() && column.width() == 1) return values;
  if (column.dense()) return array(batch->size, {nullptr}, {values}, batch);
  return array(batch->size, {nullptr, column.offsets().data()}, {values}, batch);
}

}  // namespace

ArrowOwned<ArrowSchema> arrow_schema(std::span<const SlotSpec> slots) {
  std::vector<ArrowSchema> fields;
  for (const SlotSpec& slot : slots) fields.push_back(slot_field(slot));
  ArrowSchema table = field("+s", "", fields);
  return ArrowOwned<ArrowSchema>::take(&table);
}

ArrowOwned<ArrowArray> arrow_rows(Batch batch, std::span<const SlotSpec> slots) {
  const auto kept = std::make_shared<const Batch>(std::move(batch));
  std::vector<ArrowArray> columns;
  for (size_t i = 0; i < slots.size(); ++i) columns.push_back(slot_array(kept->columns[i], kept));
  ArrowArray rows = array(kept->size, {nullptr}, columns, kept);
  return ArrowOwned<ArrowArray>::take(&rows);
}

}  // namespace argosy::data
