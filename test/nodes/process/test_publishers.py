"""Nodes that publish a topic: each is named once, however many publishers it has for a while."""

import pytest
from std_msgs.msg import Header

from robot_dynamics_ros.nodes.lifecycle.base_node import BaseNode
from robot_dynamics_ros.nodes.process.publishers import (
    UNKNOWN,
    command_warnings,
    nodes_that_publish,
    publishers_of,
    several,
    subscribers_of,
)

TOPIC = 'held'


def seen_by(process, node, count, of=publishers_of):
    process.spin_until(lambda: len(of(node, TOPIC)) == count and UNKNOWN not in dict(of(node, TOPIC)).values(), count)
    return [name for _, name in of(node, TOPIC)]


def test_a_node_with_two_is_one_and_nodes_of_one_name_in_two_processes_are_two(process, other_process):
    looking, twice = process.node(BaseNode, name='looking'), process.node(BaseNode, name='arm', namespace='left')
    for _ in range(2):
        twice.create_publisher(Header, f'/{TOPIC}', 1)
    assert seen_by(process, looking, 2) == ['/left/arm', '/left/arm']
    assert seen_by(process, looking, 1, nodes_that_publish) == ['/left/arm']
    other = other_process.node(BaseNode, name='arm', namespace='left')
    other.create_publisher(Header, f'/{TOPIC}', 1)
    assert seen_by(process, looking, 2, nodes_that_publish) == ['/left/arm', '/left/arm']
    other.create_subscription(Header, f'/{TOPIC}', print, 1)
    assert seen_by(process, looking, 1, subscribers_of) == ['/left/arm']
    assert subscribers_of(looking, TOPIC)[0] in publishers_of(looking, TOPIC)


def test_several_are_named_in_the_order_of_their_names(process):
    looking = process.node(BaseNode, name='looking')
    process.node(BaseNode, name='b').create_publisher(Header, TOPIC, 1)
    assert seen_by(process, looking, 1) == ['/b']
    assert command_warnings(looking, TOPIC, 'wrench') == []
    process.node(BaseNode, name='a').create_publisher(Header, TOPIC, 1)
    assert seen_by(process, looking, 2) == ['/a', '/b']
    said = '2 publishers of held (/a, /b)'
    assert several(publishers_of(looking, TOPIC), TOPIC) == said
    assert command_warnings(looking, TOPIC, 'wrench') == [
        f'{said}: the newest wrench counts, whoever sent it; stop the others'
    ]


@pytest.mark.parametrize('name', ['', '_NODE_NAME_UNKNOWN_'])
def test_nodes_without_a_name_yet_are_counted_each(name):
    class Looking:
        def resolve_topic_name(self, topic):
            return f'/{topic}'

        def get_publishers_info_by_topic(self, topic):
            assert topic == f'/{TOPIC}'
            return [type('', (), {'node_name': name, 'node_namespace': '/', 'endpoint_gid': [7] * 24})] * 2

    assert nodes_that_publish(Looking(), TOPIC) == [(bytes([7] * 12), UNKNOWN)] * 2
