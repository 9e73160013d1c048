#include "argosy/data/criteo.h"

#include "argosy/base/text.h"
#include "argosy/data/criteo_decoder.h"

namespace argosy::data {
namespace {

constexpr int kDenseSource = -1, kLabelSource = -2;  // others are the number of a category, from 0

Result<int> source_of(const SlotSpec& slot) {
  const std::vector<SlotSpec> known = criteo_slots();
  std::vector<std::string> names;
  for (size_t i = 0; i < known.size(); ++i) {
    names.push_back(known[i].name);
    if (known[i].name != slot.name) continue;
    const int64_t width = known[i].width;
    if (slot.dense && slot.width != width) {
      return Status::invalid_argument("slot '{}' has width {}, but Criteo text has {} values for it", slot.name, slot.width,
                                      width);
    }
    const bool label = i + 1 == known.size();
    if (slot.type != known[i].type && !label) {
      return Status::invalid_argument("slot '{}' is {}, but Criteo text has {} for it", slot.name,
                                      slot.type == SlotType::int64 ? "int64" : "float32", i == 0 ? "float32" : "int64");
    }
    return label ? kLabelSource : static_cast<int>(i) - 1;
  }
  const auto near = nearest_name(slot.name, names);
  return Status::invalid_argument("slot '{}' is not in Criteo text, which has dense_input, C1 to C26 and label{}", slot.name,
                                  near ? "; did you mean '" + *near + "'?" : "");
}

template <typename T>
void append_one(Column& column, T value) {
  *column.room<T>(1) = value;
  column.add_sample(1);
}

}  // namespace

std::vector<SlotSpec> criteo_slots() {
  std::vector<SlotSpec> slots = {{.name = "dense_input", .type = SlotType::float32, .dense = true, .width = kCriteoDense}};
  for (int i = 1; i <= kCriteoCategories; ++i)
    slots.push_back({.name = fmt::format("C{}", i), .type = SlotType::int64, .dense = false, .width = 1});
  slots.push_back({.name = "label", .type = SlotType::int64, .dense = true, .width = 1});
  return slots;
}

CriteoParser::CriteoParser(std::span<const SlotSpec> slots, std::vector<int> sources, const CriteoOptions& options)
    : slots_(slots.begin(), slots.end()), sources_(std::move(sources)), decoder_(std::make_unique<CriteoDecoder>(options)) {}

CriteoParser::~CriteoParser() = default;

Result<std::unique_ptr<CriteoParser>> CriteoParser::make(std::span<const SlotSpec> slots, const CriteoOptions& options) {
  RETURN_IF_ERROR(check_criteo(options));
  RETURN_IF_ERROR(check_slots(slots));
  std::vector<int> sources;
  for (const SlotSpec& slot : slots) {
    ASSIGN_OR_RETURN(const int source, source_of(slot));
    sources.push_back(source);
  }
  return std::unique_ptr<CriteoParser>(new CriteoParser(slots, std::move(sources), options));
}

const char* CriteoParser::parse_line(const char* line, Batch& batch, LineError& error) const {
  CriteoSample sample;
  const char* next = decoder_->decode(line, sample, error);
  if (next == nullptr) return nullptr;
  for (size_t i = 0; i < sources_.size(); ++i) {
    Column& column = batch.columns[i];
    if (sources_[i] == kDenseSource) {
      float* out = column.room<float>(kCriteoDense);
      for (int field = 0; field < kCriteoDense; ++field) out[field] = decoder_->dense(sample, field);
      column.add_sample(kCriteoDense);
    } else if (sources_[i] != kLabelSource) {
      append_one<int64_t>(column, sample.ids[static_cast<size_t>(sources_[i])]);
    } else if (column.type() == SlotType::float32) {
      append_one<float>(column, static_cast<float>(sample.label));
    } else {
      append_one<int64_t>(column, sample.label);
    }
  }
  ++batch.size;
  return next;
}

Status check_criteo(const CriteoOptions& options) {
  if (options.hash_dim < 1)
    return Status::invalid_argument("hash_dim is {}, expected at least 1: ids are a checksum modulo it", options.hash_dim);
  return {};
}

}  // namespace argosy::data
