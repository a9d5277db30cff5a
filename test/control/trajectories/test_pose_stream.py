"""Poses of a link in a row: a smooth motion keeps its speed, a pose far away is reached within the limits."""

from support.control.followed_arm import AT, LIMITS, ROBOT, SECOND, TICK, FollowedArm
from support.control.led_arm import LedArm
from support.matrices import crossed, matrix
from support.robots.small_robots import seven_joints

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from robot_dynamics_ros.control.trajectories.pose_stream import CAUGHT_UP, PoseStream
from robot_dynamics_ros.control.trajectories.trajectory import Trajectory
from robot_dynamics_ros.control.trajectories.trajectory_check import sampled
from robot_dynamics_ros.control.trajectories.twisted_pose import TwistedPose
from robot_dynamics_ros.errors import ArgumentError

LINK = ROBOT.link_names[-1]
SPEED = 0.25, 1.0
OF_JOINTS = ROBOT.limits.velocity, LIMITS[1]
FREE = np.full(6, np.inf)
DURATION, AWAY, TURN = 2.0, np.array([0.1, 0.2, -0.15]), np.array([0.3, -0.2, 0.4])
FIRST = ROBOT.link_pose(AT, LINK)
REST = np.zeros(6)


def moved(away, turn):
    """Return the first pose, moved by ``away`` (m) and turned by a rotation vector."""
    found = FIRST.copy()
    found[:3, 3] += away
    found[:3, :3] = Rotation.from_rotvec(turn).as_matrix() @ FIRST[:3, :3]
    return found


FAR = moved([-0.3, 0.0, 0.4], [0.0, 0.0, 0.5 * np.pi])


def at_rest(q):
    return np.array([q, np.zeros_like(q), np.zeros_like(q)])


class PosedArm:
    """An arm that follows poses as a node does, and its desired motion (m, 3, n)."""

    def __init__(self, **options):
        self.arm, self.stream, self.motion = (
            FollowedArm('computed_torque', **options),
            PoseStream(ROBOT, '', SPEED, OF_JOINTS),
            [],
        )
        self.twisted = TwistedPose(SPEED, (0.5, 0.1))

    def follow(self, poses, rate):
        """Send poses at ``rate`` Hz."""
        for pose in poses:
            self._send(pose, self._reference())
            self.rest(1.0 / rate)

    def move(self, twist, seconds, rate):
        """Send a velocity at ``rate`` Hz."""
        for _ in range(round(seconds * rate)):
            reference = self._reference()
            places = (ROBOT.link_pose(q, LINK) for q in (reference[0], self.arm.q))
            pose = self.twisted.moved(np.array(twist), False, self.arm.now, *places)
            self._send(pose, reference)
            self.twisted.keep(pose)
            self.rest(1.0 / rate)

    def _reference(self):
        plan = self.arm.follower.plan
        return self.arm.desired.copy() if plan is not None and plan.leads else at_rest(AT)

    def _send(self, pose, reference):
        arm = self.arm
        points = self.stream.points(pose, reference, arm.follower.stream_lag, arm.now)
        is_way = len(points.times) > 1  # from where the arm was led at its last state
        stamp = arm.follower.newest or 0 if is_way else 0
        arm.send(*points, at=arm.now, stamp=stamp, keeps_speed=is_way)

    def rest(self, seconds):
        """Go on without a pose."""
        self.motion.extend(self.arm.run(round(seconds * SECOND)).desired)

    def speeds(self):
        """Return the speed of the link, and that of its rotation (2, m; m/s and rad/s); nothing was refused."""
        assert not self.arm.told and not self.arm.silent
        q, qd, _ = np.swapaxes(self.motion, 0, 1)
        twist = (ROBOT.jacobian(q, LINK) @ qd[..., None])[..., 0]
        return np.linalg.norm(twist[:, 3:], axis=1), np.linalg.norm(twist[:, :3], axis=1)

    def has_reached(self, pose):
        """Assert that the link is there."""
        np.testing.assert_allclose(ROBOT.link_pose(self.motion[-1][0], LINK), pose, rtol=0.0, atol=1e-6)


