#include "argosy/graph/tensor_file.h"

#include <bit>
#include <cstring>

#include "argosy/graph/framework.pb.h"
#include "argosy/graph/var_desc.h"

namespace argosy::graph {
namespace {

static_assert(std::endian::native == std::endian::little, "the format's numbers are copied as they are");

constexpr uint64_t kMaxLodLevels = 32;

template <typename T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// The bytes that `shape` and `dtype` take; nullopt where they are beyond 64 bits or a size is negative.
std::optional<uint64_t> byte_size(const std::vector<int64_t>& shape, DType dtype) {
  uint64_t total = dtype_size(dtype);
  for (const int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(total, static_cast<uint64_t>(size), &total)) return std::nullopt;
  }
  return total;
}

// Takes the parts of a tensor off the front of what is left of a file.
class Cursor {
 public:
  Cursor(std::string_view file, size_t offset) : file_(file), offset_(offset) {}

  size_t offset() const { return offset_; }

  Result<std::string_view> take(uint64_t size, const char* what) {
    const uint64_t left = file_.size() - offset_;
    if (size > left) {
      return Status::data_loss("at byte {}: {} takes {} bytes, but the file ends after {}", offset_, what, size, left);
    }
    const std::string_view taken = file_.substr(offset_, size);
    offset_ += size;
    return taken;
  }

  template <typename T>
  Result<T> number(const char* what) {
    ASSIGN_OR_RETURN(const std::string_view bytes, take(sizeof(T), what));
    T value;
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }

  Status version(const char* what) {
    const size_t at = offset_;
    ASSIGN_OR_RETURN(const uint32_t version, number<uint32_t>(what));
    if (version == 0) return {};
    return Status::data_loss("at byte {}: {} is {}, expected 0; this is not a tensor file", at, what, version);
  }

 private:
  std::string_view file_;
  size_t offset_;
};

Result<std::vector<int64_t>> read_level(Cursor& cursor, uint64_t level) {
  const size_t at = cursor.offset();
  ASSIGN_OR_RETURN(const uint64_t size, cursor.number<uint64_t>("the size of a LoD level"));
  if (size % sizeof(int64_t) != 0) {
    return Status::data_loss("at byte {}: LoD level {} has {} bytes, expected a multiple of {}", at, level, size,
                             sizeof(int64_t));
  }
  ASSIGN_OR_RETURN(const std::string_view bytes, cursor.take(size, "a LoD level"));
  std::vector<int64_t> offsets(size / sizeof(int64_t));
  if (size > 0) std::memcpy(offsets.data(), bytes.data(), size);
  if (offsets.empty() || offsets.front() != 0) {
    return Status::data_loss("at byte {}: LoD level {} starts with {}, expected 0", at, level,
                             offsets.empty() ? "nothing" : std::to_string(offsets.front()));
  }
  for (size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] < offsets[i - 1]) {
      return Status::data_loss("at byte {}: LoD level {} falls from {} to {} at offset {}", at, level, offsets[i - 1], offsets[i],
                               i);
    }
  }
  return offsets;
}

Status read_lod(Cursor& cursor, TensorFile& tensor) {
  const size_t at = cursor.offset();
  ASSIGN_OR_RETURN(const uint64_t levels, cursor.number<uint64_t>("the number of LoD levels"));
  if (levels > kMaxLodLevels) {
    return Status::data_loss("at byte {}: the number of LoD levels is {}, expected at most {}", at, levels, kMaxLodLevels);
  }
  for (uint64_t level = 0; level < levels; ++level) {
    ASSIGN_OR_RETURN(auto offsets, read_level(cursor, level));
    tensor.lod.push_back(std::move(offsets));
  }
  return {};
}

