# SPDX-License-Identifier: Apache-2.0
"""The models: transformers, a convolutional and a recurrent network."""

HEAD = 64  # width of an attention head
EXPERTS = 8


def make_block(torch, settings):
    """One layer of a transformer. Its mask, if any, is added to the scores."""
    nn = torch.nn
    width = settings.width

    def attend_fused(q, k, v, mask):
        return nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=settings.causal)

    def attend(q, k, v, mask):
        if settings.head_loop:
            heads = zip(q.split(1, dim=1), k.split(1, dim=1), v.split(1, dim=1))
            return torch.cat([attend_fused(*head, mask) for head in heads], dim=1)
        if not settings.written_out:
            return attend_fused(q, k, v, mask)
        scores = q @ k.transpose(-2, -1) / HEAD**0.5
        return (scores if mask is None else scores + mask).softmax(dim=-1) @ v

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            if settings.experts:
                self.mlp = make_experts(torch, settings)
            else:
                self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x, mask=None, cache=None):
            """cache: takes the keys and values of x and returns those of the whole sequence."""
            batch, length, _ = x.shape
            q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, width // HEAD, HEAD).permute(2, 0, 3, 1, 4)
            if cache is not None:
                k, v = cache(k, v)
            attended = attend(q, k, v, mask)
            x = x + self.out(attended.transpose(1, 2).reshape(batch, length, width))
            x = x + self.mlp(self.norm2(x))
            if settings.synchronize:
                torch.cuda.synchronize()
            if settings.check_finite:
                assert torch.isfinite(x).all()
            return x

    return Block()


def make_experts(torch, settings):
    """A mixture of experts, each of which chooses a quarter of the tokens."""
    nn = torch.nn
    width = settings.width

    class Experts(nn.Module):
        def __init__(self):
            super().__init__()
            self.router = nn.Linear(width, EXPERTS)
            if settings.all_tokens:
                self.experts = nn.ModuleList(
                    nn.Sequential(nn.Linear(width, 4 * width, False), nn.GELU(), nn.Linear(4 * width, width, False))
                    for _ in range(EXPERTS)
                )
            else:
                self.first = nn.Parameter(torch.randn(EXPERTS, width, 4 * width) / width**0.5)
                self.second = nn.Parameter(torch.randn(EXPERTS, 4 * width, width) / (4 * width) ** 0.5)

        def forward(self, x):
            tokens = x.reshape(-1, width)
            weights, chosen = self.router(tokens).softmax(dim=-1).topk(len(tokens) // 4, dim=0)
            combine = self.of_all if settings.all_tokens else self.of_chosen
            return combine(tokens, weights, chosen).view(x.shape)

        def of_all(self, tokens, weights, chosen):
            gates = weights.new_zeros(len(tokens), EXPERTS).scatter(0, chosen, weights)
            output = 0
            for gate, expert in zip(gates.unbind(dim=1), self.experts):
                result = expert(tokens)
                output = output + gate[:, None].to(result.dtype) * result
            return output

        def of_chosen(self, tokens, weights, chosen):
            places = chosen.t().reshape(-1)
            picked = tokens.index_select(0, places).view(EXPERTS, -1, width)
            results = torch.bmm(nn.functional.gelu(torch.bmm(picked, self.first)), self.second)
            results = results * weights.t()[..., None].to(results.dtype)
            return results.new_zeros(tokens.shape).index_add(0, places, results.view(-1, width))

    return Experts()


def make_transformer(torch, settings):
    nn = torch.nn

    class Transformer(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = nn.ModuleList(make_block(torch, settings) for _ in range(settings.layers))
            self.head = nn.Linear(settings.width, settings.outputs)

        def forward(self, x, mask=None):
            for block in self.blocks:
                if settings.recompute:
                    x = torch.utils.checkpoint.checkpoint(block, x, mask, use_reentrant=False)
                else:
                    x = block(x, mask)
            return self.head(x.mean(dim=1) if settings.words is None else x)

    return Transformer()


def make_recurrent(torch, settings):
    nn = torch.nn
    width = settings.width

    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            if settings.cell_loop:
                self.cells = nn.ModuleList(nn.LSTMCell(width, width) for _ in range(settings.layers))
            else:
                self.lstm = nn.LSTM(width, width, settings.layers, batch_first=True)
            self.head = nn.Linear(width, settings.outputs)

        def forward(self, x):
            if not settings.cell_loop:
                return self.head(self.lstm(x)[0].mean(dim=1))
            for cell in self.cells:
                state, outputs = None, []
                for part in x.unbind(dim=1):
                    state = cell(part, state)
                    outputs.append(state[0])
                x = torch.stack(outputs, dim=1)
            return self.head(x.mean(dim=1))

    return Recurrent()


def make_convolutional(torch, settings):
    nn = torch.nn

    class Residual(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.path = nn.Sequential(
                *(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()),
                *(nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)),
            )

        def forward(self, x):
            return torch.relu(x + self.path(x))

    layers = [nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    for width in (64, 128, 256):
        layers += [Residual(width), Residual(width), nn.Conv2d(width, 2 * width, 1, stride=2, bias=False)]
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, settings.outputs)]
    model = nn.Sequential(*layers)
    return model.to(memory_format=torch.channels_last) if settings.channels_last else model


def make_model(torch, settings):
    if settings.convolutions:
        model = make_convolutional(torch, settings)
    elif settings.recurrent:
        model = make_recurrent(torch, settings)
    else:
        model = make_transformer(torch, settings)
    return (model.double() if settings.double else model).cuda()