def progress(t):
    """Return how much of a motion of minimum jerk is over at t, and its rate."""
    s = np.clip(t / DURATION, 0.0, 1.0)
    return 10 * s**3 - 15 * s**4 + 6 * s**5, 30 * s**2 * (1 - s) ** 2 / DURATION


@pytest.mark.compiled
@pytest.mark.parametrize('rate', matrix([10.0, 31.25, 62.5, 125.0, 250.0], [10.0, 125.0]))
def test_along_poses_of_a_smooth_motion_the_link_has_its_speed(rate):
    """Later by a constant lag, to 5 % of the largest speed."""
    arm = PosedArm()
    shares = progress(np.arange(0.0, DURATION + 0.3, 1.0 / rate))[0]
    arm.follow([moved(share * AWAY, share * TURN) for share in shares], rate)
    arm.rest(1.0)
    found, t = arm.speeds()[0], (np.arange(len(arm.motion)) + 1) * TICK * 1e-9
    of_motion = np.linalg.norm(AWAY) * progress(t[:, None] - np.arange(0.0, 0.3, 0.004))[1]
    assert np.abs(found[:, None] - of_motion).max(axis=0).min() < 0.05 * of_motion.max()
    arm.has_reached(moved(AWAY, TURN))


@pytest.mark.compiled
@pytest.mark.parametrize('rate', matrix([31.25, 62.5, 250.0], [31.25, 62.5]))
def test_led_by_a_velocity_the_link_has_it_and_comes_to_rest_where_it_ends(rate):
    arm, twist = PosedArm(), np.append(TURN, AWAY) / DURATION
    arm.move(twist, 1.5, rate)
    speeds = arm.speeds()
    for found, expected in zip(speeds, (twist[3:], twist[:3]), strict=True):
        steady = found[round(0.7 * len(found)) :]
        assert np.abs(steady - np.linalg.norm(expected)).max() < 0.05 * np.linalg.norm(expected)
    arm.rest(0.5)
    assert arm.speeds()[0][-1] < 1e-6
    # the first velocity moves nothing yet
    arm.has_reached(moved(*(np.split(twist, 2)[k] * (round(1.5 * rate) - 1) / rate for k in (1, 0))))


@pytest.mark.compiled
@pytest.mark.parametrize('direction', [pytest.param((1.0, 0.0, 0.0), marks=pytest.mark.slow), (0.0, 0.0, 1.0)])
def test_a_stream_ends_before_a_singular_position_that_it_could_not_rest_at(direction):
    """The arm is stretched straight out at the speed limit: its elbow does not pass, and the link stays on its line."""
    arm, towards = PosedArm(tolerance=0.3, heavier=1.0), np.array(direction)
    refused = 0
    for k in range(250):
        try:
            arm.follow([moved(0.004 * k * towards, REST[:3])], 62.5)
        except ArgumentError:
            refused += 1
            arm.rest(0.016)
    arm.rest(1.0)
    assert refused > 10
    assert arm.speeds()[0].max() < 1.4 * SPEED[0] and arm.speeds()[1].max() < 0.3 * SPEED[1]
    places = ROBOT.link_pose(np.array(arm.motion)[:, 0], LINK)[:, :3, 3] - FIRST[:3, 3]
    beside = places - np.outer(places @ towards, towards)
    assert np.linalg.norm(beside, axis=1).max() < 0.01 and (places @ towards).max() > 0.05
    assert (np.sign(np.array(arm.motion)[:, 0, 2]) == np.sign(AT[2])).all()  # of the elbow


