#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small model with JAX with a planted problem, or its fix, under jax.profiler.

Writes PROBLEM-before (with --fixed PROBLEM-after), a folder with the profiler's *.xplane.pb and *.trace.json.gz. The
problem is the only difference between the two.
"""

import argparse
import os
import time

PROBLEMS = {
    "jax-not-jitted": "operators are dispatched one by one; fixed: jax.jit",
    "jax-loss-every-step": "float(loss) every step; fixed: after the last",
}
WARM_UP, TIMED, REPEATS = 5, 20, 3  # steps, steps and repeats without the profiler


def make_step(jax, arguments):
    jnp = jax.numpy
    keys = jax.random.split(jax.random.key(0), 2 * arguments.layers + 2)
    width = arguments.width
    parameters = [
        (
            jax.random.normal(first, (width, 4 * width)) / width**0.5,
            jax.random.normal(second, (4 * width, width)) / (4 * width) ** 0.5,
        )
        for first, second in zip(keys[:-2:2], keys[1:-2:2])
    ]
    moments = [tuple(jnp.zeros_like(weight) for weight in layer) for layer in parameters]
    features = jax.random.normal(keys[-2], (arguments.batch, width))
    targets = jax.random.normal(keys[-1], (arguments.batch, width))

    def loss_of(parameters):
        x = features.astype(jnp.bfloat16)
        for first, second in parameters:
            normed = x / (1e-6 + jnp.sqrt(jnp.mean(x * x, axis=-1, keepdims=True)))
            x = x + jax.nn.gelu(normed @ first.astype(jnp.bfloat16)) @ second.astype(jnp.bfloat16)
        return jnp.mean((x.astype(jnp.float32) - targets) ** 2)

    def update(parameters, moments):
        loss, gradients = jax.value_and_grad(loss_of)(parameters)
        moments = jax.tree.map(lambda moment, gradient: 0.9 * moment + gradient, moments, gradients)
        return jax.tree.map(lambda weight, moment: weight - 1e-4 * moment, parameters, moments), moments, loss

    if arguments.problem != "jax-not-jitted" or arguments.fixed:
        update = jax.jit(update)
    state = [parameters, moments]
    read = arguments.problem == "jax-loss-every-step" and not arguments.fixed

    def step():
        state[0], state[1], loss = update(*state)
        return float(loss) if read else loss

    return step


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="problems:\n" + "\n".join(f"  {name:19} {what}" for name, what in PROBLEMS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--problem", required=True, choices=PROBLEMS, metavar="NAME")
    parser.add_argument("--fixed", action="store_true", help="without the problem")
    parser.add_argument("-o", "--output", default=".", metavar="DIR", help="folder to write to (default: this one)")
    parser.add_argument("--steps", type=int, default=5, help="to record (default: 5)")
    parser.add_argument("--width", type=int, default=1024, help="of the model (default: 1024)")
    parser.add_argument("--layers", type=int, default=6, help="of the model (default: 6)")
    parser.add_argument("--batch", type=int, default=1024, help="samples a step (default: 1024)")
    arguments = parser.parse_args()
    import jax

    name = f"{arguments.problem}-{'after' if arguments.fixed else 'before'}"
    path = os.path.join(arguments.output, name)
    step = make_step(jax, arguments)

    def run(count):
        start = time.perf_counter()
        for number in range(count):
            with jax.profiler.StepTraceAnnotation("train", step_num=number):
                loss = step()
        jax.block_until_ready(loss)
        return (time.perf_counter() - start) / count * 1e3

    run(WARM_UP)
    with jax.profiler.trace(path):
        run(arguments.steps)
    times = sorted(run(TIMED) for _ in range(REPEATS))
    print(f"{path}: {times[REPEATS // 2]:.2f} ms a step without the profiler ({times[0]:.2f} to {times[-1]:.2f})")


if __name__ == "__main__":
    main()
