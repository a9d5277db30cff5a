"""Publishes joint states of an arm that does not move, as a process of its own: ``state_publisher.py RATES NAME ...``.

RATES are states per second with commas between. The first one is kept until standard input ends, then each of them for
``--seconds``; of these ``--drop`` is the share that is not sent, and ``--pause`` (s) a pause after every 20 of them.
"""

import argparse
import random
import select
import sys
import time

import rclpy
from sensor_msgs.msg import JointState

POSITION = 0.3
"""Of all joints, rad."""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('rates')
    parser.add_argument('names', nargs='+')
    parser.add_argument('--seconds', type=float, default=1.0)
    parser.add_argument('--drop', type=float, default=0.0)
    parser.add_argument('--pause', type=float, default=0.0)
    arguments = parser.parse_args()
    rates = [float(rate) for rate in arguments.rates.split(',')]
    rclpy.init()
    node = rclpy.create_node('state_publisher')
    publisher = node.create_publisher(JointState, 'joint_states', 1000)
    count = len(arguments.names)
    message = JointState(name=arguments.names, position=[POSITION] * count, velocity=[0.0] * count)

    def publish():
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(time.time_ns(), 1_000_000_000)
        publisher.publish(message)

    while not select.select([sys.stdin], [], [], 1.0 / rates[0])[0]:
        publish()
    chance = random.Random(0)
    due = time.monotonic()
    for rate in rates:
        for k in range(int(rate * arguments.seconds)):
            due += 1.0 / rate + (arguments.pause if k % 20 == 19 else 0.0)
            time.sleep(max(0.0, due - time.monotonic()))
            if chance.random() >= arguments.drop:
                publish()
    # what was sent last may still be on its way
    publisher.wait_for_all_acked()
    node.destroy_node()
    rclpy.shutdown()


if __name__ == '__main__':
    main()
