"""Which module of fluid.layers has which name in 1.8.5: `fluid.layers.nn.relu` is fluid.layers.relu itself.

The one table of it; a module of that name has those of its names that are here, and says of the others that they are not.
"""

import functools

_NAMES = {
    "nn": """
        log1p logsumexp clamp addmm addcmul bmm nonzero index_select dist dot t cross interpolate diag_embed meshgrid fc embedding
        linear_chain_crf crf_decoding cos_sim chunk_eval conv2d conv3d softmax pool2d pool3d adaptive_pool2d adaptive_pool3d batch_norm
        inplace_abn instance_norm data_norm conv2d_transpose conv3d_transpose reduce_sum reduce_mean reduce_max reduce_min reduce_prod
        reduce_all reduce_any dropout split ctc_greedy_decoder l2_normalize matmul topk transpose im2sequence row_conv multiplex layer_norm
        group_norm spectral_norm smooth_l1 one_hot autoincreased_step_counter reshape squeeze unsqueeze lod_reset lod_append lrn pad
        pad_constant_like label_smooth roi_pool roi_align dice_loss image_resize image_resize_short resize_bilinear resize_trilinear
        resize_nearest gather gather_nd scatter scatter_nd_add scatter_nd random_crop mean_iou relu selu log crop crop_tensor elu relu6 pow
        stanh hard_sigmoid swish prelu brelu leaky_relu soft_relu flatten stack pad2d unstack unique unique_with_counts expand expand_as
        scale elementwise_add elementwise_div elementwise_sub elementwise_mul elementwise_max elementwise_min elementwise_pow
        elementwise_mod elementwise_floordiv uniform_random_batch_size_like gaussian_random sampling_id gaussian_random_batch_size_like sum
        slice strided_slice shape rank size logical_and logical_or logical_xor logical_not clip clip_by_norm mean mul maxout space_to_depth
        affine_grid affine_channel similarity_focus hash grid_sampler log_loss add_position_encoding bilinear_tensor_product
        merge_selected_rows get_tensor_from_selected_rows shuffle_channel temporal_shift py_func psroi_pool prroi_pool pixel_shuffle
        fsp_matrix continuous_value_model where sign deformable_conv unfold deformable_roi_pooling filter_by_instag shard_index hard_swish
        mish gather_tree uniform_random randint randn randperm allclose elementwise_equal flip roll log_softmax index_sample
    """,
    "tensor": """
        create_tensor create_parameter create_global_var cast tensor_array_to_tensor concat sums assign fill_constant_batch_size_like
        fill_constant argmin argmax argsort ones zeros reverse has_inf has_nan isfinite range linspace full_like zeros_like ones_like diag
        eye kron arange full tril triu trace
    """,
    "control_flow": """
        While Switch increment array_write create_array less_than less_equal greater_than greater_equal equal not_equal array_read
        array_length cond IfElse DynamicRNN StaticRNN reorder_lod_tensor_by_rank Print is_empty case switch_case while_loop
    """,
    "io": """
        data read_file double_buffer py_reader create_py_reader_by_data load
    """,
    "ops": """
        sigmoid logsigmoid exp tanh atan tanh_shrink sqrt rsqrt abs ceil floor cos acos asin sin round reciprocal square softplus softsign
        softshrink hard_shrink cumsum thresholded_relu gelu erf
    """,
    "loss": """
        center_loss bpr_loss cross_entropy square_error_cost edit_distance warpctc nce hsigmoid sampled_softmax_with_cross_entropy
        softmax_with_cross_entropy rank_loss margin_rank_loss sigmoid_cross_entropy_with_logits teacher_student_sigmoid_loss huber_loss
        kldiv_loss npair_loss mse_loss
    """,
    "rnn": """
        RNNCell GRUCell LSTMCell Decoder BeamSearchDecoder rnn dynamic_decode DecodeHelper TrainingHelper GreedyEmbeddingHelper
        SampleEmbeddingHelper BasicDecoder dynamic_lstm dynamic_lstmp dynamic_gru gru_unit lstm_unit lstm beam_search beam_search_decode
    """,
    "sequence_lod": """
        sequence_conv sequence_softmax sequence_pool sequence_concat sequence_first_step sequence_last_step sequence_slice sequence_expand
        sequence_expand_as sequence_pad sequence_unpad sequence_reshape sequence_scatter sequence_enumerate sequence_mask sequence_reverse
    """,
    "metric_op": """
        accuracy auc
    """,
    "detection": """
        prior_box density_prior_box multi_box_head bipartite_match target_assign detection_output ssd_loss rpn_target_assign
        retinanet_target_assign sigmoid_focal_loss anchor_generator roi_perspective_transform generate_proposal_labels generate_proposals
        generate_mask_labels iou_similarity box_coder polygon_box_transform yolov3_loss yolo_box box_clip multiclass_nms locality_aware_nms
        matrix_nms retinanet_detection_output distribute_fpn_proposals box_decoder_and_assign collect_fpn_proposals
    """,
}


@functools.cache
def listed(module):
    """The names that `module` has in 1.8.5."""
    return _NAMES[module].split()


def attach(module):
    """(__getattr__, __all__) of fluid.layers.<module>."""
    from argosy.fluid import layers

    def __getattr__(name):
        if name in listed(module) and name in layers.__all__:
            return getattr(layers, name)
        if name in listed(module):
            raise AttributeError(f"fluid.layers.{name} of 1.8.5 is not here; docs/parity.md lists what is, and what takes the place of the rest")
        raise AttributeError(f"module 'paddle.fluid.layers.{module}' has no attribute '{name}'")

    return __getattr__, [name for name in listed(module) if name in layers.__all__]
