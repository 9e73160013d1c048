# What users may include, and all that is installed: the two umbrellas, what their functions take and give, and the header for
# operators of one's own. A public header includes public headers only; tests/tooling/test_public_headers.py checks it.
set(ARGOSY_PUBLIC_COLLECTIVE
    argosy/base/check.h argosy/base/error.h argosy/base/named_choices.h argosy/base/rank_info.h argosy/base/settings.h argosy/base/status.h argosy/base/uri.h
    argosy/collective.h
    argosy/collective/captured_step.h argosy/collective/data_parallel.h argosy/collective/fused_adam.h argosy/collective/fused_batch_norm.h argosy/collective/gradient_type.h argosy/collective/group.h
    argosy/collective/local_sgd.h argosy/collective/sampler.h
    argosy/fleet/collective_training.h argosy/fleet/collective_job.h argosy/fleet/process.h argosy/fleet/role.h argosy/fleet/sync_batch_norm.h argosy/fleet/train_steps.h argosy/fleet/util.h)

set(ARGOSY_PUBLIC_PROGRAMS
    argosy/argosy.h
    argosy/base/line_range.h argosy/base/mutex.h argosy/base/random.h argosy/base/step_gradients.h argosy/base/thread.h
    argosy/data/batch.h argosy/data/arrow_interface.h argosy/data/arrow_table.h argosy/data/buffer.h argosy/data/column_options.h argosy/data/corpus_options.h argosy/data/criteo.h argosy/data/criteo_options.h argosy/data/dataset.h argosy/data/in_memory_dataset.h
    argosy/data/line_parser.h argosy/data/queue_dataset.h argosy/data/record_store.h argosy/data/remote_store.h argosy/data/slot.h argosy/data/store_uri.h argosy/data/vocabulary.h
    argosy/data/word_index.h
    argosy/engine/program/kernel.h argosy/engine/program/op.h argosy/engine/program/model_io.h argosy/engine/program/scope.h argosy/engine/program/value.h
    argosy/engine/train/runner.h argosy/engine/train/trainer.h
    argosy/fleet/file_stream.h argosy/fleet/make_dataset.h argosy/fleet/executor.h argosy/fleet/fleet.h argosy/fleet/model.h argosy/fleet/process_context.h argosy/fleet/server_model.h
    argosy/fleet/strategy.h
    argosy/graph/attribute.h argosy/graph/backward.h argosy/graph/build.h argosy/graph/dtype.h argosy/graph/function_call.h
    argosy/graph/function_schema.h argosy/graph/initializer.h
    argosy/graph/layer_helper.h argosy/graph/layers.h argosy/graph/layers/activation.h argosy/graph/layers/control_flow.h argosy/graph/layers/fill.h
    argosy/graph/layers/loss.h argosy/graph/layers/metric.h argosy/graph/layers/nets.h
    argosy/graph/layers/nn.h argosy/graph/layers/operators.h argosy/graph/layers/sequence.h argosy/graph/layers/shape.h
    argosy/graph/layers/tensor.h argosy/graph/layers/types.h argosy/graph/minimize.h argosy/graph/op_desc.h
    argosy/graph/op_schema.h argosy/graph/program.h argosy/graph/var_desc.h argosy/graph/variable.h
    argosy/optim/clip.h argosy/optim/optimizer.h argosy/optim/regularize.h argosy/optim/rule.h argosy/optim/schedule.h
    argosy/ps/spec/job_spec.h argosy/ps/spec/ledger.h argosy/ps/spec/mode.h argosy/ps/client/server_stats.h argosy/ps/spec/window.h
    argosy/ps/spec/wire_format.h
    argosy/graph/model_files.h argosy/serve/predict/predictor.h argosy/serve/predict/predict_tensor.h argosy/serve/predict/parameter_source.h argosy/serve/redis/redis_source.h argosy/serve/sources/job_source.h
    argosy/table/spec.h)

# Made at build time (cmake/ArgosyFunctions.cmake), in the build folder.
set(ARGOSY_PUBLIC_MADE argosy/engine/ops/layers.h)
