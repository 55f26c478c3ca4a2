# SPDX-License-Identifier: Apache-2.0
"""What is planted and what is fixed, and what a run does for it."""

TRAINING = {
    "pageable-copies": "batches come from pageable host memory; fixed: pinned, copied asynchronously",
    "item-every-step": "the loss and every gradient's norm are read each step; fixed: kept on the GPU",
    "tiny-kernels": "many small layers, one optimizer kernel at a time; fixed: fewer, wider, fused",
    "fp32-matmul": "matrix products in FP32 without TF32; fixed: autocast",
    "double-precision": "model and batches in FP64, as NumPy's are; fixed: FP32, products in TF32",
    "slow-loader": "a slow dataset is read in the training loop; fixed: by workers",
    "few-workers": "one worker reads a slow dataset; fixed: as many as keep up",
    "small-batch": "one sequence a step; fixed: 32",
    "micro-batches": "gradients of eight micro-batches are accumulated; fixed: of one",
    "eager": "operators run one by one; fixed: torch.compile",
    "single-tensor-optimizer": "the optimizer updates one tensor at a time; fixed: fused",
    "written-out-attention": "scores and softmax as operators of their own; fixed: scaled_dot_product_attention",
    "dense-mask": "a causal mask added to the scores; fixed: is_causal=True",
    "head-loop": "heads attend one after the other; fixed: all at once",
    "cell-loop": "an LSTM as a loop over cells; fixed: nn.LSTM",
    "every-expert": "each expert computes all tokens; fixed: those it chose",
    "odd-vocabulary": "50257 words; fixed: padded to 50304",
    "recomputation": "blocks run again in the backward pass though memory is free; fixed: not",
    "synchronizing": "each block waits for the GPU, as code that times them does; fixed: not",
    "average-loop": "a moving average of the weights, tensor by tensor; fixed: of all at once",
    "element-metrics": "loss and hit of each sample are read by themselves; fixed: in one copy",
    "empty-cache": "the allocator's memory is freed every step; fixed: kept",
    "host-tensors": "a mask is built on the host and copied every step; fixed: once",
    "channels-first": "convolutions of half precision in NCHW; fixed: channels_last",
    "round-trips": "permuted and copied around the norm of each block; fixed: channels_last throughout",
    "written-out-norms": "RMSNorm and GELU as operators of their own; fixed: rms_norm, gelu",
    "packed-blocks": "each block finds the tokens that are no padding by a mask; fixed: once a step",
    "one-hot-loss": "cross entropy by one_hot over 50304 words; fixed: cross_entropy",
    "sample-loop": "the loss of each sample by itself; fixed: of all at once",
    "clip-loop": "gradients are clipped tensor by tensor, norms read; fixed: clip_grad_norm_",
    "finite-checks": "each block checks its output for infinities; fixed: not",
    "anomaly-detection": "autograd's anomaly detection is on; fixed: off",
    "blocking-launches": "CUDA_LAUNCH_BLOCKING=1; fixed: unset",
    "frequent-checkpoints": "a checkpoint every other step; fixed: none",
    "new-workers": "short epochs, each with new workers; fixed: persistent_workers=True",
    "host-noise": "a diffusion model's noise is drawn on the host; fixed: on the GPU",
    "host-metrics": "outputs are copied to NumPy for a metric every step; fixed: counted on the GPU",
    "small-copies": "each tensor of each sample is copied by itself; fixed: stacked before",
    "host-optimizer": "the optimizer and its state are on the host; fixed: on the GPU",
    "dense-embedding": "dense gradients of a table of four million rows; fixed: sparse ones",
}
INFERENCE = {
    "no-kv-cache": "each token decodes the whole sequence again; fixed: keys and values are kept",
    "eager-decode": "decoding launches kernel by kernel; fixed: a CUDA graph",
    "growing-cache": "torch.cat appends each token's keys and values; fixed: written in place",
    "streamed-weights": "weights are copied from the host every step; fixed: kept on the GPU",
    "all-logits": "logits of all positions, of which the last is used; fixed: of the last",
    "recorded-evaluation": "evaluation in training mode, with gradients; fixed: eval(), inference_mode()",
    "recompiles": "torch.compile for each length of the input; fixed: dynamic=True",
    "graph-breaks": "a compiled model reads a number behind each block; fixed: returns them",
    "cast-weights": "autocast casts FP32 weights in every step; fixed: weights in half precision",
    "separate-projections": "queries, keys, values, gate and up by products of their own; fixed: joined",
    "float-attention": "attention in FP32 within a model in half precision; fixed: in half precision",
    "repeated-heads": "shared keys and values are copied for each head; fixed: enable_gqa=True",
    "full-sort": "top-p sampling sorts the whole vocabulary; fixed: the 64 most likely words",
    "distances": "pairwise distances by broadcasting; fixed: torch.cdist",
    "strided-kernel": "a Triton kernel whose neighbours read different rows; fixed: one row",
    "unfolded-norms": "convolutions and their batch norms apart; fixed: folded",
}
PROBLEMS = TRAINING | INFERENCE