@pytest.mark.compiled
@pytest.mark.parametrize(('rate', 'speed'), crossed([31.25, 125.0], [(0.25, 1.0), (0.05, 0.2)]))
def test_a_stream_that_passes_a_singular_position_ends_before_joints_are_left_behind(rate, speed):
    """Obliquely past that of the wrist: the fourth joint would swing by a radian, and lead the link aside."""
    arm, twist = (
        LedArm(ROBOT, [0.1015, -0.317, 1.5292, 0.2193, 0.2059, 0.2102], speed),
        [-0.1415, 0.0496, 0.0964, -0.0647, 0.0419, 0.0638],
    )
    arm.lead(twist, 2.8, rate, ramp=0.6)
    end = arm.motion[-1][0].copy()
    arm.rest(2.0)
    assert len(arm.refused) > 10 and 'near a singular position: a joint has 5' in arm.refused[0]
    assert arm.speeds().max() < 1.4 * np.linalg.norm(twist[3:]) and arm.beside(twist[3:]) < 0.01
    np.testing.assert_allclose(arm.motion[-1][0], end, atol=1e-9)


PAST_THE_SHOULDER = [-0.0024, 0.4458, 0.7979, -1.2005, -1.0367, 0.409]


@pytest.mark.compiled
@pytest.mark.parametrize('speed', matrix([0.03, 0.1], [0.1]))
def test_a_stream_that_was_refused_does_not_go_on_behind_a_singular_position(speed):
    arm, along = LedArm(ROBOT, PAST_THE_SHOULDER), np.array([-0.947, 0.318, 0.0457])
    arm.lead([0.0, 0.0, 0.0, *speed * along], 0.193 / speed, 31.25)
    arm.rest(0.2)
    assert arm.speeds().max() < 1.4 * speed and arm.beside(along) < 0.01
    assert arm.refused[-1].startswith('poses before it were refused, and it is too far away to go on with them; wait')
    # one by itself leads there, and no stamp of before
    behind, refused = arm.pose(0.193 * along, REST[:3]), len(arm.refused)
    arm.send(behind, -0.3)
    arm.send(behind)
    assert len(arm.refused) == refused + 2
    arm.rest(0.3)
    arm.send(behind)
    arm.rest(9.0)
    np.testing.assert_allclose(ROBOT.link_pose(arm.motion[-1][0], LINK), behind, atol=1e-6)
    # and a stream that comes back to where the arm is goes on
    arm = LedArm(ROBOT, PAST_THE_SHOULDER)
    for away in (0.05, *np.arange(0.02, 0.0, -0.002)):
        arm.send(arm.pose(away * along, REST[:3]))
        arm.rest(0.032)


@pytest.mark.compiled
@pytest.mark.parametrize('turning', [2.5, 4.0])
def test_a_joint_may_be_as_fast_as_the_link_needs(turning):
    arm = LedArm(ROBOT, AT, speed=(0.25, turning))
    arm.lead(2.2 * ROBOT.jacobian(AT, LINK)[:, 5], 1.0, 125.0)  # of 3.1 rad/s
    assert not arm.refused and np.array(arm.motion)[-50:, 1, 5].min() > 2.1


@pytest.mark.compiled
@pytest.mark.parametrize(('after', 'is_far'), [(0.1, False), (2.0, False), (0.1, True), (2.0, True)])
def test_poses_that_end_while_no_states_come_lead_nowhere(after, is_far):
    """They go on for 0.2 s of a pause, and the arm stands; what is said is that the motion was dropped."""
    arm = PosedArm(tolerance=0.3, heavier=1.0)
    if not is_far:
        arm.move(np.append(REST[:3], AWAY / DURATION), 1.0, 62.5)
    for k in range(12):
        pose = FAR if is_far else moved(AWAY / DURATION * (1.0 + 0.016 * k), REST[:3])
        arm._send(pose, arm._reference())
        arm.arm.now += 16_000_000
    arm.arm.qd, q = REST.copy(), arm.arm.q.copy()
    arm.arm.now += round((0.25 + after) * SECOND)
    arm.rest(1.0)
    assert len(arm.arm.told) == 1 and arm.arm.told[0].startswith(
        'trajectory dropped: it was to lead the arm while no joint'
    )
    assert np.abs(arm.arm.q - q).max() < 0.01


