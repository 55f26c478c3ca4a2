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

import inference
import loops
import operators
from problems import PROBLEMS, Settings
from training import make_training_step

MAKERS = inference.MAKERS | operators.MAKERS | loops.MAKERS

SMI_FIELDS = "timestamp,utilization.gpu,utilization.memory,memory.used,clocks.sm,power.draw,temperature.gpu"
SMI_INTERVAL_MS = 200

WAIT, WARMUP = 1, 2  # steps before those that are recorded
REPEATS, TIMED_STEPS, TIMED_SECONDS = 3, 20, 3  # without the profiler; a repeat ends at what comes first


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
        epilog="problems:\n" + "\n".join(f"  {name:23} {what}" for name, what in PROBLEMS.items()),
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
    parser.add_argument("--steps", type=positive, default=5, help="to record (default: 5)")
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


def make_step(torch, settings):
    torch.manual_seed(0)
    return MAKERS.get(settings.problem, make_training_step)(torch, settings)


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


def profile(torch, step, path, steps, with_stack):
    partial = re.sub(r"\.json\.gz$", ".partial.json.gz", path)

    def write(profiler):
        profiler.export_chrome_trace(partial)
        os.replace(partial, path)

    profiler_of = torch.profiler
    with profiler_of.profile(
        activities=[profiler_of.ProfilerActivity.CPU, profiler_of.ProfilerActivity.CUDA],
        schedule=profiler_of.schedule(wait=WAIT, warmup=WARMUP, active=steps, repeat=1),
        on_trace_ready=write,
        record_shapes=True,
        profile_memory=False,
        with_stack=with_stack,
    ) as profiler:
        for _ in range(WAIT + WARMUP + steps):
            step()
            profiler.step()


def time_steps(torch, step):
    """Milliseconds of a step."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    count = 0
    while count < TIMED_STEPS and time.perf_counter() < start + TIMED_SECONDS:
        step()
        count += 1
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / count * 1e3


def main():
    arguments = parse_arguments()
    os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")  # nvidia-smi's
    settings = Settings(
        *(arguments.problem, arguments.fixed, arguments.width, arguments.layers),
        *(arguments.length, arguments.batch, arguments.workers),
    )
    if settings.blocking:
        os.environ["CUDA_LAUNCH_BLOCKING"] = "1"
    torch = import_torch()
    os.makedirs(arguments.output, exist_ok=True)
    name = f"{arguments.problem}-{'after' if arguments.fixed else 'before'}"
    trace = os.path.join(arguments.output, name + ".json.gz")
    log = os.path.join(arguments.output, name + ".nvidia-smi.csv")

    smi = start_smi(log)
    try:
        step = make_step(torch, settings)
        end = time.monotonic() + arguments.warm_up
        step()
        while time.monotonic() < end:
            step()
        torch.cuda.synchronize()
        profile(torch, step, trace, arguments.steps, arguments.with_stack)
        times = sorted(time_steps(torch, step) for _ in range(REPEATS))
    finally:
        if smi:
            smi.terminate()
            smi.wait()
    print(f"{trace}: {times[REPEATS // 2]:.2f} ms a step without the profiler ({times[0]:.2f} to {times[-1]:.2f})")


if __name__ == "__main__":
    main()
