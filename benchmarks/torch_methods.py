"""The training of every method in PyTorch, as an ordinary user would write it."""

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, log_softmax, softplus
from torch.nn.utils import parameters_to_vector
from torch.utils.data import DataLoader, TensorDataset

from benchmarks import workload

N_COMPONENTS = 5
RATE = 0.1
EPS = 0.01
SWAG_RANK = 20
IMAGE_MEMBERS = 5

Loss = Callable[[nn.Module, Tensor, Tensor], Tensor]


def gaussian(epochs: int) -> None:
    _loop(_mlp(2), _gaussian_loss, epochs)


def mdn(epochs: int) -> None:
    def loss(network: nn.Module, x: Tensor, y: Tensor) -> Tensor:
        logits, means, raw = network(x).chunk(3, dim=1)
        scales = (softplus(raw) + workload.MIN_SCALE**2).sqrt()
        terms = torch.distributions.Normal(means, scales).log_prob(y[:, None])
        return -torch.logsumexp(log_softmax(logits, dim=1) + terms, dim=1).mean()

    _loop(_mlp(3 * N_COMPONENTS), loss, epochs)


def dropout(epochs: int) -> None:
    network = nn.Sequential(
        nn.Dropout(RATE),
        nn.Linear(workload.N_INPUTS, workload.N_HIDDEN),
        nn.ReLU(),
        nn.Dropout(RATE),
        nn.Linear(workload.N_HIDDEN, 1),
    )
    _loop(network, _squared_loss, epochs, weight_decay=1e-4)


def adversarial(epochs: int) -> None:
    features = torch.from_numpy(workload.table()[0])
    step = EPS * (features.max(dim=0).values - features.min(dim=0).values)

    def loss(network: nn.Module, x: Tensor, y: Tensor) -> Tensor:
        x = x.requires_grad_()
        own = _gaussian_loss(network, x, y)
        (slope,) = torch.autograd.grad(own, x, retain_graph=True)
        neighbours = x.detach() + step * slope.sign()
        return (own + _gaussian_loss(network, neighbours, y)) / 2

    _loop(_mlp(2), loss, epochs)


def swag(epochs: int) -> None:
    network = _mlp(1)
    mean, square = (torch.zeros_like(parameters_to_vector(network.parameters())) for _ in range(2))
    deviations: list[Tensor] = []

    def gather(epoch: int) -> None:
        """Half of the training comes before SWAG begins to gather."""
        n = epoch - epochs // 2
        if n < 0:
            return
        with torch.no_grad():
            now = parameters_to_vector(network.parameters())
            mean.mul_(n / (n + 1)).add_(now / (n + 1))
            square.mul_(n / (n + 1)).add_(now**2 / (n + 1))
            deviations.append(now - mean)
            del deviations[:-SWAG_RANK]

    _loop(network, _squared_loss, epochs, after_epoch=gather)


class _Sequence(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(1, 32, batch_first=True)
        self.dense = nn.Linear(32, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.dense(self.lstm(x)[0][:, -1])


def lstm(epochs: int) -> None:
    _loop(_Sequence(), _gaussian_loss, epochs, data=workload.sequences)


def images_batched(epochs: int) -> None:
    """All members in one batched product per layer."""
    x, y = map(torch.from_numpy, workload.images())
    sizes = (x.shape[1], *workload.IMAGE_HIDDEN, workload.N_CLASSES)
    parameters = []
    for n_in, n_out in pairwise(sizes):
        for shape in ((IMAGE_MEMBERS, n_in, n_out), (IMAGE_MEMBERS, 1, n_out)):
            parameters.append(torch.empty(shape).uniform_(-(n_in**-0.5), n_in**-0.5))
            parameters[-1].requires_grad_()
    layers = list(zip(parameters[::2], parameters[1::2], strict=True))
    optimiser = torch.optim.Adam(parameters, lr=1e-3, fused=True)
    for _ in range(epochs):
        order = torch.rand(IMAGE_MEMBERS, len(x)).argsort(dim=1)
        for rows in order.split(workload.IMAGE_BATCH, dim=1):
            hidden = x[rows]
            for weight, bias in layers[:-1]:
                hidden = torch.baddbmm(bias, hidden, weight).relu()
            weight, bias = layers[-1]
            logits = torch.baddbmm(bias, hidden, weight)
            loss = cross_entropy(logits.flatten(0, 1), y[rows].flatten(), reduction="sum")
            optimiser.zero_grad()
            (loss / rows.shape[1]).backward()
            optimiser.step()


def _mlp(n_outputs: int) -> nn.Module:
    return nn.Sequential(
        nn.Linear(workload.N_INPUTS, workload.N_HIDDEN),
        nn.ReLU(),
        nn.Linear(workload.N_HIDDEN, n_outputs),
    )


def _gaussian_loss(network: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    outputs = network(x)
    variance = softplus(outputs[:, 1]) + workload.MIN_SCALE**2
    return nn.functional.gaussian_nll_loss(outputs[:, 0], y, variance, full=True)


def _squared_loss(network: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    return nn.functional.mse_loss(network(x)[:, 0], y)


def _loop(
    network: nn.Module,
    loss: Loss,
    epochs: int,
    data=workload.table,
    weight_decay: float = 0.0,
    after_epoch: Callable[[int], None] = lambda epoch: None,
) -> None:
    rows = TensorDataset(*map(torch.from_numpy, data()))
    loader = DataLoader(rows, batch_size=workload.BATCH_SIZE, shuffle=True)
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=workload.LEARNING_RATE, weight_decay=weight_decay
    )
    for epoch in range(epochs):
        for x, y in loader:
            value = loss(network, x, y)
            optimiser.zero_grad()
            value.backward()
            optimiser.step()
        after_epoch(epoch)
