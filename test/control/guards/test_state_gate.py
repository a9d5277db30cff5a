"""State gate: age and order of the stamps of joint states, silences, and clocks that go back."""

import math

import pytest

from robot_dynamics_ros.control.guards.state_gate import StateGate, Verdict

SECOND = 1_000_000_000  # ns
MS = 1_000_000  # ns
ACCEPTED, NO_STAMP, FUTURE, OUT_OF_ORDER, TOO_OLD = Verdict


def accepts(gate, stamp, now) -> bool:
    """Return whether a state is accepted, and record it as answered then."""
    is_accepted = gate.check(stamp, now) is ACCEPTED
    if is_accepted:
        gate.used = stamp

    return is_accepted


def regular(period, count=20, start=SECOND, limit=0.0):
    """Return a StateGate that has answered ``count`` states, each at once, and the last one's stamp."""
    gate = StateGate(limit)
    for k in range(count):
        assert not gate.set_back(start + k * period)
        assert accepts(gate, start + k * period, start + k * period)
    return gate, start + (count - 1) * period


def test_a_verdict_is_its_reason():
    reasons = ['', 'without a stamp', 'from the future', 'out of order', 'too old']
    assert [verdict.value for verdict in Verdict] == reasons


def test_a_stated_age_limit_does_not_depend_on_the_period():
    for gap in (MS, SECOND):
        for age, expected in (
            (0, ACCEPTED),
            (50 * MS, ACCEPTED),
            (50 * MS + 1, TOO_OLD),
            (-50 * MS, ACCEPTED),
            (-50 * MS - 1, FUTURE),
        ):
            gate = StateGate(0.05)
            for k in range(5):
                stamp = SECOND + k * gap
                assert gate.check(stamp, stamp + age) is expected
            assert gate.limit == 0.05


def test_a_pause_is_the_time_since_the_last_used_stamp():
    gate = StateGate(0.05)
    assert gate.pause(SECOND) == math.inf
    gate.used = SECOND
    assert gate.pause(SECOND + 15 * MS) == pytest.approx(0.015)
    gate.reset()
    assert gate.pause(SECOND) == math.inf


def test_after_a_state_was_used_earlier_ones_are_refused():
    gate = StateGate(1.0)
    assert accepts(gate, SECOND, SECOND)
    assert gate.check(SECOND - 1, SECOND) is OUT_OF_ORDER
    assert gate.check(SECOND, SECOND) is ACCEPTED  # the same once more
    assert gate.check(SECOND + 1, SECOND) is ACCEPTED


def test_a_state_that_was_not_used_blocks_no_other():
    gate = StateGate(1.0)
    for k in range(3):
        assert gate.check(SECOND - k, SECOND) is ACCEPTED


@pytest.mark.parametrize('stamp', [0, -1])
def test_a_state_without_a_stamp_is_refused(stamp):
    for now in (0, SECOND):
        assert StateGate(1.0).check(stamp, now) is NO_STAMP


def test_in_simulated_time_the_first_state_may_come_at_once():
    assert StateGate(1.0).check(1, 1) is ACCEPTED


def test_time_0_is_a_time_like_any_other():
    """Of what was answered and used, and of the clock: only None is none."""
    gate = StateGate(1.0)
    gate.used = 0
    assert not gate.resumes(SECOND) and gate.resumes(SECOND + 1)
    assert not gate.set_back(0)
    assert gate.set_back(-1)


