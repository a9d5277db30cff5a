"""Choices that parts of a log make which are held out: friction terms of each joint, and the weight of the prior.

A model with more terms fits its own log better and may predict worse. Here each of five blocks of time is predicted
from the others (``Fit.held_out``): a joint has a term beyond viscous and Coulomb friction only where it predicts
better, and the prior counts less where the log contradicts it.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robot_dynamics_ros.identification.iterated_fit import (
    Pass,
    State,
    TorqueProblem,
    first_state,
    iterated,
    linearised,
    solved,
)

OPTIONAL = ('load', 'quadratic')
"""Terms of friction that a joint has only where they pay, in the order in which they are tried."""
CLEAR = 0.3
"""Reduction of the squared residuals of held-out blocks by which a joint has quadratic friction, which few gears have.
If Coulomb friction would be negative without it, as where friction grows faster than linearly, ``NOISE`` is enough."""
NOISE = 5.0
"""Reduction times the number of independent samples: a term without effect changes it by about 1."""
AGREE = 4
"""Blocks in which quadratic friction has to predict better."""
MOST_LOAD = 1.0
"""Load-dependent friction from which on a gear locks itself: an estimate beyond is none."""
WEIGHTS = (0.3, 0.03, 3e-3, 3e-4)
"""Weights of the prior to choose from."""
CONTRADICTS = 0.05
"""Mean reduction of the logarithm of squared residuals by which a smaller weight is preferred."""


def simplest(problem: TorqueProblem) -> np.ndarray:
    """Return the terms (k, n; bool) of each joint without those that are optional."""
    return np.array([[name not in OPTIONAL] * problem.robot.nv for name in problem.terms]).reshape(-1, problem.robot.nv)


def with_terms_that_pay(problem: TorqueProblem) -> tuple[np.ndarray, Pass]:
    """Return the terms (k, n; bool) of each joint, and the last pass with them."""
    terms = simplest(problem)
    now = iterated(problem, terms, first_state(problem))
    tried = [name for name in OPTIONAL if name in problem.terms]
    for name in tried:
        more = terms.copy()
        more[problem.terms.index(name)] = True
        trial = iterated(problem, more, now.state, settled=True)
        without, with_it = now.held_out(), trial.held_out()
        share = with_it.sum(axis=0) / np.maximum(without.sum(axis=0), np.finfo(float).tiny)
        if name == 'quadratic':
            independent = np.maximum(now.state.used.sum(axis=0) / now.state.times, 1.0)
            pays = (share < 1.0 - NOISE / independent) & ((share < 1.0 - CLEAR) | _without_coulomb(problem, now))
            pays &= (with_it < without).sum(axis=0) >= AGREE
        else:
            pays = (share < 1.0) & (trial.state.friction[problem.terms.index(name)] < MOST_LOAD) & ~problem.coupled
        if pays.any():
            terms[problem.terms.index(name)] = pays
            now = trial if pays.all() else iterated(problem, terms, now.state, settled=True)
    if tried:
        now = iterated(problem, terms, now.state)
    if 'load' in tried:
        load = problem.terms.index('load')
        while (locked := now.state.friction[load] >= MOST_LOAD).any():
            terms[load] &= ~locked
            now = iterated(problem, terms, now.state._replace(friction=now.state.friction * terms))
    return terms, now


def _without_coulomb(problem: TorqueProblem, now: Pass) -> np.ndarray:
    """Return whether the Coulomb friction of each joint is held at 0, (n,)."""
    if 'coulomb' not in problem.terms:
        return np.zeros(problem.robot.nv, bool)
    # own parameters begin with the rotor
    return now.fit.held[:, 1 + problem.terms.index('coulomb')]


def last_pass(problem: TorqueProblem, terms: np.ndarray, now: State, weights: Sequence[float]) -> tuple[float, Pass]:
    """Return the first of the ``weights`` of the prior that the log does not contradict, and the last pass with it.

    Weights decrease. In that pass samples count less where residuals are correlated, by one factor of all joints;
    before, they are so because the model is wrong.
    """
    correlated = float(np.exp(np.log(now.times).mean()))
    of = linearised(problem, terms, now, settled=True)
    passes = [solved(replace(problem, weight=weight), terms, now, of, correlated) for weight in weights]
    if len(passes) == 1:
        return weights[0], passes[0]
    misfits = np.array([np.log(it.held_out().sum(axis=0) + np.finfo(float).tiny).mean() for it in passes])
    k = int(np.argmax(misfits <= misfits.min() + CONTRADICTS))
    return weights[k], passes[k]
