"""The same training in PyTorch, as an ordinary user and as an expert would write it."""

import torch
from torch import Tensor, nn
from torch.nn.functional import gaussian_nll_loss, softplus
from torch.utils.data import DataLoader, TensorDataset

from benchmarks import workload


def train_plainly() -> float:
    """One member, by a loop over a DataLoader; returns the mean loss of the last epoch."""
    x, y = map(torch.from_numpy, workload.table())
    loader = DataLoader(TensorDataset(x, y), batch_size=workload.BATCH_SIZE, shuffle=True)
    network = nn.Sequential(
        nn.Linear(workload.N_INPUTS, workload.N_HIDDEN),
        nn.ReLU(),
        nn.Linear(workload.N_HIDDEN, 2),
    )
    criterion = nn.GaussianNLLLoss(full=True)
    optimiser = torch.optim.Adam(network.parameters(), lr=workload.LEARNING_RATE)
    total = 0.0
    for _ in range(workload.EPOCHS):
        total = 0.0
        for x_batch, y_batch in loader:
            outputs = network(x_batch)
            variance = softplus(outputs[:, 1]) + workload.MIN_SCALE**2
            loss = criterion(outputs[:, 0], y_batch, variance)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            total += loss.item() * len(y_batch)
    return total / workload.N_ROWS


def train_batched(n_members: int) -> float:
    """All members in one batched product per layer; returns their mean loss in the last epoch."""
    x, y = map(torch.from_numpy, workload.table())
    parameters = [
        *_layer(n_members, workload.N_INPUTS, workload.N_HIDDEN),
        *_layer(n_members, workload.N_HIDDEN, 2),
    ]
    hidden_weight, hidden_bias, output_weight, output_bias = parameters
    optimiser = torch.optim.Adam(parameters, lr=workload.LEARNING_RATE, fused=True)
    total = torch.zeros(())
    for _ in range(workload.EPOCHS):
        total = torch.zeros(())
        order = torch.rand(n_members, workload.N_ROWS).argsort(dim=1)
        for rows in order.split(workload.BATCH_SIZE, dim=1):
            hidden = torch.baddbmm(hidden_bias, x[rows], hidden_weight).relu()
            outputs = torch.baddbmm(output_bias, hidden, output_weight)
            variance = softplus(outputs[..., 1]) + workload.MIN_SCALE**2
            losses = gaussian_nll_loss(
                outputs[..., 0], y[rows], variance, full=True, reduction="none"
            )
            optimiser.zero_grad()
            losses.mean(dim=1).sum().backward()
            optimiser.step()
            total += losses.detach().sum()
    return total.item() / (n_members * workload.N_ROWS)


def _layer(n_members: int, n_in: int, n_out: int) -> tuple[Tensor, Tensor]:
    bound = n_in**-0.5
    weight = torch.empty(n_members, n_in, n_out).uniform_(-bound, bound)
    bias = torch.empty(n_members, 1, n_out).uniform_(-bound, bound)
    return weight.requires_grad_(), bias.requires_grad_()
