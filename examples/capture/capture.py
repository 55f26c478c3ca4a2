#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains or runs a small model on one GPU with a planted problem, or its fix, under torch.profiler.

Writes PROBLEM-before.json.gz (with --fixed PROBLEM-after.json.gz) and a log of nvidia-smi beside it. The problem is
the only difference between the two. Needs PyTorch 2.1 or newer and a GPU.
"""

import argparse
import os
import re
import subprocess
import sys
import time

PROBLEMS = {
    "pageable-copies": "batches come from pageable host memory; fixed: pinned, copied asynchronously",
    "item-every-step": "the loss and every gradient's norm are read each step; fixed: kept on the GPU",
    "tiny-kernels": "many small layers, one optimizer kernel at a time; fixed: fewer, wider, fused",
    "fp32-matmul": "matrix products in FP32 without TF32; fixed: autocast",
    "slow-loader": "a slow dataset is read in the training loop; fixed: by workers",
    "small-batch": "one sequence a step; fixed: 32",
    "eager": "operators run one by one; fixed: torch.compile",
    "single-tensor-optimizer": "the optimizer updates one tensor at a time; fixed: fused",
    "written-out-attention": "scores and softmax as operators of their own; fixed: scaled_dot_product_attention",
    "recomputation": "blocks run again in the backward pass though memory is free; fixed: not",
    "synchronizing": "each block waits for the GPU, as code that times them does; fixed: not",
    "empty-cache": "the allocator's memory is freed every step; fixed: kept",
    "host-tensors": "a mask is built on the host and copied every step; fixed: once",
    "few-workers": "one worker reads a slow dataset; fixed: as many as keep up",
    "channels-first": "convolutions of half precision in NCHW; fixed: channels_last",
    "no-kv-cache": "each token decodes the whole sequence again; fixed: keys and values are kept",
    "eager-decode": "decoding launches kernel by kernel; fixed: a CUDA graph",
}
DECODING = ("no-kv-cache", "eager-decode")
LOADING = ("slow-loader", "few-workers")

SMI_FIELDS = "timestamp,utilization.gpu,utilization.memory,memory.used,clocks.sm,power.draw,temperature.gpu"
SMI_INTERVAL_MS = 200

WAIT, WARMUP, ACTIVE = 1, 2, 5  # steps of the profiler's schedule
CLASSES = 1000


def positive(text):
    value = int(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not positive")
    return value


def seconds(text):
    value = float(text)
    if not 0 <= value < 3600:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 3600")
    return value


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="problems:\n" + "\n".join(f"  {name:16} {what}" for name, what in PROBLEMS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--problem", required=True, choices=PROBLEMS, metavar="NAME")
    parser.add_argument("--fixed", action="store_true", help="without the problem")
    parser.add_argument("--with-stack", action="store_true", help="record Python call stacks")
    parser.add_argument("-o", "--output", default=".", metavar="DIR", help="folder to write to (default: this one)")
    parser.add_argument("--width", type=positive, default=1024, help="of the model (default: 1024)")
    parser.add_argument("--layers", type=positive, default=12, help="of the model (default: 12)")
    parser.add_argument("--length", type=positive, default=512, help="of a sequence (default: 512)")
    parser.add_argument("--batch", type=positive, default=32, help="sequences a step (default: 32)")
    parser.add_argument("--workers", type=positive, default=8, help="of the fixed loaders (default: 8)")
    parser.add_argument("--warm-up", type=seconds, default=3, metavar="SECONDS", help="before profiling (default: 3)")
    arguments = parser.parse_args()
    if arguments.width % 64:
        parser.error("--width must be a multiple of 64, the size of an attention head")
    return arguments


def import_torch():
    try:
        import torch
    except ImportError as error:
        sys.exit(f"capture.py: PyTorch cannot be imported ({error}); install it: https://pytorch.org/get-started")
    version = re.match(r"(\d+)\.(\d+)", torch.__version__)
    if not version or (int(version[1]), int(version[2])) < (2, 1):
        sys.exit(f"capture.py: PyTorch {torch.__version__} is too old; 2.1 or newer is needed")
    if not torch.cuda.is_available():
        sys.exit("capture.py: PyTorch sees no GPU; run this on a machine with one, with a PyTorch built for it")
    return torch


class Settings:
    """What a run does. The defaults have none of the problems."""

    def __init__(self, arguments):
        planted = None if arguments.fixed else arguments.problem
        tiny = planted == "tiny-kernels"
        self.width = 64 if tiny else arguments.width
        self.layers = 8 * arguments.layers if tiny else arguments.layers
        self.fused_optimizer = planted not in ("tiny-kernels", "single-tensor-optimizer")
        self.length = arguments.length
        self.batch = 1 if planted == "small-batch" else arguments.batch
        self.half = planted != "fp32-matmul"
        self.compile = arguments.problem == "eager" and arguments.fixed
        self.norms = arguments.problem == "item-every-step"
        self.read_scalars = planted == "item-every-step"
        self.host_batches = arguments.problem == "pageable-copies"
        self.pinned = planted != "pageable-copies"
        self.loader = arguments.problem in LOADING
        self.workers = {"slow-loader": 0, "few-workers": 1}.get(planted, arguments.workers)
        self.written_out = planted == "written-out-attention"
        self.recompute = planted == "recomputation"
        self.synchronize = planted == "synchronizing"
        self.empty_cache = planted == "empty-cache"
        self.masked = arguments.problem == "host-tensors"
        self.host_mask = planted == "host-tensors"
        self.convolutions = arguments.problem == "channels-first"
        self.channels_last = planted != "channels-first"
        self.decoding = arguments.problem in DECODING
        self.kv_cache = planted != "no-kv-cache"
        self.graph = arguments.problem == "eager-decode" and arguments.fixed


class SlowDataset:
    """Samples that take a while to read. Its loader makes tensors of them."""

    SECONDS = 0.002

    def __init__(self, length, width):
        self.length, self.width = length, width

    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        import torch

        time.sleep(self.SECONDS)
        return torch.full((self.length, self.width), index % 7 / 7), index % CLASSES


def make_block(torch, settings):
    """One layer of a transformer. Its mask, if any, is added to the scores."""
    nn = torch.nn
    width, head = settings.width, 64

    def attend(q, k, v, mask):
        if not settings.written_out:
            return nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        scores = q @ k.transpose(-2, -1) / head**0.5
        return (scores if mask is None else scores + mask).softmax(dim=-1) @ v

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x, mask=None, cache=None, position=None):
            """cache: keys and values, (2, batch, heads, length, 64), written at position."""
            batch, length, _ = x.shape
            q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, width // head, head).permute(2, 0, 3, 1, 4)
            if cache is not None:
                k, v = (whole.index_copy_(2, position, part) for whole, part in zip(cache, (k, v)))
            attended = attend(q, k, v, mask)
            x = x + self.out(attended.transpose(1, 2).reshape(batch, length, width))
            x = x + self.mlp(self.norm2(x))
            if settings.synchronize:
                torch.cuda.synchronize()
            return x

    return Block()


def make_model(torch, settings):
    nn = torch.nn

    class Transformer(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList(make_block(torch, settings) for _ in range(settings.layers))
            self.head = nn.Linear(settings.width, CLASSES)

        def forward(self, x, mask=None):
            for block in self.blocks:
                if settings.recompute:
                    x = torch.utils.checkpoint.checkpoint(block, x, mask, use_reentrant=False)
                else:
                    x = block(x, mask)
            return self.head(x.mean(dim=1))

    class Residual(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.path = nn.Sequential(
                *(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()),
                *(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)),
            )

        def forward(self, x):
            return torch.relu(x + self.path(x))

    if not settings.convolutions:
        return Transformer().cuda()
    layers = [nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    for width in (64, 128, 256):
        layers += [Residual(width), Residual(width), nn.Conv2d(width, 2 * width, 1, stride=2, bias=False)]
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, CLASSES)]
    model = nn.Sequential(*layers).cuda()
    return model.to(memory_format=torch.channels_last) if settings.channels_last else model


def batches(torch, settings):
    """Endless batches on the GPU: copied from the host only where that is the subject."""
    if settings.loader:
        loader = torch.utils.data.DataLoader(
            SlowDataset(settings.length, settings.width),
            batch_size=settings.batch,
            num_workers=settings.workers,
            persistent_workers=settings.workers > 0,
            pin_memory=True,
        )
        while True:
            for features, classes in loader:
                yield features.cuda(non_blocking=True), classes.cuda(non_blocking=True)
    where = "cpu" if settings.host_batches else "cuda"
    shape = (3, 224, 224) if settings.convolutions else (settings.length, settings.width)
    features = torch.randn(settings.batch, *shape, device=where)
    if settings.convolutions and settings.channels_last:
        features = features.to(memory_format=torch.channels_last)
    classes = torch.randint(CLASSES, (settings.batch,), device=where)
    if settings.host_batches and settings.pinned:
        features, classes = features.pin_memory(), classes.pin_memory()
    while True:
        yield features.cuda(non_blocking=settings.pinned), classes.cuda(non_blocking=settings.pinned)


def half_of(torch):
    has_bf16 = torch.version.hip or torch.cuda.get_device_capability()[0] >= 8
    return torch.bfloat16 if has_bf16 else torch.float16


def causal_mask(torch, length):
    return torch.triu(torch.full((length, length), float("-inf")), diagonal=1).cuda()


def make_training_step(torch, settings):
    torch.backends.cuda.matmul.allow_tf32 = settings.half
    torch.backends.cudnn.allow_tf32 = settings.half
    model = make_model(torch, settings)
    parameters = list(model.parameters())
    if settings.fused_optimizer:
        optimizer = torch.optim.AdamW(parameters, lr=1e-4, fused=True)
    else:
        optimizer = torch.optim.AdamW(parameters, lr=1e-4, foreach=False, fused=False)
    forward = torch.compile(model) if settings.compile else model
    mask = causal_mask(torch, settings.length) if settings.masked else None
    data = batches(torch, settings)
    log = []

    def step():
        features, classes = next(data)
        optimizer.zero_grad(set_to_none=True)
        inputs = [features]
        if settings.masked:
            inputs.append(causal_mask(torch, settings.length) if settings.host_mask else mask)
        with torch.autocast("cuda", dtype=half_of(torch), enabled=settings.half):
            loss = torch.nn.functional.cross_entropy(forward(*inputs), classes)
        loss.backward()
        scalars = [loss.detach()]
        if settings.norms:
            scalars += [parameter.grad.norm() for parameter in parameters]
        log[:] = [scalar.item() for scalar in scalars] if settings.read_scalars else scalars
        optimizer.step()
        if settings.empty_cache:
            torch.cuda.empty_cache()

    return step


def make_decoding_step(torch, settings):
    """Decodes one token a step behind a prompt of settings.length, whose hidden states stand in for embeddings."""
    dtype, limit = half_of(torch), 4 * settings.length
    shape = (settings.batch, settings.width // 64, limit, 64)
    blocks = [make_block(torch, settings).cuda().to(dtype).eval() for _ in range(settings.layers)]
    caches = [torch.zeros(2, *shape, device="cuda", dtype=dtype) for _ in blocks] if settings.kv_cache else []
    token = torch.randn(settings.batch, 1, settings.width, device="cuda", dtype=dtype)
    sequence = torch.randn(settings.batch, limit, settings.width, device="cuda", dtype=dtype)
    position = torch.full((1,), settings.length, device="cuda")
    places = torch.arange(limit, device="cuda")
    length = settings.length

    def decode():
        x, mask = token, (places <= position)[None, None, None, :]
        for block, cache in zip(blocks, caches):
            x = block(x, mask, cache, position)
        token.copy_(x)
        position.add_(1).remainder_(limit)

    def decode_again():
        nonlocal length
        x = sequence[:, :length]
        for block in blocks:
            x = block(x)
        length = length + 1 if length + 1 < limit else settings.length
        sequence[:, length - 1] = x[:, -1]

    step = torch.no_grad()(decode if settings.kv_cache else decode_again)
    if not settings.graph:
        return step
    step()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def make_step(torch, settings):
    torch.manual_seed(0)
    return make_decoding_step(torch, settings) if settings.decoding else make_training_step(torch, settings)


def start_smi(path):
    """Logs the GPU until it is terminated; None where nvidia-smi is not there (AMD)."""
    gpu = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0] or "0"
    command = ["nvidia-smi", "-i", gpu, f"--query-gpu={SMI_FIELDS}", "--format=csv", f"--loop-ms={SMI_INTERVAL_MS}"]
    try:
        with open(path, "w") as log:
            return subprocess.Popen(command, stdout=log)
    except FileNotFoundError:
        os.remove(path)
        print("capture.py: no nvidia-smi, no log of the GPU", file=sys.stderr)
        return None


def profile(torch, step, path, with_stack):
    partial = re.sub(r"\.json\.gz$", ".partial.json.gz", path)

    def write(profiler):
        profiler.export_chrome_trace(partial)
        os.replace(partial, path)

    profiler_of = torch.profiler
    with profiler_of.profile(
        activities=[profiler_of.ProfilerActivity.CPU, profiler_of.ProfilerActivity.CUDA],
        schedule=profiler_of.schedule(wait=WAIT, warmup=WARMUP, active=ACTIVE, repeat=1),
        on_trace_ready=write,
        record_shapes=True,
        profile_memory=False,
        with_stack=with_stack,
    ) as profiler:
        for _ in range(WAIT + WARMUP + ACTIVE):
            step()
            profiler.step()


def time_steps(torch, step, count=20):
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(count):
        step()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / count


def main():
    arguments = parse_arguments()
    os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")  # nvidia-smi's
    torch = import_torch()
    os.makedirs(arguments.output, exist_ok=True)
    name = f"{arguments.problem}-{'after' if arguments.fixed else 'before'}"
    trace = os.path.join(arguments.output, name + ".json.gz")
    log = os.path.join(arguments.output, name + ".nvidia-smi.csv")

    smi = start_smi(log)
    try:
        step = make_step(torch, Settings(arguments))
        end = time.monotonic() + arguments.warm_up
        step()
        while time.monotonic() < end:
            step()
        torch.cuda.synchronize()
        profile(torch, step, trace, arguments.with_stack)
        step_ms = time_steps(torch, step) * 1e3
    finally:
        if smi:
            smi.terminate()
            smi.wait()
    print(f"{trace}: {step_ms:.1f} ms a step without the profiler")


if __name__ == "__main__":
    main()
