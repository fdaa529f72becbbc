"""The network of LMask: an encoder of all nodes, and a decoder that points at the next one.

POMO's attention model (Kwon et al. 2020) with a context of the current node, the clock and, optionally, how much the
present mask has been refined (Li et al. 2026, arXiv 2505.17938).
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from ncosolve.errors import InputError
from ncosolve.learned.layers import EncoderLayer, attend
from ncosolve.learned.lmask.decoding import Decoded
from ncosolve.learned.lmask.tours import Tours
from ncosolve.learned.weights import load_weights, put_weights

KIND = "lmask"
"""What files of its weights are marked with."""
CLIP = 10.0
"""Logits lie between -10 and 10, so that every open node stays possible."""
INTENSITIES = 5
"""Refinements of a mask that are told apart, the last for all that are more."""


@dataclass(frozen=True)
class Shape:
    """The size of a network; the paper's is the default.

    Attributes
    ----------
    width, heads, layers, hidden : int
        Of the encoder.
    intensity : bool
        Whether the decoder sees how often the mask was refined and whether backtracks are used up.
    """

    width: int = 128
    heads: int = 8
    layers: int = 6
    hidden: int = 512
    intensity: bool = False


@dataclass
class Nodes:
    """What the decoder needs of each problem: embeddings (B, N, width) and three projections of them."""

    embedding: Tensor
    glimpse_key: Tensor
    glimpse_value: Tensor
    logit_key: Tensor

    def take(self, kept: Tensor) -> "Nodes":
        """Those of some problems."""
        return Nodes(self.embedding[kept], self.glimpse_key[kept], self.glimpse_value[kept], self.logit_key[kept])


class LMaskNetwork(nn.Module):
    """Log-probabilities of the next node."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        width = shape.width
        self.embed_depot = nn.Linear(2, width)
        self.embed_node = nn.Linear(4, width)
        self.layers = nn.Sequential(*(EncoderLayer(width, shape.heads, shape.hidden) for _ in range(shape.layers)))
        self.project_nodes = nn.Linear(width, 3 * width, bias=False)
        self.project_context = nn.Linear(width + 1 + (INTENSITIES + 2) * shape.intensity, width)
        self.project_glimpse = nn.Linear(width, width, bias=False)

    def encode(self, features: Tensor) -> Nodes:
        """Embed the nodes: features (B, N, 4), see `ncosolve.learned.lmask.tours.Tours`."""
        depot, others = self.embed_depot(features[:, :1, :2]), self.embed_node(features[:, 1:])
        embedding = self.layers(torch.cat([depot, others], dim=1))
        return Nodes(embedding, *self.project_nodes(embedding).chunk(3, dim=-1))

    def point(
        self, nodes: Nodes, current: Tensor, clock: Tensor, opened: Tensor, refined: Tensor, spent: Tensor
    ) -> Tensor:
        """Logits of all nodes for L partial tours of each problem, shape (B, L, N).

        Parameters
        ----------
        current, refined : Tensor of int64, shape (B, L)
            Where a partial tour ends, and how often its mask was refined.
        clock : Tensor, shape (B, L)
            When service starts there, in horizons.
        opened : Tensor of bool, shape (B, L, N)
            The mask, without a row of False.
        spent : Tensor of bool, shape (B, L)
            Whether backtracks are used up.
        """
        at = current[..., None].expand(-1, -1, self.shape.width)
        context = [nodes.embedding.gather(1, at), clock[..., None].to(nodes.embedding.dtype)]
        if self.shape.intensity:
            context.append(functional.one_hot(refined.clamp_max(INTENSITIES - 1), INTENSITIES))
            context.append(functional.one_hot(spent.to(torch.int64), 2))
        query = self.project_context(torch.cat([part.to(context[0].dtype) for part in context], dim=-1))
        glimpse = attend(query, nodes.glimpse_key, nodes.glimpse_value, self.shape.heads, opened)
        glimpse = self.project_glimpse(glimpse)
        logits = glimpse @ nodes.logit_key.transpose(1, 2) / math.sqrt(self.shape.width)
        return CLIP * torch.tanh(logits)

    def forward(self, tours: Tours, decoded: Decoded) -> tuple[Tensor, Tensor]:
        """Log-likelihood and summed entropy of tours under the masks that they were decided by.

        Parameters
        ----------
        tours : Tours
            B problems.
        decoded : Decoded
            ``R / B`` tours of each, behind one another.

        Returns
        -------
        tuple of Tensor, each of shape (R,)
        """
        problems, n = tours.due.shape
        places = slice(0, n - 1)

        def lines(values: Tensor) -> Tensor:
            return values[:, places].reshape(problems, -1, *values.shape[2:])

        clock = lines(decoded.clock) / tours.horizon[:, None]
        opened = lines(decoded.mask)
        logits = self.point(
            self.encode(tours.features),
            lines(decoded.tour),
            clock,
            opened,
            lines(decoded.refined),
            lines(decoded.spent),
        )
        log_probability = logits.float().masked_fill(~opened, -torch.inf).log_softmax(dim=-1)
        chosen = log_probability.gather(-1, lines(decoded.tour.roll(-1, dims=1))[..., None])[..., 0]
        entropy = -(log_probability.exp() * log_probability.masked_fill(~opened, 0.0)).sum(dim=-1)
        return chosen.reshape(-1, n - 1).sum(dim=1), entropy.reshape(-1, n - 1).sum(dim=1)


