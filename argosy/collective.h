// Everything that a libtorch program needs to become distributed, by one include.
#pragma once

#include "argosy/base/error.h"
#include "argosy/collective/captured_step.h"
#include "argosy/collective/fused_adam.h"
#include "argosy/collective/fused_batch_norm.h"
#include "argosy/fleet/collective_training.h"
#include "argosy/fleet/sync_batch_norm.h"
#include "argosy/fleet/train_steps.h"
