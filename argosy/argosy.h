// Everything that a C++ program needs, by one include.
#pragma once

#include "argosy/base/error.h"
#include "argosy/engine/ops/layers.h"
#include "argosy/fleet/executor.h"
#include "argosy/fleet/file_stream.h"
#include "argosy/fleet/fleet.h"
#include "argosy/fleet/make_dataset.h"
#include "argosy/fleet/model.h"
#include "argosy/graph/build.h"
#include "argosy/graph/layers.h"
#include "argosy/graph/minimize.h"
#include "argosy/serve/predict/predictor.h"

namespace argosy {

using graph::default_main_program;
using graph::default_startup_program;
using graph::DType;
using graph::minimize;
using graph::ParamAttr;
using graph::ProgramGuard;

}  // namespace argosy
