# expects: the heads come before the tokens. Yours lets each head attend to the others
# Exercise 11.5b
class Block(torch.nn.Module):
    """A transformer block; ops holds what rmsnorm, attention and swiglu are computed with."""

    def __init__(self, dim, heads, hidden, ops):
        super().__init__()
        self.heads, self.ops = heads, ops
        self.norm1, self.norm2 = torch.nn.Parameter(torch.ones(dim)), torch.nn.Parameter(torch.ones(dim))
        self.qkv, self.out = torch.nn.Linear(dim, 3 * dim, bias=False), torch.nn.Linear(dim, dim, bias=False)
        self.up, self.down = torch.nn.Linear(dim, 2 * hidden, bias=False), torch.nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        batch, n, dim = x.shape
        h = self.qkv(self.ops.rmsnorm(x, self.norm1))  # (batch, n, 3 dim)
        qkv = h.view(batch, n, 3, self.heads, -1).permute(2, 0, 1, 3, 4)  # (3, batch, heads, n, d): q, k and v
        o = self.ops.attention(qkv).transpose(1, 2).reshape(batch, n, dim)  # the heads side by side again
        x = x + self.out(o)
        ab = self.up(self.ops.rmsnorm(x, self.norm2))  # (batch, n, 2 hidden)
        return x + self.down(self.ops.swiglu(ab))
