#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/status.h"
#include "argosy/graph/dtype.h"

namespace argosy::graph {

// One tensor of a Paddle tensor file; docs/formats.md describes the bytes. `bytes` are the elements in row-major order, little
// endian, and belong to somebody else: when decoded, to the file, where they need not be aligned.
struct TensorFile {
  DType dtype = DType::float32;
  std::vector<int64_t> shape;
  std::vector<std::vector<int64_t>> lod;  // offsets, outermost level first
  std::string_view bytes;
};

// What stands before the elements. Write it and then tensor.bytes, and a tensor is saved without a copy.
// REQUIRES: bytes.size() is what shape and dtype say.
std::string encode_tensor_header(const TensorFile& tensor);

void append_tensor(const TensorFile& tensor, std::string& file);  // header and elements

// The only tensor of `file`. Anything else is an error with the offset, what is there and what was expected. The LoD of a
// tensor that is returned is sound: each level starts at 0, does not fall, and ends at the number of parts below it.
Result<TensorFile> decode_tensor(std::string_view file);

// The tensors of a file that has several, one behind the other: Paddle's params_filename, in the order of the variables'
// names sorted by their bytes. Thread-compatible.
class TensorFileReader {
 public:
  explicit TensorFileReader(std::string_view file) : file_(file) {}

  bool done() const { return offset_ == file_.size(); }
  size_t offset() const { return offset_; }
  Result<TensorFile> next();  // REQUIRES: !done(). After an error the reader stays where it was.

 private:
  std::string_view file_;
  size_t offset_ = 0;
};

}  // namespace argosy::graph
