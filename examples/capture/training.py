# SPDX-License-Identifier: Apache-2.0
"""Steps of training, and their batches."""

import itertools
import tempfile
import time

from models import make_model
from problems import CLASSES


class SlowDataset:
    """Samples that take a while to read. Its loader makes tensors of them."""

    def __init__(self, length, width, samples=1 << 20, seconds=0.002):
        self.length, self.width, self.samples, self.seconds = length, width, samples, seconds

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        import torch

        time.sleep(self.seconds)
        return torch.full((self.length, self.width), index % 7 / 7), index % CLASSES


def batches(torch, settings):
    """Endless batches on the GPU: copied from the host only where that is the subject."""
    if settings.loader:
        short = (4 * settings.batch, 0.0002) if settings.short_epochs else ()
        loader = torch.utils.data.DataLoader(
            SlowDataset(settings.length, settings.width, *short),
            batch_size=settings.batch,
            num_workers=settings.workers,
            persistent_workers=settings.persistent and settings.workers > 0,
            pin_memory=True,
        )
        while True:
            for features, classes in loader:
                yield features.cuda(non_blocking=True), classes.cuda(non_blocking=True)
    where = "cpu" if settings.host_batches else "cuda"
    dtype = torch.float64 if settings.double else torch.float32
    shape = (3, 224, 224) if settings.convolutions else (settings.length, settings.width)
    features = torch.randn(settings.batch, *shape, device=where, dtype=dtype)
    if settings.convolutions and settings.channels_last:
        features = features.to(memory_format=torch.channels_last)
    positions = () if settings.words is None else (settings.length,)
    classes = torch.randint(settings.words or CLASSES, (settings.batch, *positions), device=where)
    if settings.host_batches and settings.pinned:
        features, classes = features.pin_memory(), classes.pin_memory()
    while True:
        yield features.cuda(non_blocking=settings.pinned), classes.cuda(non_blocking=settings.pinned)


def half_of(torch):
    has_bf16 = torch.version.hip or torch.cuda.get_device_capability()[0] >= 8
    return torch.bfloat16 if has_bf16 else torch.float16


def autocast(torch, settings):
    return torch.autocast("cuda", dtype=half_of(torch), enabled=settings.half)


def causal_mask(torch, length):
    return torch.triu(torch.full((length, length), float("-inf")), diagonal=1).cuda()


def losses_of(torch, settings, outputs, classes):
    """One a sample, or a position."""
    functional = torch.nn.functional
    outputs, classes = outputs.flatten(0, -2), classes.flatten()
    if settings.one_hot:
        return -(functional.one_hot(classes, settings.outputs) * outputs.float().log_softmax(dim=-1)).sum(dim=-1)
    if settings.sample_loop:
        return torch.stack([functional.cross_entropy(*sample) for sample in zip(outputs, classes)])
    return functional.cross_entropy(outputs, classes, reduction="none")


def clip(torch, parameters, looping):
    """Gradients to a norm of one."""
    if not looping:
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        return
    norm = sum(parameter.grad.norm().item() ** 2 for parameter in parameters) ** 0.5
    for parameter in parameters:
        parameter.grad.mul_(min(1.0, 1.0 / (norm + 1e-6)))


class Metrics:
    """Sums of losses and hits on the host."""

    def __init__(self, element_wise):
        self.element_wise, self.loss, self.hits = element_wise, 0.0, 0

    def add(self, losses, outputs, classes):
        hits = outputs.argmax(dim=-1) == classes
        if self.element_wise:
            for loss, hit in zip(losses, hits):
                self.loss += loss.item()
                self.hits += int(hit)
        else:
            self.loss += sum(losses.tolist())
            self.hits += sum(hits.tolist())


class MovingAverage:
    DECAY = 0.999

    def __init__(self, torch, parameters, looping):
        self.parameters, self.looping = parameters, looping
        self.averages = [parameter.detach().clone() for parameter in parameters]
        self.update_all = torch.optim.swa_utils.get_ema_multi_avg_fn(self.DECAY)

    def update(self):
        if not self.looping:
            self.update_all(self.averages, self.parameters, None)
            return
        for average, parameter in zip(self.averages, self.parameters):
            average.mul_(self.DECAY).add_(parameter.detach(), alpha=1 - self.DECAY)


def make_training_step(torch, settings):
    torch.backends.cuda.matmul.allow_tf32 = settings.tf32
    torch.backends.cudnn.allow_tf32 = settings.tf32
    model = make_model(torch, settings)
    parameters = list(model.parameters())
    if settings.fused_optimizer:
        optimizer = torch.optim.AdamW(parameters, lr=1e-4, fused=True)
    else:
        optimizer = torch.optim.AdamW(parameters, lr=1e-4, foreach=False, fused=False)
    forward = torch.compile(model) if settings.compile else model
    mask = causal_mask(torch, settings.length) if settings.masked else None
    data = batches(torch, settings)
    metrics = Metrics(settings.read_elements) if settings.metrics else None
    average = MovingAverage(torch, parameters, settings.average_loop) if settings.average else None
    torch.autograd.set_detect_anomaly(settings.anomaly_detection)
    checkpoint = tempfile.TemporaryFile() if settings.checkpoints else None
    log, steps = [], itertools.count(1)

    def backward(features, classes):
        inputs = [features]
        if settings.masked:
            inputs.append(causal_mask(torch, settings.length) if settings.host_mask else mask)
        with autocast(torch, settings):
            outputs = forward(*inputs)
            losses = losses_of(torch, settings, outputs, classes)
            loss = losses.mean() / settings.micro_batches
        loss.backward()
        return loss.detach(), losses.detach(), outputs.detach()

    def step():
        features, classes = next(data)
        optimizer.zero_grad(set_to_none=True)
        for part in zip(features.chunk(settings.micro_batches), classes.chunk(settings.micro_batches)):
            loss, losses, outputs = backward(*part)
        if settings.clipped:
            clip(torch, parameters, settings.clip_loop)
        scalars = [loss]
        if settings.norms:
            scalars += [parameter.grad.norm() for parameter in parameters]
        log[:] = [scalar.item() for scalar in scalars] if settings.read_scalars else scalars
        optimizer.step()
        if average:
            average.update()
        if metrics:
            metrics.add(losses, outputs, classes)
        if settings.empty_cache:
            torch.cuda.empty_cache()
        if checkpoint and next(steps) % 2 == 0:
            checkpoint.seek(0)
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, checkpoint)

    return step
