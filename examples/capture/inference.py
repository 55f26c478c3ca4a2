# SPDX-License-Identifier: Apache-2.0
"""Steps of inference: decoding, prompts, evaluation. Hidden states stand in for embeddings."""

from models import HEAD, make_block, make_model
from training import autocast, batches, half_of

WORDS = 128256  # of Llama 3


def make_blocks(torch, settings):
    return [make_block(torch, settings).cuda().to(half_of(torch)).eval() for _ in range(settings.layers)]


def hidden_states(torch, settings, length):
    return torch.randn(settings.batch, length, settings.width, device="cuda", dtype=half_of(torch))


def empty_cache(torch, settings, length):
    """Keys and values of one block."""
    shape = (2, settings.batch, settings.width // HEAD, length, HEAD)
    return torch.zeros(*shape, device="cuda", dtype=half_of(torch))


def plan_no_lengths(torch):
    """cuDNN's attention would make a plan for each new length, which takes longer than the steps."""
    if hasattr(torch.backends.cuda, "enable_cudnn_sdp"):
        torch.backends.cuda.enable_cudnn_sdp(False)


def make_masked_decoding(torch, settings):
    """Decodes one token a step behind a prompt of settings.length, by a mask over four times that length."""
    limit = 4 * settings.length
    blocks = make_blocks(torch, settings)
    wholes = [empty_cache(torch, settings, limit) for _ in blocks] if settings.kv_cache else []
    token, sequence = hidden_states(torch, settings, 1), hidden_states(torch, settings, limit)
    position = torch.full((1,), settings.length, device="cuda")
    places = torch.arange(limit, device="cuda")
    length = settings.length

    def cache_of(whole):
        return lambda k, v: (whole[0].index_copy_(2, position, k), whole[1].index_copy_(2, position, v))

    caches = [cache_of(whole) for whole in wholes]

    def decode():
        x, mask = token, (places <= position)[None, None, None, :]
        for block, cache in zip(blocks, caches):
            x = block(x, mask, cache)
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


def make_growing_decoding(torch, settings):
    """Decodes one token a step behind a prompt of settings.length, from which it begins again after 64."""
    tokens = 64
    plan_no_lengths(torch)

    class Growing:
        def __init__(self):
            self.prompt = self.keys_values = tuple(empty_cache(torch, settings, settings.length))

        def begin(self):
            self.keys_values = self.prompt

        def __call__(self, k, v):
            self.keys_values = tuple(torch.cat(parts, dim=2) for parts in zip(self.keys_values, (k, v)))
            return self.keys_values

    class InPlace:
        def __init__(self):
            self.whole, self.length = empty_cache(torch, settings, settings.length + tokens), settings.length

        def begin(self):
            self.length = settings.length

        def __call__(self, k, v):
            self.length += 1
            for whole, part in zip(self.whole, (k, v)):
                whole[:, :, self.length - 1 : self.length] = part
            return self.whole[:, :, :, : self.length]

    blocks = make_blocks(torch, settings)
    caches = [Growing() if settings.growing_cache else InPlace() for _ in blocks]
    token = hidden_states(torch, settings, 1)
    count = 0

    @torch.no_grad()
    def step():
        nonlocal count
        if count % tokens == 0:
            for cache in caches:
                cache.begin()
        count += 1
        x = token
        for block, cache in zip(blocks, caches):
            x = block(x, cache=cache)
        token.copy_(x)

    return step


def make_streamed_forward(torch, settings):
    """The weights of each block come from the host just before it runs."""
    blocks = make_blocks(torch, settings)
    if settings.streamed:
        blocks = [block.cpu() for block in blocks]
    x = hidden_states(torch, settings, settings.length)

    @torch.no_grad()
    def step():
        y = x
        for block in blocks:
            if settings.streamed:
                weights = {name: weight.to("cuda") for name, weight in block.named_parameters()}
                y = torch.func.functional_call(block, weights, (y,))
            else:
                y = block(y)
        return y

    return step


def make_first_token(torch, settings):
    """The first token behind each prompt."""
    blocks = make_blocks(torch, settings)
    head = torch.nn.Linear(settings.width, WORDS, bias=False).cuda().to(half_of(torch))
    prompt = hidden_states(torch, settings, settings.length)

    @torch.no_grad()
    def step():
        x = prompt
        for block in blocks:
            x = block(x)
        logits = head(x if settings.all_logits else x[:, -1:]).float()
        return logits[:, -1].argmax(dim=-1)

    return step


def make_evaluation(torch, settings):
    """Counts the hits of a batch on the GPU."""
    model = make_model(torch, settings).train(settings.recorded)
    data = batches(torch, settings)
    hits = torch.zeros((), dtype=torch.int64, device="cuda")

    def step():
        features, classes = next(data)
        with torch.inference_mode(not settings.recorded), autocast(torch, settings):
            hits.add_((model(features).argmax(dim=1) == classes).sum())

    return step


def make_compiled_forward(torch, settings):
    """Inputs of 48 lengths, one after the other."""
    torch._dynamo.config.cache_size_limit = 1000
    plan_no_lengths(torch)
    model = torch.compile(torch.nn.Sequential(*make_blocks(torch, settings)), dynamic=settings.dynamic)
    x = hidden_states(torch, settings, settings.length)
    count = 0

    @torch.no_grad()
    def step():
        nonlocal count
        length = settings.length - 8 * (count % 48)
        count += 1
        return model(x[:, :length])

    return step


MAKERS = {
    "no-kv-cache": make_masked_decoding,
    "eager-decode": make_masked_decoding,
    "growing-cache": make_growing_decoding,
    "streamed-weights": make_streamed_forward,
    "all-logits": make_first_token,
    "recorded-evaluation": make_evaluation,
    "recompiles": make_compiled_forward,
}
