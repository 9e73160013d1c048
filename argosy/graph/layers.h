#pragma once

// The layer functions that are more than one operator: namespace argosy::layers. Those that are one are in
// argosy/engine/ops/layers.h, which is made from the operators' entries.
#include "argosy/graph/layers/activation.h"
#include "argosy/graph/layers/control_flow.h"
#include "argosy/graph/layers/fill.h"
#include "argosy/graph/layers/loss.h"
#include "argosy/graph/layers/metric.h"
#include "argosy/graph/layers/nets.h"
#include "argosy/graph/layers/nn.h"
#include "argosy/graph/layers/operators.h"
#include "argosy/graph/layers/sequence.h"
#include "argosy/graph/layers/shape.h"
#include "argosy/graph/layers/tensor.h"