@dataclass
class Pointer:
    """A network as the policy of a decoding; see `ncosolve.learned.lmask.decoding.Policy`.

    Attributes
    ----------
    network : LMaskNetwork
        In evaluation, on the device of the problems.
    nodes : Nodes
        What it makes of each problem, or of each image of one: a row a search.
    horizon : Tensor, shape (R,)
        See `ncosolve.learned.lmask.tours.Tours`.
    """

    network: LMaskNetwork
    nodes: Nodes
    horizon: Tensor

    def logits(self, current: Tensor, clock: Tensor, opened: Tensor, refined: Tensor, spent: Tensor) -> Tensor:
        """Logits of all nodes, shape (R, N)."""
        share = clock / self.horizon
        one_each = (part[:, None] for part in (current, share, opened, refined, spent))
        return self.network.point(self.nodes, *one_each)[:, 0].float()

    def take(self, kept: Tensor) -> "Pointer":
        """The same for these searches only."""
        return Pointer(self.network, self.nodes.take(kept), self.horizon[kept])


def images(features: Tensor) -> Tensor:
    """The eight images by the unit square's symmetries, the identity first: (8 B, N, 4), those of one together."""
    x, y, rest = features[..., :1], features[..., 1:2], features[..., 2:]
    pairs = [(x, y), (y, x), (x, 1 - y), (y, 1 - x), (1 - x, y), (1 - y, x), (1 - x, 1 - y), (1 - y, 1 - x)]
    return torch.stack([torch.cat([*pair, rest], dim=-1) for pair in pairs], dim=1).flatten(0, 1)


def eight_images(network: LMaskNetwork, tours: Tours) -> Pointer:
    """A policy for eight searches a problem, each of which sees another image of it."""
    return Pointer(network, network.encode(images(tours.features)), tours.horizon.repeat_interleave(8))


def load_network(file: Path) -> tuple[LMaskNetwork, dict[str, Any]]:
    """The network of a file of weights, in evaluation, and the file's header.

    Raises
    ------
    InputError
        When the file is missing, damaged, of another network, or holds numbers that are not finite.
    """
    tensors, header = load_weights(file, KIND)
    try:
        network = LMaskNetwork(Shape(**header["shape"]))
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"its header describes no network: {error}", str(file)) from None
    put_weights(network, tensors, file)
    if not all(part.isfinite().all() for part in network.parameters()):
        raise InputError("its numbers are not finite", str(file))
    return network.eval(), header
