# SPDX-License-Identifier: Apache-2.0
"""A transformer as Llama's: RMSNorm, gated GELU, heads that may share keys and values."""

from models import HEAD

SHARING = 4  # heads that share keys and values


def make_block(torch, settings):
    nn, functional = torch.nn, torch.nn.functional
    width = settings.width
    inner = 4 * width
    heads = width // HEAD
    pairs = heads // SHARING if settings.shared_heads else heads  # of keys and values

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(width))

        def forward(self, x):
            if not settings.written_norms:
                return functional.rms_norm(x, (width,), self.weight, 1e-6)
            y = x.float()
            y = y * torch.rsqrt(y.pow(2).mean(dim=-1, keepdim=True) + 1e-6)
            return self.weight * y.to(x.dtype)

    class Projections(nn.Module):
        """Of one input to several outputs."""

        def __init__(self, outputs):
            super().__init__()
            self.outputs = outputs
            sizes = outputs if settings.separate else [sum(outputs)]
            self.parts = nn.ModuleList(nn.Linear(width, size, bias=False) for size in sizes)

        def forward(self, x):
            return [part(x) for part in self.parts] if settings.separate else self.parts[0](x).split(self.outputs, -1)

    def activate(x):
        if not settings.written_norms:
            return functional.gelu(x, approximate="tanh")
        return 0.5 * x * (1.0 + torch.tanh(0.7978845608 * (x + 0.044715 * torch.pow(x, 3.0))))

    def attend(q, k, v, causal):
        dtype = q.dtype
        if settings.repeated_heads:
            k, v = k.repeat_interleave(SHARING, dim=1), v.repeat_interleave(SHARING, dim=1)
        if settings.float_attention:
            q, k, v = q.float(), k.float(), v.float()
        grouped = {"enable_gqa": True} if k.shape[1] != q.shape[1] else {}
        return functional.scaled_dot_product_attention(q, k, v, is_causal=causal, **grouped).to(dtype)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = Norm(), Norm()
            self.qkv, self.gate_up = Projections([width, pairs * HEAD, pairs * HEAD]), Projections([inner, inner])
            self.out, self.down = nn.Linear(width, width, bias=False), nn.Linear(inner, width, bias=False)

        def mlp(self, x):
            gate, up = self.gate_up(x)
            return self.down(activate(gate) * up)

        def mlp_of(self, x, rows):
            """The other rows, which are padding, become zero."""
            if settings.masked_rows:
                result = torch.zeros_like(x)
                result[rows] = self.mlp(x[rows])
                return result
            tokens = x.flatten(0, 1)
            result = self.mlp(tokens.index_select(0, rows))
            return torch.zeros_like(tokens).index_copy(0, rows, result).view_as(x)

        def forward(self, x, rows=None, cache=None):
            """cache: keys and values of the whole sequence, the last of which x gives."""
            q, k, v = (part.unflatten(-1, (-1, HEAD)).transpose(1, 2) for part in self.qkv(self.norm1(x)))
            if cache is not None:
                for whole, part in zip(cache, (k, v)):
                    whole[:, :, -1:] = part
                k, v = cache
            x = x + self.out(attend(q, k, v, cache is None).transpose(1, 2).flatten(2))
            y = self.norm2(x)
            return x + (self.mlp(y) if rows is None else self.mlp_of(y, rows))

    return Block()


def make_blocks(torch, settings, dtype):
    with torch.device("cuda"):
        blocks = [make_block(torch, settings).to(dtype) for _ in range(settings.layers)]
    return torch.nn.ModuleList(blocks)
