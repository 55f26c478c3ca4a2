#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small transformer on one GPU with a planted problem, or its fix, under torch.profiler.

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
}

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
    parser.add_argument("--workers", type=positive, default=8, help="of the fixed slow-loader (default: 8)")
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
        self.fused_optimizer = not tiny
        self.length = arguments.length
        self.batch = 1 if planted == "small-batch" else arguments.batch
        self.half = planted != "fp32-matmul"
        self.compile = arguments.problem == "eager" and arguments.fixed
        self.norms = arguments.problem == "item-every-step"
        self.read_scalars = planted == "item-every-step"
        self.host_batches = arguments.problem == "pageable-copies"
        self.pinned = planted != "pageable-copies"
        self.loader = arguments.problem == "slow-loader"
        self.workers = 0 if planted == "slow-loader" else arguments.workers


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


def make_model(torch, settings):
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.heads = width // 64
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x):
            batch, length, width = x.shape
            qkv = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, 64).permute(2, 0, 3, 1, 4)
            attended = nn.functional.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2])
            x = x + self.out(attended.transpose(1, 2).reshape(batch, length, width))
            return x + self.mlp(self.norm2(x))

    class Model(nn.Module):
        def __init__(self, width, layers):
            super().__init__()
            self.blocks = nn.Sequential(*(Block(width) for _ in range(layers)))
            self.head = nn.Linear(width, CLASSES)

        def forward(self, x):
            return self.head(self.blocks(x).mean(dim=1))

    return Model(settings.width, settings.layers).cuda()


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
    features = torch.randn(settings.batch, settings.length, settings.width, device=where)
    classes = torch.randint(CLASSES, (settings.batch,), device=where)
    if settings.host_batches and settings.pinned:
        features, classes = features.pin_memory(), classes.pin_memory()
    while True:
        yield features.cuda(non_blocking=settings.pinned), classes.cuda(non_blocking=settings.pinned)


def make_step(torch, settings):
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = settings.half
    torch.backends.cudnn.allow_tf32 = settings.half
    model = make_model(torch, settings)
    parameters = list(model.parameters())
    if settings.fused_optimizer:
        optimizer = torch.optim.AdamW(parameters, lr=1e-4, fused=True)
    else:
        optimizer = torch.optim.AdamW(parameters, lr=1e-4, foreach=False, fused=False)
    forward = torch.compile(model) if settings.compile else model
    has_bf16 = torch.version.hip or torch.cuda.get_device_capability()[0] >= 8
    dtype = torch.bfloat16 if has_bf16 else torch.float16
    data = batches(torch, settings)
    log = []

    def step():
        features, classes = next(data)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=dtype, enabled=settings.half):
            loss = torch.nn.functional.cross_entropy(forward(features), classes)
        loss.backward()
        scalars = [loss.detach()]
        if settings.norms:
            scalars += [parameter.grad.norm() for parameter in parameters]
        log[:] = [scalar.item() for scalar in scalars] if settings.read_scalars else scalars
        optimizer.step()

    return step


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
