# SPDX-License-Identifier: Apache-2.0
"""Steps of training whose data, metrics or optimizer are the problem."""

from models import make_model
from operators import make_training_of
from problems import CLASSES
from training import autocast, losses_of

TABLE_ROWS, TABLE_WIDTH = 1 << 22, 64
FEATURES = 26  # each a row of the table
SEGMENTS = 21


def make_network(torch, channels, outputs):
    """Convolutions that keep the size of images."""
    nn = torch.nn
    layers = [nn.Conv2d(3, channels, 3, padding=1), nn.ReLU()]
    layers += [nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU(), nn.Conv2d(channels, outputs, 3, padding=1)]
    return nn.Sequential(*layers).cuda().to(memory_format=torch.channels_last)


def make_images(torch, settings, side):
    images = torch.randn(settings.batch, 3, side, side, device="cuda")
    return images.to(memory_format=torch.channels_last)


def make_denoising(torch, settings):
    model = make_network(torch, 128, 3)
    images = make_images(torch, settings, 128)
    where = "cpu" if settings.host_noise else "cuda"

    def loss_of():
        noise = torch.randn(images.shape, device=where).cuda()
        level = torch.rand(settings.batch, 1, 1, 1, device=where).cuda()
        noisy = (1 - level).sqrt() * images + level.sqrt() * noise
        with autocast(torch, settings):
            return torch.nn.functional.mse_loss(model(noisy), noise)

    return make_training_of(torch, model, loss_of)


def make_segmentation(torch, settings):
    """Counts the pixels that are right."""
    model = make_network(torch, 64, SEGMENTS)
    images = make_images(torch, settings, 224)
    classes = torch.randint(SEGMENTS, (settings.batch, 224, 224), device="cuda")
    hits = torch.zeros((), device="cuda", dtype=torch.int64)
    host_hits = 0

    def count(outputs):
        nonlocal host_hits
        if settings.host_metrics:
            predicted = outputs.float().cpu().numpy().argmax(axis=1)
            host_hits += int((predicted == classes.cpu().numpy()).sum())
        else:
            hits.add_((outputs.argmax(dim=1) == classes).sum())

    def loss_of():
        with autocast(torch, settings):
            outputs = model(images)
            loss = torch.nn.functional.cross_entropy(outputs, classes)
        count(outputs.detach())
        return loss

    return make_training_of(torch, model, loss_of)


def make_nested_training(torch, settings):
    """Each sample is a dictionary of tensors on the host."""

    def sample():
        return {
            "features": torch.randn(settings.length, settings.width),
            "position": torch.randn(settings.width),
            "weight": torch.rand(()),
            "class": torch.randint(CLASSES, ()),
        }

    model = make_model(torch, settings)
    samples = [sample() for _ in range(settings.batch)]

    def batch():
        if settings.small_copies:
            copies = [{name: tensor.cuda() for name, tensor in sample.items()} for sample in samples]
            return {name: torch.stack([copy[name] for copy in copies]) for name in samples[0]}
        stacked = {name: torch.stack([sample[name] for sample in samples]) for name in samples[0]}
        return {name: tensor.pin_memory().cuda(non_blocking=True) for name, tensor in stacked.items()}

    def loss_of():
        inputs = batch()
        with autocast(torch, settings):
            outputs = model(inputs["features"] + inputs["position"][:, None])
            return (inputs["weight"] * losses_of(torch, settings, outputs, inputs["class"])).mean()

    return make_training_of(torch, model, loss_of)


def make_offloaded_training(torch, settings):
    """The host has the weights that the optimizer updates."""
    model = make_model(torch, settings)
    features = torch.randn(settings.batch, settings.length, settings.width, device="cuda")
    classes = torch.randint(CLASSES, (settings.batch,), device="cuda")

    def loss_of():
        with autocast(torch, settings):
            return losses_of(torch, settings, model(features), classes).mean()

    if not settings.host_optimizer:
        return make_training_of(torch, model, loss_of)
    parameters = list(model.parameters())
    masters = [parameter.detach().cpu().requires_grad_() for parameter in parameters]
    optimizer = torch.optim.AdamW(masters, lr=1e-4, fused=True)

    def step():
        loss_of().backward()
        for parameter, master in zip(parameters, masters):
            master.grad, parameter.grad = parameter.grad.cpu(), None
        optimizer.step()
        with torch.no_grad():
            for parameter, master in zip(parameters, masters):
                parameter.copy_(master)

    return step


def make_recommendation(torch, settings):
    nn = torch.nn
    with torch.device("cuda"):
        table = nn.Embedding(TABLE_ROWS, TABLE_WIDTH, sparse=settings.sparse)
        head = nn.Sequential(nn.Linear(FEATURES * TABLE_WIDTH, settings.width), nn.ReLU(), nn.Linear(settings.width, 1))
    rows = torch.randint(TABLE_ROWS, (settings.batch, FEATURES), device="cuda")
    clicks = torch.rand(settings.batch, device="cuda").round()
    optimizers = [torch.optim.AdamW(head.parameters(), fused=True)]
    if settings.sparse:
        optimizers.append(torch.optim.SparseAdam(table.parameters()))
    else:
        optimizers.append(torch.optim.Adam(table.parameters(), fused=True))

    def step():
        for optimizer in optimizers:
            optimizer.zero_grad(set_to_none=True)
        outputs = head(table(rows).flatten(1))[:, 0]
        nn.functional.binary_cross_entropy_with_logits(outputs, clicks).backward()
        for optimizer in optimizers:
            optimizer.step()

    return step


MAKERS = {
    "host-noise": make_denoising,
    "host-metrics": make_segmentation,
    "small-copies": make_nested_training,
    "host-optimizer": make_offloaded_training,
    "dense-embedding": make_recommendation,
}
