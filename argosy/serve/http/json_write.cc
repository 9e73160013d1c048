#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <iterator>

#include "argosy/serve/http/json_tensor.h"

namespace argosy::serve {
namespace {

using Write = std::function<void(std::string&, const void*, int64_t)>;  // one element

template <typename T>
Write writer_of() {
  return [](std::string& out, const void* data, int64_t index) {
    const T value = static_cast<const T*>(data)[index];
    if constexpr (std::is_floating_point_v<T>) {
      if (!std::isfinite(value)) {
        out += "null";
        return;
      }
    }
    if constexpr (std::is_same_v<T, bool>)
      out += value ? "true" : "false";
    else
      fmt::format_to(std::back_inserter(out), "{}", value);  // of a float the shortest text that reads back as the same float
  };
}

Result<Write> writer(const std::string& name, graph::DType dtype) {
  switch (dtype) {
    case graph::DType::float32: return writer_of<float>();
    case graph::DType::float64: return writer_of<double>();
    case graph::DType::int64: return writer_of<int64_t>();
    case graph::DType::int32: return writer_of<int32_t>();
    case graph::DType::int16: return writer_of<int16_t>();
    case graph::DType::int8: return writer_of<int8_t>();
    case graph::DType::uint8: return writer_of<uint8_t>();
    case graph::DType::boolean: return writer_of<bool>();
    default: return Status::unimplemented("'{}' is {}, which JSON has no numbers for", name, graph::dtype_name(dtype));
  }
}

// A tensor that is written part by part.
class TensorText {
 public:
  TensorText(const Tensor& tensor, Write write) : tensor_(tensor), write_(std::move(write)) {
    for (size_t i = 1; i < tensor.shape.size(); ++i) row_ *= tensor.shape[i];
  }

  // The samples: sequences where there are some, else rows. -1: a single value.
  int64_t samples() const {
    if (!tensor_.lod.empty()) return static_cast<int64_t>(tensor_.lod[0].size()) - 1;
    return tensor_.shape.empty() ? -1 : tensor_.shape[0];
  }
  void write_sample(std::string& out, int64_t sample) const { write_part(out, sample, 0); }
  void write_all(std::string& out) const {
    if (samples() < 0) return write_(out, tensor_.data.get(), 0);
    write_list(out, 0, samples(), [&](int64_t i) { write_sample(out, i); });
  }

 private:
  template <typename WritePart>
  static void write_list(std::string& out, int64_t begin, int64_t end, const WritePart& write_part) {
    out += '[';
    for (int64_t i = begin; i < end; ++i) {
      if (i > begin) out += ',';
      write_part(i);
    }
    out += ']';
  }
  void write_part(std::string& out, int64_t part, size_t level) const {
    if (level == tensor_.lod.size()) return write_row(out, 1, part * row_, row_);
    const auto& offsets = tensor_.lod[level];
    const auto at = static_cast<size_t>(part);
    write_list(out, offsets[at], offsets[at + 1], [&](int64_t below) { write_part(out, below, level + 1); });
  }
  void write_row(std::string& out, size_t depth, int64_t first, int64_t count) const {
    if (depth >= tensor_.shape.size()) return write_(out, tensor_.data.get(), first);
    const int64_t parts = tensor_.shape[depth];
    const int64_t below = parts == 0 ? 0 : count / parts;
    write_list(out, 0, parts, [&](int64_t i) { write_row(out, depth + 1, first + i * below, below); });
  }

  const Tensor& tensor_;
  const Write write_;
  int64_t row_ = 1;
};

Result<std::string> answer_by_sample(const std::vector<TensorInfo>& infos, const std::vector<TensorText>& texts) {
  const int64_t samples = texts.empty() ? 0 : texts[0].samples();
  for (size_t i = 0; i < texts.size(); ++i)
    if (texts[i].samples() < 0 || texts[i].samples() != samples)
      return Status::invalid_argument("output '{}' has no value for each sample; ask with 'inputs' instead of 'instances'",
                                      infos[i].name);
  std::string out = "{\"predictions\":[";
  for (int64_t sample = 0; sample < samples; ++sample) {
    if (sample > 0) out += ',';
    if (texts.size() == 1) {
      texts[0].write_sample(out, sample);
      continue;
    }
    for (size_t i = 0; i < texts.size(); ++i) {
      out += (i == 0 ? "{" : ",") + json_string(infos[i].name) + ":";
      texts[i].write_sample(out, sample);
    }
    out += '}';
  }
  return out + "]}";
}

std::string answer_by_output(const std::vector<TensorInfo>& infos, const std::vector<TensorText>& texts) {
  std::string out = "{\"outputs\":";
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts.size() > 1) out += (i == 0 ? "{" : ",") + json_string(infos[i].name) + ":";
    texts[i].write_all(out);
  }
  return out + (texts.size() > 1 ? "}}" : "}");
}

}  // namespace

Result<std::string> format_answer(const std::vector<TensorInfo>& infos, const std::vector<Tensor>& outputs, bool by_sample) {
  std::vector<TensorText> texts;
  for (size_t i = 0; i < outputs.size(); ++i) {
    ASSIGN_OR_RETURN(Write write, writer("output " + infos[i].name, outputs[i].dtype));
    texts.emplace_back(outputs[i], std::move(write));
  }
  return by_sample ? answer_by_sample(infos, texts) : answer_by_output(infos, texts);
}

std::string format_request(const std::vector<TensorInfo>& infos, const Inputs& inputs) {
  std::string out = "{\"inputs\":{";
  for (const TensorInfo& info : infos) {
    const auto found = inputs.find(info.name);
    if (found == inputs.end()) continue;
    auto write = writer(info.name, found->second.dtype);
    if (!write.ok()) continue;  // the server names what is missing
    if (out.back() != '{') out += ',';
    out += json_string(info.name) + ":";
    TensorText(found->second, std::move(*write)).write_all(out);
  }
  return out + "}}";
}

}  // namespace argosy::serve
