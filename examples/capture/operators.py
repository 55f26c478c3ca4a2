# SPDX-License-Identifier: Apache-2.0
"""Steps whose operators are the problem, of training and of inference."""

import llama
from inference import WORDS, hidden_states, make_blocks
from models import HEAD, make_block, make_convolutional
from problems import CLASSES
from training import autocast, half_of, losses_of

POINTS = 4096
CHANNELS = 256
ROWS = 8192  # of a square matrix


def make_training_of(torch, model, loss_of):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss_of().backward()
        optimizer.step()

    return step


def make_llama_training(torch, settings):
    """In half precision throughout, as in fine-tuning. An eighth of the tokens may be padding."""
    blocks = llama.make_blocks(torch, settings, half_of(torch))
    head = torch.nn.Linear(settings.width, settings.outputs).cuda().to(half_of(torch))
    x = hidden_states(torch, settings, settings.length)
    classes = torch.randint(CLASSES, (settings.batch,), device="cuda")
    mask = torch.rand(settings.batch, settings.length, device="cuda") > 1 / 8

    def loss_of():
        rows = None
        if settings.packed:
            rows = mask if settings.masked_rows else mask.flatten().nonzero().flatten()
        y = x
        for block in blocks:
            y = block(y, rows)
        return losses_of(torch, settings, head(y.mean(dim=1)), classes).mean()

    return make_training_of(torch, torch.nn.ModuleList([*blocks, head]), loss_of)


def make_prompt(torch, settings):
    blocks = llama.make_blocks(torch, settings, half_of(torch))
    prompt = hidden_states(torch, settings, settings.length)

    @torch.no_grad()
    def step():
        x = prompt
        for block in blocks:
            x = block(x)
        return x

    return step


