#include "argosy/serve/http/json_tensor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "argosy/base/text.h"

namespace argosy::serve {
namespace {

using Json = nlohmann::json;

// A value in a message. Lists and objects are not written out: they may be nested without end, and writing recurses.
std::string shown(const Json& value) {
  if (value.is_array()) return fmt::format("a list of {}", value.size());
  if (value.is_object()) return "an object";
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= 40 ? text : text.substr(0, 40) + "…";
}

template <typename T>
Status append_number(const Json& value, std::vector<T>& out) {
  if constexpr (std::is_same_v<T, char>) {  // truth values, whose std::vector is none
    if (!value.is_boolean()) return Status::invalid_argument("got {}, expected true or false", shown(value));
    out.push_back(value.get<bool>() ? 1 : 0);
  } else if constexpr (std::is_integral_v<T>) {
    if (!value.is_number_integer()) return Status::invalid_argument("got {}, expected an integer", shown(value));
    // Ids are often hashes of 64 bits without a sign: the same bits.
    const int64_t number = value.is_number_unsigned() ? static_cast<int64_t>(value.get<uint64_t>()) : value.get<int64_t>();
    if (!std::in_range<T>(number)) return Status::invalid_argument("got {}, which does not fit the input's type", shown(value));
    out.push_back(static_cast<T>(number));
  } else {
    if (!value.is_number()) return Status::invalid_argument("got {}, expected a number", shown(value));
    const double number = value.get<double>();
    if (std::abs(number) > std::numeric_limits<T>::max())
      return Status::invalid_argument("got {}, which does not fit the input's type", shown(value));
    out.push_back(static_cast<T>(number));
  }
  return {};
}

// The elements of nested lists of the given sizes, where -1 is what the first list of that depth has.
template <typename T>
Status append_elements(const Json& value, std::vector<int64_t>& sizes, size_t depth, std::vector<T>& out) {
  if (depth == sizes.size()) return append_number(value, out);
  if (!value.is_array()) {
    const bool single =
        std::all_of(sizes.begin() + static_cast<std::ptrdiff_t>(depth), sizes.end(), [](int64_t size) { return size == 1; });
    if (single) return append_number(value, out);
    return Status::invalid_argument("got {}, expected a list{}", shown(value),
                                    sizes[depth] < 0 ? "" : fmt::format(" of {}", sizes[depth]));
  }
  const auto count = static_cast<int64_t>(value.size());
  if (sizes[depth] < 0) sizes[depth] = count;
  if (count != sizes[depth]) return Status::invalid_argument("got a list of {}, expected {}", count, sizes[depth]);
  for (const Json& part : value) RETURN_IF_ERROR(append_elements(part, sizes, depth + 1, out));
  return {};
}

// One input of the model being put together, sample by sample.
template <typename T>
class Column {
 public:
  explicit Column(const TensorInfo& info) : info_(info), lod_(static_cast<size_t>(info.lod_level), {0}) {
    sizes_.assign(info.shape.begin() + (info.shape.empty() ? 0 : 1), info.shape.end());
  }

  Status add(const Json& sample) { return add_level(sample, 0); }

  Tensor tensor() const {
    std::vector<int64_t> shape = sizes_;
    for (int64_t& size : shape) size = std::max<int64_t>(size, 0);
    shape.insert(shape.begin(), rows_);
    Tensor made = Tensor::uninitialised(info_.dtype, std::move(shape), lod_);
    if (!values_.empty()) std::memcpy(made.mutable_data(), values_.data(), values_.size() * sizeof(T));
    return made;
  }

 private:
  Status add_level(const Json& part, size_t level) {
    if (level == lod_.size()) {
      ++rows_;
      return append_elements(part, sizes_, 0, values_);
    }
    if (!part.is_array()) return Status::invalid_argument("got {}, expected a list: a sequence", shown(part));
    lod_[level].push_back(lod_[level].back() + static_cast<int64_t>(part.size()));
    for (const Json& below : part) RETURN_IF_ERROR(add_level(below, level + 1));
    return {};
  }