Status read_description(Cursor& cursor, TensorFile& tensor) {
  const size_t at = cursor.offset();
  ASSIGN_OR_RETURN(const int32_t size, cursor.number<int32_t>("the size of the description"));
  if (size < 0) return Status::data_loss("at byte {}: the size of the description is {}", at, size);
  ASSIGN_OR_RETURN(const std::string_view bytes, cursor.take(static_cast<uint64_t>(size), "the description"));
  wire::VarType::TensorDesc message;
  if (!message.ParsePartialFromArray(bytes.data(), size) || !message.IsInitialized()) {
    return Status::data_loss("at byte {}: the {} bytes of the description are not a TensorDesc message", at + sizeof size, size);
  }
  const auto dtype = dtype_from_number(message.data_type());
  if (!dtype) {
    return Status::unimplemented("at byte {}: the element type is {}, which is not supported", at + sizeof size,
                                 wire::VarType::Type_Name(message.data_type()));
  }
  tensor.dtype = *dtype;
  tensor.shape.assign(message.dims().begin(), message.dims().end());
  return {};
}

Status check_lod(const TensorFile& tensor, size_t at) {
  for (size_t level = 0; level < tensor.lod.size(); ++level) {
    const bool last = level + 1 == tensor.lod.size();
    const int64_t rows = tensor.shape.empty() ? 1 : tensor.shape[0];
    const int64_t below = last ? rows : static_cast<int64_t>(tensor.lod[level + 1].size()) - 1;
    if (tensor.lod[level].back() != below) {
      return Status::data_loss("tensor at byte {}: LoD level {} ends at {}, but there are {} {} below it", at, level,
                               tensor.lod[level].back(), below, last ? "rows" : "sequences");
    }
  }
  return {};
}

Status read_elements(Cursor& cursor, TensorFile& tensor) {
  const auto size = byte_size(tensor.shape, tensor.dtype);
  if (!size) return Status::data_loss("at byte {}: no tensor has the shape {}", cursor.offset(), shape_to_string(tensor.shape));
  const std::string what =
      fmt::format("the elements of a {} tensor of shape {}", dtype_name(tensor.dtype), shape_to_string(tensor.shape));
  ASSIGN_OR_RETURN(tensor.bytes, cursor.take(*size, what.c_str()));
  return {};
}

}  // namespace

std::string encode_tensor_header(const TensorFile& tensor) {
  ARGOSY_CHECK(byte_size(tensor.shape, tensor.dtype) == tensor.bytes.size(), shape_to_string(tensor.shape));
  wire::VarType::TensorDesc message;
  message.set_data_type(static_cast<wire::VarType::Type>(tensor.dtype));
  for (const int64_t size : tensor.shape) message.add_dims(size);
  const std::string description = message.SerializeAsString();

  std::string header;
  put(header, uint32_t{0});
  put(header, static_cast<uint64_t>(tensor.lod.size()));
  for (const auto& level : tensor.lod) {
    put(header, static_cast<uint64_t>(level.size() * sizeof(int64_t)));
    header.append(reinterpret_cast<const char*>(level.data()), level.size() * sizeof(int64_t));
  }
  put(header, uint32_t{0});
  put(header, static_cast<int32_t>(description.size()));
  return header + description;
}

void append_tensor(const TensorFile& tensor, std::string& file) {
  file += encode_tensor_header(tensor);
  file += tensor.bytes;
}

Result<TensorFile> TensorFileReader::next() {
  TensorFile tensor;
  Cursor cursor(file_, offset_);
  RETURN_IF_ERROR(cursor.version("the version of the LoD"));
  RETURN_IF_ERROR(read_lod(cursor, tensor));
  RETURN_IF_ERROR(cursor.version("the version of the tensor"));
  RETURN_IF_ERROR(read_description(cursor, tensor));
  RETURN_IF_ERROR(read_elements(cursor, tensor));
  RETURN_IF_ERROR(check_lod(tensor, offset_));
  offset_ = cursor.offset();
  return tensor;
}

Result<TensorFile> decode_tensor(std::string_view file) {
  TensorFileReader reader(file);
  ASSIGN_OR_RETURN(TensorFile tensor, reader.next());
  if (reader.done()) return tensor;
  return Status::data_loss("at byte {}: {} bytes follow the tensor, expected the end of the file", reader.offset(),
                           file.size() - reader.offset());
}

}  // namespace argosy::graph
