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
}
INFERENCE = {
    "no-kv-cache": "each token decodes the whole sequence again; fixed: keys and values are kept",
    "eager-decode": "decoding launches kernel by kernel; fixed: a CUDA graph",
    "growing-cache": "torch.cat appends each token's keys and values; fixed: written in place",
    "streamed-weights": "weights are copied from the host every step; fixed: kept on the GPU",
    "all-logits": "logits of all positions, of which the last is used; fixed: of the last",
    "recorded-evaluation": "evaluation in training mode, with gradients; fixed: eval(), inference_mode()",
    "recompiles": "torch.compile for each length of the input; fixed: dynamic=True",
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
        self.loader = problem in ("slow-loader", "few-workers")
        self.workers = {"slow-loader": 0, "few-workers": 1}.get(planted, workers)
        self.written_out = planted == "written-out-attention"
        self.causal = problem == "dense-mask" and fixed
        self.head_loop = planted == "head-loop"
        self.recurrent = problem == "cell-loop"
        self.cell_loop = planted == "cell-loop"
        self.experts = problem == "every-expert"
        self.all_tokens = planted == "every-expert"
        self.words = 50257 if problem == "odd-vocabulary" else None  # a class a position, not a sequence
        self.outputs = CLASSES if self.words is None else 50304 if fixed else self.words
        self.recompute = planted == "recomputation"
        self.synchronize = planted == "synchronizing"
        self.empty_cache = planted == "empty-cache"
        self.masked = problem == "host-tensors" or planted == "dense-mask"
        self.host_mask = planted == "host-tensors"
        self.convolutions = problem in ("channels-first", "recorded-evaluation")
        self.channels_last = planted != "channels-first"
        self.kv_cache = planted != "no-kv-cache"
        self.graph = problem == "eager-decode" and fixed
        self.growing_cache = planted == "growing-cache"
        self.streamed = planted == "streamed-weights"
        self.all_logits = planted == "all-logits"
        self.recorded = planted == "recorded-evaluation"
        self.dynamic = planted != "recompiles"