  const TensorInfo& info_;
  std::vector<std::vector<int64_t>> lod_;
  std::vector<int64_t> sizes_;  // of one row
  std::vector<T> values_;
  int64_t rows_ = 0;
};

using Samples = std::vector<const Json*>;

template <typename T>
Result<Tensor> build(const TensorInfo& info, const Samples& samples) {
  Column<T> column(info);
  for (size_t i = 0; i < samples.size(); ++i)
    RETURN_IF_ERROR(column.add(*samples[i]).with_context("input '{}', sample {}", info.name, i));
  return column.tensor();
}

Result<Tensor> build_tensor(const TensorInfo& info, const Samples& samples) {
  switch (info.dtype) {
    case graph::DType::float32: return build<float>(info, samples);
    case graph::DType::float64: return build<double>(info, samples);
    case graph::DType::int64: return build<int64_t>(info, samples);
    case graph::DType::int32: return build<int32_t>(info, samples);
    case graph::DType::int16: return build<int16_t>(info, samples);
    case graph::DType::int8: return build<int8_t>(info, samples);
    case graph::DType::uint8: return build<uint8_t>(info, samples);
    case graph::DType::boolean: return build<char>(info, samples);
    default:
      return Status::unimplemented("input '{}' is {}, which JSON has no numbers for", info.name, graph::dtype_name(info.dtype));
  }
}

std::string names_of(const std::vector<TensorInfo>& infos) {
  std::vector<std::string> names;
  for (const TensorInfo& info : infos) names.push_back(info.name);
  return join(names, ", ");
}

const TensorInfo* find(const std::vector<TensorInfo>& infos, const std::string& name) {
  const auto found = std::find_if(infos.begin(), infos.end(), [&](const auto& info) { return info.name == name; });
  return found == infos.end() ? nullptr : &*found;
}

Status unknown_input(const std::vector<TensorInfo>& infos, const std::string& name, const std::string& where) {
  return Status::invalid_argument("{}the model has no input '{}'; its inputs are {}", where, name, names_of(infos));
}

// The samples of each input of {"instances": …}.
Result<std::map<std::string, Samples>> by_sample(const Json& instances, const std::vector<TensorInfo>& infos) {
  if (!instances.is_array()) return Status::invalid_argument("'instances' must be a list, with one entry per sample");
  std::map<std::string, Samples> samples;
  for (const TensorInfo& info : infos) samples[info.name];
  for (size_t i = 0; i < instances.size(); ++i) {
    const Json& instance = instances[i];
    if (!instance.is_object()) {
      if (infos.size() == 1) {
        samples[infos[0].name].push_back(&instance);
        continue;
      }
      return Status::invalid_argument("instance {}: got {}, expected an object with the inputs {}", i, shown(instance),
                                      names_of(infos));
    }
    for (const auto& [name, value] : instance.items()) {
      if (find(infos, name) == nullptr) return unknown_input(infos, name, fmt::format("instance {}: ", i));
      samples[name].push_back(&value);
    }
    for (const auto& [name, found] : samples)
      if (found.size() != i + 1) return Status::invalid_argument("instance {} lacks input '{}'", i, name);
  }
  return samples;
}

// The same of {"inputs": …}.
Result<std::map<std::string, Samples>> by_input(const Json& inputs, const std::vector<TensorInfo>& infos) {
  std::map<std::string, const Json*> columns;
  if (inputs.is_object()) {
    for (const auto& [name, column] : inputs.items()) {
      if (find(infos, name) == nullptr) return unknown_input(infos, name, "");
      columns[name] = &column;
    }
  } else if (infos.size() == 1) {
    columns[infos[0].name] = &inputs;
  } else {
    return Status::invalid_argument("'inputs' must be an object with the inputs {}", names_of(infos));
  }
  std::map<std::string, Samples> samples;
  for (const TensorInfo& info : infos) {
    const auto column = columns.find(info.name);
    if (column == columns.end()) return Status::invalid_argument("'inputs' lacks input '{}'", info.name);
    if (!column->second->is_array())
      return Status::invalid_argument("input '{}': got {}, expected a list with one entry per sample", info.name,
                                      shown(*column->second));
    for (const Json& sample : *column->second) samples[info.name].push_back(&sample);
    samples[info.name];
  }
  return samples;
}

}  // namespace

Result<PredictRequest> parse_request(std::string_view body, const std::vector<TensorInfo>& infos) {
  Json request;
  try {
    request = Json::parse(body);
  } catch (const Json::exception& error) {
    return Status::invalid_argument("the request is no JSON: {}", error.what());
  }
  if (!request.is_object() || request.contains("instances") == request.contains("inputs"))
    return Status::invalid_argument(
        "a request is {{\"instances\": [sample, …]}} or {{\"inputs\": {{name: [sample, …]}}}}, with exactly one of the two");
  PredictRequest made{.inputs = {}, .by_sample = request.contains("instances")};
  ASSIGN_OR_RETURN(const auto samples,
                   made.by_sample ? by_sample(request["instances"], infos) : by_input(request["inputs"], infos));
  for (const TensorInfo& info : infos) {
    ASSIGN_OR_RETURN(Tensor tensor, build_tensor(info, samples.at(info.name)));
    made.inputs.emplace(info.name, std::move(tensor));
  }
  return made;
}

std::vector<std::string> parse_ids(std::string_view body) {
  const Json request = Json::parse(body, nullptr, false);
  std::vector<std::string> ids;
  if (!request.is_object() || !request.contains("ids") || !request["ids"].is_array()) return ids;
  for (const Json& id : request["ids"]) ids.push_back(id.is_string() ? id.get<std::string>() : id.dump());
  return ids;
}

Result<std::vector<OutputValues>> parse_answer(std::string_view body) {
  const Json answer = Json::parse(body, nullptr, false);
  if (!answer.is_object() || !answer.contains("outputs"))
    return Status::data_loss("the answer has no 'outputs': {}", std::string(body.substr(0, 200)));
  std::vector<OutputValues> found;
  const std::function<void(const Json&, std::vector<double>&)> flatten = [&](const Json& value, std::vector<double>& out) {
    if (value.is_array()) {  // of our own server, or a file that the user gives: no deeper than a tensor has dimensions
      for (const Json& part : value) flatten(part, out);
    } else if (value.is_boolean()) {
      out.push_back(value.get<bool>() ? 1 : 0);
    } else {
      out.push_back(value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN());
    }
  };
  const Json& outputs = answer["outputs"];
  if (!outputs.is_object()) {
    found.emplace_back();
    flatten(outputs, found[0].values);
    return found;
  }
  for (const auto& [name, value] : outputs.items()) {
    found.push_back({name, {}});
    flatten(value, found.back().values);
  }
  return found;
}

std::string json_string(std::string_view text) { return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace argosy::serve