@pytest.mark.compiled
@pytest.mark.parametrize('rate', matrix([1, 10, 125], [10]))
def test_a_pose_far_away_is_reached_at_the_stated_speed_within_the_limits(rate):
    """Half a metre and 90 degrees from one message to the next; the pose comes again and again."""
    arm = PosedArm()
    arm.follow([FIRST] + [FAR] * 8 * rate, rate)
    for found, limit in zip(arm.speeds(), SPEED, strict=True):
        assert found.max() < limit
    assert arm.speeds()[1].max() > 0.7 * SPEED[1]
    arm.has_reached(FAR)
    motion = np.array(arm.motion)
    assert (np.abs(motion[:, 2]) <= 1.01 * LIMITS[1]).all()
    h = TICK * 1e-9
    assert (np.abs(np.diff(motion[:, 1], axis=0)) <= 1.01 * h * LIMITS[1]).all()


@pytest.mark.compiled
def test_one_pose_far_away_is_enough():
    arm = PosedArm()
    arm.follow([FAR], 250)
    arm.rest(8.0)
    assert [found.max() < limit for found, limit in zip(arm.speeds(), SPEED, strict=True)] == [True, True]
    arm.has_reached(FAR)


@pytest.mark.compiled
@pytest.mark.parametrize('pause', [0.04, 0.4, 0.9])
def test_a_pause_of_the_states_makes_the_way_later_and_no_faster(pause):
    """The arm stands meanwhile, as where its brakes close; at its first state it is led to where it was."""
    arm = PosedArm(tolerance=0.3, heavier=1.0)
    arm.follow([FAR], 250)
    arm.rest(1.2)
    led, arm.arm.qd = arm.arm.desired[0].copy(), REST.copy()
    arm.arm.now += round(pause * SECOND)
    arm.rest(TICK / SECOND)
    assert np.abs(arm.arm.desired[0] - led).max() < 0.01
    if pause > 0.1:  # a pose that came before the pause was over
        arm.follow([FAR], 250)
        arm.arm.now += round(pause * SECOND)
    arm.rest(8.0)
    for found, limit in zip(arm.speeds(), SPEED, strict=True):
        assert found.max() < 1.05 * limit
    steps = np.diff(np.array(arm.motion)[:, 0], axis=0) / (TICK / SECOND)
    assert (np.abs(steps) <= 1.01 * OF_JOINTS[0]).all()
    arm.has_reached(FAR)


@pytest.mark.compiled
@pytest.mark.parametrize('behind', [0.03, 0.15, 0.6])
def test_a_pose_that_changes_on_the_way_is_reached_at_the_stated_speed(behind):
    arm = PosedArm()
    there, back = (
        moved([-0.1, 0.35, 0.0], REST[:3]),
        moved([-0.1 * (0.4 - behind), 0.35 * (0.4 - behind), 0.0], REST[:3]),
    )
    arm.follow([FIRST, there], 125)
    arm.rest(1.2)
    arm.follow([back], 125)
    arm.rest(8.0)
    assert [found.max() < 1.05 * limit for found, limit in zip(arm.speeds(), SPEED, strict=True)] == [True, True]
    arm.has_reached(back)


@pytest.mark.compiled
@pytest.mark.parametrize('rate', matrix([4, 20, 50], [4, 20]))
def test_between_two_poses_in_turn_the_stated_speed_holds(rate):
    arm = PosedArm()
    ends = [moved([-0.1, side, 0.0], REST[:3]) for side in (0.3, -0.3)]
    arm.follow([FIRST, *ends * (2 * rate)], rate)
    arm.rest(9.0)
    assert [found.max() < 1.05 * limit for found, limit in zip(arm.speeds(), SPEED, strict=True)] == [True, True]
    arm.has_reached(ends[1])


@pytest.mark.compiled
@pytest.mark.parametrize(('away', 'speed'), [(0.0026, 0.02), (0.002, 0.02), (0.01, 0.1)])
def test_a_lone_pose_near_by_has_the_stated_speed_too(away, speed):
    arm = PosedArm()
    arm.stream = PoseStream(ROBOT, '', (speed, 1.0), OF_JOINTS)
    arm.follow([moved([0.0, away, 0.0], REST[:3])], 125)
    arm.rest(2.0)
    assert arm.speeds()[0].max() < 1.05 * speed
    arm.has_reached(moved([0.0, away, 0.0], REST[:3]))