def test_when_the_clock_is_set_back_everything_is_reset():
    gate, last = regular(5 * MS)
    assert gate.check(SECOND // 2, last + MS) is OUT_OF_ORDER
    assert not gate.set_back(last + MS) and not gate.set_back(last + MS)
    assert gate.limit == pytest.approx(0.015) and not gate.resumes(last)
    assert gate.set_back(SECOND // 2)
    assert (gate.period, gate.jitter, gate.limit) == (0.0, 0.0, 1.0)
    assert gate.resumes(SECOND // 2)
    assert accepts(gate, SECOND // 2, SECOND // 2)
    assert gate.period == 0.0
    # told once: the time it was set back to is the one that counts now
    assert not gate.set_back(SECOND // 2)
    assert not gate.set_back(SECOND)
    assert gate.set_back(SECOND - 1)


def test_a_gate_that_continues_knows_period_order_and_pause_and_keeps_its_stated_limit():
    before, last = regular(10 * MS)
    for limit, expected in ((0.0, before.limit), (0.5, 0.5)):
        gate = StateGate(limit)
        gate.continue_from(before)
        assert (gate.period, gate.limit) == (before.period, expected)
        assert gate.check(last - 1, last) is OUT_OF_ORDER
        assert (gate.pause(last + 20 * MS), gate.resumes(last + 20 * MS)) == (pytest.approx(0.02), False)
        assert gate.set_back(last - 1)


def test_the_age_of_accepted_states_is_smoothed():
    gate = StateGate(1.0)
    for k in range(1, 200):
        accepts(gate, SECOND + 2 * k * MS, SECOND + 2 * k * MS + (3 if k % 2 else 5) * MS)
    assert gate.age == pytest.approx(0.004, abs=2e-4)
    for k in range(200, 260):  # ahead of the clock, and too old
        accepts(gate, SECOND + 2 * k * MS, SECOND + 2 * k * MS - MS)
        accepts(gate, SECOND + 2 * k * MS, 3 * SECOND + 2 * k * MS)
    assert 0.0 <= gate.age < 1e-4
    other = StateGate(1.0)
    other.continue_from(gate)
    assert other.age == gate.age
    gate.reset()
    assert gate.age == 0.0


def test_reset_forgets_the_time_too():
    """At activation a clock that stood elsewhere before is not one that was set back."""
    gate, last = regular(5 * MS)
    gate.reset()
    assert not gate.set_back(last // 2)
    assert gate.resumes(last) and accepts(gate, last // 2, last // 2)
    assert (gate.period, gate.limit) == (0.0, 1.0)


def test_a_stated_limit_outlives_resets():
    gate = StateGate(0.05)
    accepts(gate, SECOND, SECOND)
    accepts(gate, SECOND + MS, SECOND + MS)
    gate.reset()
    assert gate.limit == 0.05


def test_a_silence_is_longer_than_the_age_limit_and_the_first_state_ends_one():
    gate = StateGate(0.05)
    assert gate.resumes(SECOND)
    gate.check(SECOND, SECOND)
    assert gate.resumes(SECOND)  # accepted is not used
    gate.used = SECOND
    assert not gate.resumes(SECOND + 50 * MS)
    assert gate.resumes(SECOND + 50 * MS + 1)
    gate.answered = SECOND + 40 * MS
    assert gate.resumes(SECOND + 50 * MS + 1)  # what counts is what was used
    gate.used = SECOND + 50 * MS + 1
    assert not gate.resumes(SECOND + 100 * MS + 1)


@pytest.mark.parametrize('limit', [0.0, 0.1, 10.0])
def test_a_silence_is_measured_by_the_period_that_is_learnt_and_a_raised_age_limit_hides_none(limit):
    gate, last = regular(5 * MS, limit=limit)
    assert not gate.resumes(last + 15 * MS - 2)
    assert gate.resumes(last + 15 * MS + 2)
    gate.reset()
    assert accepts(gate, last, last)
    assert gate.resumes(last + SECOND + 1)
    assert gate.resumes(last + SECOND) == (limit == 0.1)


@pytest.mark.parametrize(('limit', 'silence'), [(0.0, 1000 * MS), (10.0, 1800 * MS)])
def test_slow_states_are_no_silences_where_the_age_limit_allows_them(limit, silence):
    gate, last = regular(600 * MS, limit=limit)
    assert not gate.resumes(last + silence - 2)
    assert gate.resumes(last + silence + 2)


@pytest.mark.parametrize('period', [2 * MS, 5 * MS, 20 * MS])
def test_without_one_it_is_three_measured_periods(period):
    assert StateGate.PERIODS == 3
    gate, last = regular(period)
    assert gate.period == pytest.approx(period * 1e-9)
    assert gate.limit == pytest.approx(3e-9 * period)
    for _ in range(10):
        last += period
        assert accepts(gate, last, last + 3 * period - 2)
        last += period
        assert gate.check(last, last + 3 * period + 2) is TOO_OLD


def test_the_limit_that_is_learnt_is_never_shorter_than_5_ms():
    """Two states of a burst, or of two publishers, are 10 us apart."""
    gate, last = regular(MS // 100)
    assert gate.limit == 0.005
    assert accepts(gate, last, last + 5 * MS)
    assert gate.check(last, last + 5 * MS + 1) is TOO_OLD
    assert regular(MS)[0].limit == 0.005 and StateGate(0.001).limit == 0.001  # a stated one is as it is


@pytest.mark.parametrize('first', [1, 10_000 * SECOND, 99_998 * SECOND])
def test_the_limit_that_is_learnt_is_never_longer_than_a_second(first):
    """A first stamp of another clock is no period of hours or years."""
    gate, now = StateGate(0.0), 100_000 * SECOND
    assert gate.check(first, now) is TOO_OLD
    for _ in range(3 * StateGate.LEARNT):
        now += MS
        assert accepts(gate, now, now)
        assert gate.limit <= 1.0
        assert gate.check(now + SECOND + 1, now) is FUTURE


def test_before_there_is_a_period_a_state_may_be_a_second_old():
    assert StateGate(0.0).limit == 1.0
    assert StateGate(0.0).check(5 * SECOND, 6 * SECOND) is ACCEPTED
    assert StateGate(0.0).check(5 * SECOND, 6 * SECOND + 1) is TOO_OLD
    assert StateGate(0.0).check(6 * SECOND, 5 * SECOND) is ACCEPTED
    assert StateGate(0.0).check(6 * SECOND + 1, 5 * SECOND) is FUTURE


def test_a_state_from_the_future_is_no_newest():
    gate = StateGate(0.0)
    assert accepts(gate, SECOND, SECOND)
    assert gate.check(10 * SECOND, SECOND) is FUTURE
    for k in range(1, 6):
        assert accepts(gate, SECOND + k * 5 * MS, SECOND + k * 5 * MS)
    assert gate.period == pytest.approx(0.005)


def test_six_states_make_a_period():
    gate = StateGate(0.0)
    for k in range(6):
        assert (gate.period, gate.limit) == (0.0, 1.0)
        assert accepts(gate, SECOND + k * 5 * MS, SECOND + k * 5 * MS)
    assert gate.period == pytest.approx(0.005)
    assert not accepts(gate, SECOND + 30 * MS, SECOND + 30 * MS + 16 * MS)


@pytest.mark.parametrize(
    'gaps', [(MS // 100, 20 * MS), (20 * MS, MS // 100, 20 * MS, MS // 100), (2 * SECOND, 20 * MS)],
    ids=['a burst of two', 'two publishers', 'a pause'],
)  # fmt: skip
def test_neither_a_burst_nor_a_pause_is_the_first_period(gaps):
    gate, stamp = StateGate(0.0), SECOND
    for gap in (0, *gaps, *[20 * MS] * (StateGate.LEARNT - len(gaps))):
        stamp += gap
        assert accepts(gate, stamp, stamp)
    assert gate.period == pytest.approx(0.02)
    for _ in range(50):
        stamp += 20 * MS
        assert not gate.resumes(stamp)  # none of them ends a silence
        assert accepts(gate, stamp, stamp)


def test_the_period_is_smoothed():
    """A period that changes from 5 to 10 ms is followed by a tenth of the difference at a time."""
    gate, last = regular(5 * MS)
    for k in range(1, 30):
        last += 10 * MS
        accepts(gate, last, last)
        assert gate.period == pytest.approx(0.010 - 0.005 * 0.9**k)


def test_a_pause_counts_as_the_longest_gap_that_is_still_in_time():
    gate, last = regular(5 * MS)
    accepts(gate, last + 10 * SECOND, last + 10 * SECOND)
    assert gate.period == pytest.approx(0.005 + 0.1 * 0.010)
    assert gate.jitter == pytest.approx(0.1 * 0.010)


def test_jitter_is_how_far_the_gaps_lie_from_the_period():
    gate, last = regular(5 * MS)
    assert gate.jitter == 0.0
    for k in range(200):
        last += (4 if k % 2 else 6) * MS
        accepts(gate, last, last)
    assert gate.jitter == pytest.approx(0.001, rel=0.15)


def test_a_repeated_or_unordered_stamp_is_no_period():
    gate, last = regular(5 * MS)
    for stamp in (last, last, last - 5 * MS):
        gate.check(stamp, last)
    assert gate.period == pytest.approx(0.005)
    assert gate.jitter == 0.0


def test_after_a_pause_an_old_state_is_still_too_old():
    """The pause is no period: after it a state may not be a second old when the input comes each 5 ms."""
    gate, last = regular(5 * MS)
    last += 10 * SECOND
    accepts(gate, last, last)
    assert not accepts(gate, last + 5 * MS, last + 5 * MS + SECOND)