def make_shared_decoding(torch, settings):
    """One token a step, behind settings.length of them."""
    blocks = llama.make_blocks(torch, settings, half_of(torch))
    shape = (settings.batch, settings.width // HEAD // llama.SHARING, settings.length, HEAD)
    caches = [[torch.randn(shape, device="cuda", dtype=half_of(torch)) for _ in range(2)] for _ in blocks]
    token = hidden_states(torch, settings, 1)

    @torch.no_grad()
    def step():
        x = token
        for block, cache in zip(blocks, caches):
            x = block(x, cache=cache)
        token.copy_(x)

    return step


def make_cast_forward(torch, settings):
    dtype = torch.float32 if settings.cast_weights else half_of(torch)
    with torch.device("cuda"):
        blocks = [make_block(torch, settings).to(dtype).eval() for _ in range(settings.layers)]
    x = hidden_states(torch, settings, settings.length).to(dtype)

    @torch.no_grad()
    def step():
        y = x
        with torch.autocast("cuda", dtype=half_of(torch), enabled=settings.cast_weights):
            for block in blocks:
                y = block(y)
        return y

    return step


def make_sampling(torch, settings):
    """The next word of each sequence, among the most likely ones, which have 0.9 of the probability."""
    head = torch.nn.Linear(settings.width, WORDS, bias=False).cuda().to(half_of(torch))
    x = hidden_states(torch, settings, 1)[:, 0]

    @torch.no_grad()
    def step():
        logits = head(x).float()
        values, words = logits.sort(dim=-1, descending=True) if settings.full_sort else logits.topk(64, dim=-1)
        likely = values.softmax(dim=-1)
        likely = likely.masked_fill(likely.cumsum(dim=-1) - likely > 0.9, 0.0)
        return words.gather(-1, torch.multinomial(likely, 1))

    return step


def make_nearest(torch, settings):
    x, y = torch.randn(2, POINTS, HEAD, device="cuda").unbind()

    @torch.no_grad()
    def step():
        distances = (x[:, None] - y[None]).pow(2).sum(dim=-1).sqrt() if settings.broadcast else torch.cdist(x, y)
        return distances.argmin(dim=1)

    return step


def make_scaling(torch, settings):
    from kernels import scale_columns

    matrix = torch.randn(ROWS, ROWS, device="cuda")
    factors = torch.randn(ROWS, device="cuda")
    result = torch.empty_like(matrix)

    def step():
        for _ in range(4):
            scale_columns(matrix, factors, result, settings.strided)

    return step


def make_watched_forward(torch, settings):
    """The largest activation behind each block is watched."""

    class Watched(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = torch.nn.ModuleList(make_blocks(torch, settings))

        def forward(self, x):
            largest = []
            for block in self.blocks:
                x = block(x)
                top = x.abs().max()
                largest.append(top.item() if settings.graph_breaks else top)
            return x, largest

    model = torch.compile(Watched())
    x = hidden_states(torch, settings, settings.length)

    @torch.no_grad()
    def step():
        return model(x)

    return step


def make_convolutional_training(torch, settings):
    """Blocks as ConvNeXt's, whose norm and products want the channels last."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.mix = nn.Conv2d(CHANNELS, CHANNELS, 3, padding=1)
            self.norm = nn.LayerNorm(CHANNELS)
            self.up, self.down = nn.Linear(CHANNELS, 4 * CHANNELS), nn.Linear(4 * CHANNELS, CHANNELS)

        def forward(self, x):
            y = self.mix(x).permute(0, 2, 3, 1)
            if settings.round_trips:
                y = y.contiguous()
            y = self.down(nn.functional.gelu(self.up(self.norm(y)))).permute(0, 3, 1, 2)
            return x + (y.contiguous() if settings.round_trips else y)

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Conv2d(3, CHANNELS, 4, stride=4)
            self.blocks = nn.Sequential(*(Block() for _ in range(settings.layers)))
            self.head = nn.Linear(CHANNELS, settings.outputs)

        def forward(self, x):
            return self.head(self.blocks(self.stem(x)).mean(dim=(2, 3)))

    layout = torch.contiguous_format if settings.round_trips else torch.channels_last
    model = Network().cuda().to(memory_format=layout)
    images = torch.randn(settings.batch, 3, 224, 224, device="cuda").to(memory_format=layout)
    classes = torch.randint(CLASSES, (settings.batch,), device="cuda")

    def loss_of():
        with autocast(torch, settings):
            return losses_of(torch, settings, model(images), classes).mean()

    return make_training_of(torch, model, loss_of)


def fold_norms(torch, module):
    """Convolutions take over the batch norms behind them."""
    nn = torch.nn
    for child in module.children():
        fold_norms(torch, child)
    if not isinstance(module, nn.Sequential):
        return
    for i in range(1, len(module)):
        if isinstance(module[i], nn.BatchNorm2d) and isinstance(module[i - 1], nn.Conv2d):
            module[i - 1] = nn.utils.fusion.fuse_conv_bn_eval(module[i - 1], module[i])
            module[i] = nn.Identity()


def make_classification(torch, settings):
    model = make_convolutional(torch, settings).cuda().eval()
    if settings.folded:
        fold_norms(torch, model)
    model = model.to(half_of(torch))
    images = torch.randn(settings.batch, 3, 224, 224, device="cuda", dtype=half_of(torch))
    images = images.to(memory_format=torch.channels_last)

    @torch.no_grad()
    def step():
        return model(images).argmax(dim=1)

    return step


MAKERS = {
    "written-out-norms": make_llama_training,
    "packed-blocks": make_llama_training,
    "round-trips": make_convolutional_training,
    "separate-projections": make_prompt,
    "float-attention": make_prompt,
    "repeated-heads": make_shared_decoding,
    "cast-weights": make_cast_forward,
    "full-sort": make_sampling,
    "distances": make_nearest,
    "strided-kernel": make_scaling,
    "graph-breaks": make_watched_forward,
    "unfolded-norms": make_classification,
}