CLASSES = 1000


class Settings:
    """What a run does. The defaults have none of the problems."""

    def __init__(self, problem, fixed, width, layers, length, batch, workers):
        planted = None if fixed else problem
        tiny = planted == "tiny-kernels"
        self.problem = problem
        self.width = 64 if tiny else width
        self.layers = 8 * layers if tiny else layers
        self.fused_optimizer = planted not in ("tiny-kernels", "single-tensor-optimizer")
        self.length = length
        self.batch = 1 if planted == "small-batch" else batch
        self.micro_batches = 8 if planted == "micro-batches" else 1
        self.tf32 = planted != "fp32-matmul"
        self.half = self.tf32 and problem != "double-precision"
        self.double = planted == "double-precision"
        self.compile = problem == "eager" and fixed
        self.norms = problem == "item-every-step"
        self.read_scalars = planted == "item-every-step"
        self.average = problem == "average-loop"
        self.average_loop = planted == "average-loop"
        self.metrics = problem == "element-metrics"
        self.read_elements = planted == "element-metrics"
        self.host_batches = problem == "pageable-copies"
        self.pinned = planted != "pageable-copies"
        self.loader = problem in ("slow-loader", "few-workers", "new-workers")
        self.short_epochs = problem == "new-workers"
        self.persistent = planted != "new-workers"
        self.workers = {"slow-loader": 0, "few-workers": 1}.get(planted, workers)
        self.written_out = planted == "written-out-attention"
        self.causal = problem == "dense-mask" and fixed
        self.head_loop = planted == "head-loop"
        self.recurrent = problem == "cell-loop"
        self.cell_loop = planted == "cell-loop"
        self.experts = problem == "every-expert"
        self.all_tokens = planted == "every-expert"
        self.words = 50304 if problem in ("odd-vocabulary", "one-hot-loss") else None  # a class a position
        if planted == "odd-vocabulary":
            self.words = 50257
        self.outputs = self.words or CLASSES
        self.one_hot = planted == "one-hot-loss"
        self.sample_loop = planted == "sample-loop"
        self.clipped = problem == "clip-loop"
        self.clip_loop = planted == "clip-loop"
        self.check_finite = planted == "finite-checks"
        self.anomaly_detection = planted == "anomaly-detection"
        self.blocking = planted == "blocking-launches"
        self.checkpoints = planted == "frequent-checkpoints"
        self.recompute = planted == "recomputation"
        self.synchronize = planted == "synchronizing"
        self.empty_cache = planted == "empty-cache"
        self.masked = problem == "host-tensors" or planted == "dense-mask"
        self.host_mask = planted == "host-tensors"
        self.convolutions = problem in ("channels-first", "recorded-evaluation", "unfolded-norms")
        self.channels_last = planted != "channels-first"
        self.kv_cache = planted != "no-kv-cache"
        self.graph = problem == "eager-decode" and fixed
        self.growing_cache = planted == "growing-cache"
        self.streamed = planted == "streamed-weights"
        self.all_logits = planted == "all-logits"
        self.recorded = planted == "recorded-evaluation"
        self.dynamic = planted != "recompiles"
        self.graph_breaks = planted == "graph-breaks"
        self.cast_weights = planted == "cast-weights"
        self.round_trips = planted == "round-trips"
        self.written_norms = planted == "written-out-norms"
        self.packed = problem == "packed-blocks"
        self.masked_rows = planted == "packed-blocks"
        self.separate = planted == "separate-projections"
        self.float_attention = planted == "float-attention"
        self.shared_heads = problem == "repeated-heads"
        self.repeated_heads = planted == "repeated-heads"
        self.full_sort = planted == "full-sort"
        self.broadcast = planted == "distances"
        self.strided = planted == "strided-kernel"
        self.folded = problem == "unfolded-norms" and fixed
        self.host_noise = planted == "host-noise"
        self.host_metrics = planted == "host-metrics"
        self.small_copies = planted == "small-copies"
        self.host_optimizer = planted == "host-optimizer"
        self.sparse = problem == "dense-embedding" and fixed
