"""Layers that several networks share."""

from torch import Tensor, nn
from torch.nn import functional


def attend(query: Tensor, key: Tensor, value: Tensor, heads: int, opened: Tensor | None = None) -> Tensor:
    """Multi-head attention of L queries (B, L, width) to N nodes (B, N, width), open ones only: (B, L, N)."""

    def split(values: Tensor) -> Tensor:
        return values.reshape(*values.shape[:2], heads, -1).transpose(1, 2)

    mask = None if opened is None else opened[:, None]
    mixed = functional.scaled_dot_product_attention(split(query), split(key), split(value), mask)
    return mixed.transpose(1, 2).flatten(-2)


class SelfAttention(nn.Module):
    """Multi-head attention of every node to every node, shape (B, N, width) to the same."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self._heads = heads
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, nodes: Tensor) -> Tensor:
        """The mixed values of each node."""
        query, key, value = self.project(nodes).chunk(3, dim=-1)
        mixed: Tensor = self.out(attend(query, key, value, self._heads))
        return mixed


class EncoderLayer(nn.Module):
    """Attention and a feed-forward step, each added and normalised over the nodes (Kool et al. 2019)."""

    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.attention = SelfAttention(width, heads)
        self.feed = nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, width))
        self.norms = nn.ModuleList(nn.InstanceNorm1d(width, affine=True) for _ in range(2))

    def forward(self, nodes: Tensor) -> Tensor:
        """Nodes (B, N, width) to nodes of the same shape."""
        nodes = _normalised(self.norms[0], nodes + self.attention(nodes))
        return _normalised(self.norms[1], nodes + self.feed(nodes))


def _normalised(norm: nn.Module, nodes: Tensor) -> Tensor:
    normalised: Tensor = norm(nodes.transpose(1, 2))
    return normalised.transpose(1, 2)
