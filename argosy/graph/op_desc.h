#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "argosy/graph/attribute.h"

namespace argosy::graph {

// The attribute with the number of an operator that draws first values, see init_op.
inline constexpr char kRandomStream[] = "random_stream";

// Slot name -> variable names, in the order in which they were given.
class SlotMap {
 public:
  SlotMap() = default;
  SlotMap(std::initializer_list<std::pair<std::string, std::vector<std::string>>> slots) : slots_(slots) {}

  const std::vector<std::string>* find(std::string_view slot) const;
  std::vector<std::string>& operator[](std::string_view slot);  // added where absent
  void erase(std::string_view slot);

  auto begin() const { return slots_.begin(); }
  auto end() const { return slots_.end(); }
  auto begin() { return slots_.begin(); }
  auto end() { return slots_.end(); }
  bool empty() const { return slots_.empty(); }
  friend bool operator==(const SlotMap&, const SlotMap&) = default;

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> slots_;
};

// What an operator is for; the values are those of Paddle's `op_role` attribute and may be or-ed.
enum OpRole : int32_t {
  kRoleForward = 0,
  kRoleBackward = 1,
  kRoleOptimize = 2,
  kRoleRpc = 4,
  kRoleDist = 8,
  kRoleLearningRate = 16,
  kRoleLoss = 256,
};
inline constexpr std::string_view kRoleAttribute = "op_role";

// Slots of batch_norm: the running statistic that it reads, and the output for the batch's own, which only a worker of parameter
// servers wants: it is sent in place of a gradient, and the running one is then the servers' to move.
struct StatisticSlots {
  std::string_view running, batch;
};
inline constexpr StatisticSlots kBatchStatistics[] = {{"Mean", "BatchMean"}, {"Variance", "BatchVariance"}};

// One operator of a block: a type, variables by slot, attributes. A plain value.
struct OpDesc {
  std::string type;
  SlotMap inputs, outputs;
  AttributeMap attributes;

  std::vector<std::string> input_names() const;   // all slots, in order
  std::vector<std::string> output_names() const;
  int32_t role() const;

  template <typename T>
  const T* attribute(std::string_view name) const {
    const auto found = attributes.find(name);
    return found == attributes.end() ? nullptr : std::get_if<T>(&found->second);
  }
  template <typename T>
  T attribute_or(std::string_view name, T otherwise) const {
    const T* found = attribute<T>(name);
    return found == nullptr ? otherwise : *found;
  }
};

}  // namespace argosy::graph
