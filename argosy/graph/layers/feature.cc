// Layers for features of click-through models.
#include "argosy/graph/build.h"
#include "argosy/graph/layers/nn.h"

namespace argosy::layers {

using graph::LayerHelper;

Variable continuous_value_model(const Variable& input, const Variable& cvm, bool use_cvm) {
  LayerHelper helper("cvm", "");
  graph::VarDesc desc;
  desc.name = graph::unique_name("_generated_var");
  desc.dtype = input.dtype();
  graph::Block& block = helper.main().current_block();
  const Variable out(helper.main().shared_from_this(), block, block.put_var(std::move(desc)));
  helper.append_op({.type = "cvm",
                    .inputs = {{"X", {input.name()}}, {"CVM", {cvm.name()}}},
                    .outputs = {{"Y", {out.name()}}},
                    .attributes = {{"use_cvm", use_cvm}}});
  return out;
}

}  // namespace argosy::layers
