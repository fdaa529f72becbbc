"""The network of LMask: its size, what it must not depend on, and likelihoods that agree with decoding."""

import numpy as np
import pytest
import torch

from ncosolve.errors import InputError
from ncosolve.learned.lmask.data import generated
from ncosolve.learned.lmask.decoding import decode
from ncosolve.learned.lmask.network import KIND, LMaskNetwork, Pointer, Shape, eight_images, images, load_network
from ncosolve.learned.weights import save_weights


def network(**shape):
    torch.manual_seed(1)
    return LMaskNetwork(Shape(**{"width": 32, "heads": 4, "layers": 2, "hidden": 64, **shape})).eval()


def pointer(made, tours):
    return Pointer(made, made.encode(tours.features), tours.horizon)


@pytest.mark.parametrize(("intensity", "parameters"), [(False, 1_272_832), (True, 1_273_728)])
def test_the_network_of_the_paper_has_its_number_of_parameters(intensity, parameters):
    assert sum(part.numel() for part in LMaskNetwork(Shape(intensity=intensity)).parameters()) == parameters


@torch.no_grad()
def test_logits_are_clipped_and_follow_a_permutation_of_the_customers():
    tours, made = generated("tsptw", 3, 12, "hard", 1), network()
    order = torch.cat([torch.tensor([0]), 1 + torch.randperm(11, generator=torch.Generator().manual_seed(2))])
    moved = tours._replace(features=tours.features[:, order])
    current, clock = torch.tensor([0, 0, 0]), torch.zeros(3, dtype=torch.float64)
    opened, refined = torch.ones(3, 12, dtype=torch.bool), torch.zeros(3, dtype=torch.int64)
    one = pointer(made, tours).logits(current, clock, opened, refined, opened[:, 0])
    other = pointer(made, moved).logits(current, clock, opened, refined, opened[:, 0])
    assert one.abs().max() <= 10.0
    assert torch.allclose(one[:, order], other, atol=1e-5)


@torch.no_grad()
@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
def test_a_batch_gives_what_each_instance_alone_gives(problem):
    tours, made = generated(problem, 6, 15, "hard", 4), network()
    whole = decode(tours, eight_images(made, tours), 20, copies=8)
    for k in range(6):
        some = tours.some(torch.tensor([k]))
        alone = decode(some, eight_images(made, some), 20, copies=8)
        assert torch.equal(alone.tour, whole.tour[8 * k : 8 * k + 8])


@torch.no_grad()
@pytest.mark.parametrize("intensity", [False, True])
def test_the_likelihood_of_a_decoding_is_the_sum_of_its_last_decisions(intensity):
    tours, made = generated("tsptw", 4, 40, "hard", 7), network(intensity=intensity)
    path = decode(tours, pointer(made, tours), 10**6)
    assert path.found.all()
    assert (path.backtracks > 0).any()
    likelihood, entropy = made(tours, path)
    for k in range(4):
        total = 0.0
        for step in range(39):
            some = tours.some(torch.tensor([k]))
            state = (path.tour[k, step], path.clock[k, step], path.mask[k, step], path.refined[k, step])
            current, clock, opened, refined = (part[None] for part in state)
            logits = pointer(made, some).logits(current, clock, opened, refined, path.spent[k : k + 1, step])
            chances = torch.where(opened, logits, -torch.inf).log_softmax(dim=1)[0]
            assert chances.argmax() == path.tour[k, step + 1]
            total += float(chances[path.tour[k, step + 1]])
        assert total == pytest.approx(float(likelihood[k]), abs=1e-4)
    assert (entropy >= 0.0).all()


def test_the_likelihood_has_a_gradient_where_masks_are_single():
    tours, made = generated("tsptw", 4, 10, "hard", 7), network().train()
    path = decode(tours, pointer(made, tours), 10**6)
    likelihood, entropy = made(tours, path)
    (likelihood - entropy).sum().backward()
    assert all(part.grad is not None and part.grad.isfinite().all() for part in made.parameters())


def test_eight_images_keep_all_distances_and_the_first_is_the_instance():
    tours = generated("tsptw", 2, 9, "easy", 3)
    turned = images(tours.features).reshape(2, 8, 9, 4)
    assert torch.equal(turned[:, 0], tours.features)
    for each in turned.unbind(1):
        assert torch.allclose(
            torch.cdist(each[..., :2], each[..., :2]), torch.cdist(turned[:, 0, :, :2], turned[:, 0, :, :2]), atol=1e-5
        )
        assert torch.equal(each[..., 2:], tours.features[..., 2:])
    assert len({tuple(np.round(each.flatten().tolist(), 6)) for each in turned[0]}) == 8


def test_weights_come_back_as_they_were_saved(tmp_path):
    made = network(intensity=True)
    header = {"kind": KIND, "problem": "tsptw", "shape": vars(made.shape)}
    save_weights(tmp_path / "w.safetensors", made, header)
    again, read = load_network(tmp_path / "w.safetensors")
    assert read == header
    assert again.shape == made.shape
    assert all(torch.equal(a, b) for a, b in zip(again.parameters(), made.parameters(), strict=True))


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ({"kind": "other", "shape": {}}, "holds weights of 'other', expected 'lmask'"),
        ({"kind": KIND}, "its header describes no network: 'shape'"),
        ({"kind": KIND, "shape": {"depth": 3}}, "its header describes no network"),
        ({"kind": KIND, "shape": {"width": 64, "heads": 4, "layers": 2, "hidden": 64}}, "does not fit the network"),
    ],
)
def test_weights_of_another_network_are_refused(tmp_path, header, said):
    save_weights(tmp_path / "w.safetensors", network(), header)
    with pytest.raises(InputError, match=said):
        load_network(tmp_path / "w.safetensors")


@pytest.mark.parametrize("content", [b"", b"no weights", b"\xff" * 200])
def test_damaged_weights_are_refused(tmp_path, content):
    (tmp_path / "w.safetensors").write_bytes(content)
    with pytest.raises(InputError, match="holds no weights"):
        load_network(tmp_path / "w.safetensors")
