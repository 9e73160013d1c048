#pragma once

// All layer functions: namespace argosy::layers.
#include "argosy/graph/layers/loss.h"
#include "argosy/graph/layers/metric.h"
#include "argosy/graph/layers/nn.h"
#include "argosy/graph/layers/sequence.h"