@pytest.mark.compiled
def test_from_any_motion_a_way_is_no_faster_than_it_begins_or_the_stated_speed():
    rng, stream, state = np.random.default_rng(1), PoseStream(ROBOT, '', SPEED, OF_JOINTS), np.empty((3, 6))
    tried = 0
    for _ in range(150):
        first = AT + rng.uniform(-0.3, 0.3, 6)
        before = stream.points(ROBOT.link_pose(first + rng.uniform(-0.6, 0.6, 6), LINK), at_rest(first))
        Trajectory(*before).sample(rng.uniform() * before.times[-1], *state)
        way = stream.points(ROBOT.link_pose(state[0] + rng.uniform(-0.5, 0.5, 6), LINK), state)
        if len(way.times) < 2:
            continue
        tried += 1
        q, qd = sampled(Trajectory(*way), way.times[1] / 200.0)[1:3]
        twist = (ROBOT.jacobian(q, LINK) @ qd[..., None])[..., 0]
        for speeds, limit in zip((twist[:, 3:], twist[:, :3]), SPEED, strict=True):
            found = np.linalg.norm(speeds, axis=1)
            assert found.max() < 1.05 * max(limit, found[0])
    assert tried > 100


def test_an_arm_without_velocity_limits_has_a_way_too():
    times, positions, *_ = PoseStream(ROBOT, '', SPEED, (FREE, FREE)).points(FAR, at_rest(AT))
    assert times[1] > 1.0 and positions[0].tolist() == AT.tolist()


@pytest.mark.compiled
def test_the_way_to_poses_that_move_on_is_caught_up():
    arm, shares = PosedArm(), np.linspace(0.0, 1.0, 400)
    arm.follow([moved([-0.3, 0.0, 0.4 - 0.08 * share], [0.0, 0.0, 0.5 * np.pi]) for share in shares], 50)
    arm.rest(2.0)
    for found, limit in zip(arm.speeds(), SPEED, strict=True):
        assert found.max() < 1.1 * limit
    arm.has_reached(moved([-0.3, 0.0, 0.32], [0.0, 0.0, 0.5 * np.pi]))


def test_a_joint_that_has_far_to_go_for_a_near_pose_takes_its_time():
    """The last link turns by 2.5 rad, and may do so at any speed."""
    stream, q = PoseStream(ROBOT, '', (100.0, 100.0), (OF_JOINTS[0], FREE)), AT - 0.3 * np.eye(6)[4]
    turned = q + 2.5 * np.eye(6)[5]
    times, (_, found), *_ = stream.points(ROBOT.link_pose(turned, LINK), at_rest(q))
    assert times[1] == pytest.approx(1.875 * (np.abs(found - q) / ROBOT.limits.velocity).max()) and times[1] > CAUGHT_UP


def test_the_posture_stays_that_of_the_first_pose():
    arm = seven_joints()
    link, q = arm.link_names[-1], np.full(7, 0.6)
    stream, first = PoseStream(arm, link, SPEED, (np.full(7, 2.0), np.full(7, np.inf))), arm.link_pose(q, link)
    for angle in np.linspace(0.0, 4.0 * np.pi, 80):
        pose = first.copy()
        pose[:3, 3] += 0.1 * np.array([np.cos(angle) - 1.0, np.sin(angle), 0.0])
        q = stream.points(pose, at_rest(q)).positions[-1]
    np.testing.assert_allclose(q, 0.6, rtol=0.0, atol=1e-6)
    stream.begin_anew()
    q = q + np.linalg.svd(arm.jacobian(q, link))[2][-1] * 0.1  # pushed aside; the link stays almost
    found = stream.points(arm.link_pose(q, link), at_rest(q))
    np.testing.assert_allclose(found.positions, [q], rtol=0.0, atol=1e-9)


def test_a_pose_beyond_reach_is_refused():
    with pytest.raises(ArgumentError, match=r"^'wrist3_Link' does not reach the pose"):
        PoseStream(ROBOT, '', SPEED, OF_JOINTS).points(moved([3.0, 0.0, 0.0], REST[:3]), at_rest(AT))
