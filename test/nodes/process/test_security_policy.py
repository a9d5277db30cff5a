"""config/security: what each node may do on a secured graph is what it does on this one, no less and no more.

The nodes run without security here: the middleware that pip installs is built without it.
"""

import os
from pathlib import Path
from xml.etree import ElementTree

from support.nodes import graph as ros
from support.nodes import topics
from support.nodes.own_domain import free_domain
from support.nodes.payload_gravity_followers import set_payload

import pytest
import rclpy
from geometry_msgs.msg import Vector3, Vector3Stamped

from robot_dynamics_interfaces.srv import SetGravity
from robot_dynamics_ros.nodes.executables.bringup import NODES
from robot_dynamics_ros.nodes.inputs.trajectory_action import FollowJointTrajectory
from robot_dynamics_ros.nodes.process.server_process import DEFAULT

POLICY = Path(__file__).resolve().parents[3] / 'config' / 'security' / 'policy.xml'
INCLUDE = '{http://www.w3.org/2001/XInclude}include'

# SROS2's policy.xsd, version 0.2.0: what an element may hold, and its attributes with their values (None: any).
ALLOW = ('ALLOW', 'DENY')
SCHEMA = {
    'policy': (('enclaves',), {'version': ('0.2.0',)}),
    'enclaves': (('enclave',), {}),
    'enclave': (('profiles',), {'path': None}),
    'profiles': (('profile',), {}),
    'profile': (('topics', 'services', 'actions'), {'ns': None, 'node': None}),
    'topics': (('topic',), {'publish': ALLOW, 'subscribe': ALLOW}),
    'services': (('service',), {'reply': ALLOW, 'request': ALLOW}),
    'actions': (('action',), {'call': ALLOW, 'execute': ALLOW}),
    'topic': ((), {}),
    'service': ((), {}),
    'action': ((), {}),
}
MAY_BE_MISSING = {'topics', 'services', 'actions'}  # attributes of these
QUERIES = {  # how a policy calls it: how a node is asked what a node does
    'topics publish': 'get_publisher_names_and_types_by_node',
    'topics subscribe': 'get_subscriber_names_and_types_by_node',
    'services reply': 'get_service_names_and_types_by_node',
    'services request': 'get_client_names_and_types_by_node',
}
ACTION = {'topics publish': ('feedback', 'status'), 'services reply': ('send_goal', 'cancel_goal', 'get_result')}
"""What a node does that executes an action."""


def expanded(path: Path) -> ElementTree.Element:
    """Return the root of a file with its inclusions: whole documents, or what their profile holds."""
    root = ElementTree.parse(path).getroot()
    for parent in list(root.iter()):
        children = []
        for child in parent:
            if child.tag != INCLUDE:
                children.append(child)
                continue
            assert child.get('xpointer') in (None, 'xpointer(/profile/*)'), 'another inclusion than this test knows'
            included = expanded(path.parent / child.attrib['href'])
            children += included if child.get('xpointer') else [included]
        parent[:] = children
    return root


def enclaves() -> dict[str, list[ElementTree.Element]]:
    """Return the profiles of each enclave by the name of the executable."""
    return {
        enclave.attrib['path'].removeprefix('/robot_dynamics_ros/'): enclave.findall('profiles/profile')
        for enclave in expanded(POLICY).findall('enclaves/enclave')
    }


def resolved(name: str, profile) -> str:
    """Return a name as a graph has it."""
    namespace, node = profile.attrib['ns'].rstrip('/'), profile.attrib['node']
    if name.startswith('/'):
        return name
    return f'{namespace}/{node}{name[1:]}' if name.startswith('~') else f'{namespace}/{name}'


def allowed(profile) -> dict[str, list[str]]:
    """Return the names that a profile allows, for each of ``QUERIES``."""
    found: dict[str, list[str]] = {query: [] for query in QUERIES}
    for rule in profile:
        names = [resolved(element.text, profile) for element in rule]
        if rule.tag == 'actions':
            assert rule.attrib == {'execute': 'ALLOW'}, 'another rule for actions than this test knows'
            for query, endpoints in ACTION.items():
                found[query] += [f'{name}/_action/{endpoint}' for name in names for endpoint in endpoints]
            continue
        for what in rule.attrib:
            found[f'{rule.tag} {what}'] += names
    return found


@pytest.mark.parametrize('path', sorted(POLICY.parent.glob('*.xml')), ids=lambda path: path.name)
def test_every_file_is_what_the_schema_allows(path):
    root = expanded(path)
    assert root.tag == ('policy' if path == POLICY else 'profile')
    for element in root.iter():
        children, attributes = SCHEMA[element.tag]
        assert {child.tag for child in element} <= set(children)
        assert (len(element) > 0) == bool(children), f'<{element.tag}> holds nothing'
        assert set(element.attrib) <= set(attributes) and (element.attrib or not attributes)
        assert set(element.attrib) == set(attributes) or element.tag in MAY_BE_MISSING
        for name, value in element.attrib.items():
            assert attributes[name] is None or value in attributes[name]
        if not children:
            assert element.text == element.text.strip() and element.text[0] in '/~abcdefghijklmnopqrstuvwxyz'


def test_nothing_is_denied_or_left_to_wildcards():
    """Whatever no rule allows is denied; a rule names one thing."""
    for element in expanded(POLICY).iter():
        assert 'DENY' not in element.attrib.values()
        assert element.tag not in ('topic', 'service', 'action') or '*' not in element.text


def test_each_executable_has_an_enclave_of_its_own_with_its_own_node():
    profiles = {name: [profile.attrib['node'] for profile in found] for name, found in enclaves().items()}
    assert profiles == {**{node: [node] for node in NODES}, 'bringup': [*DEFAULT]}


def test_no_name_is_allowed_twice():
    for profile, *_ in enclaves().values():
        for query, names in allowed(profile).items():
            assert len(names) == len(set(names)), (profile.attrib['node'], query)


@pytest.fixture(scope='module')
def running():
    """The nodes by name, all active in this process: a participant knows its own endpoints without discovery.

    /clock belongs to simulated time. The domain is their own: a graph has a killed node for 20 s more, and a question
    by name may be answered for that one.
    """
    context = rclpy.Context()
    domain, lock = free_domain()
    # without a stated meaning of efforts dynamics_server does not listen to joint_states
    simulated = ('-p', 'use_sim_time:=true', '-p', 'aubo_node:use_sim_time:=false')  # it refuses simulated time
    context.init(args=[*ros.AUBO_I5, *simulated, '-p', 'effort:=torque'], domain_id=domain)
    nodes = {name: node(context=context) for name, node in NODES.items()}
    for name in sorted(nodes, key=lambda name: name != 'dynamics_server'):
        nodes[name].start()
        assert nodes[name].active, nodes[name].silence
    restart_with_nothing_set(nodes['dynamics_server'])
    yield nodes
    for node in nodes.values():
        node.end()
        node.destroy_node()
    context.try_shutdown()
    os.close(lock)


def restart_with_nothing_set(server):
    """Have the nodes publish the payload and gravity that they hold: the server is told nothing after its restart."""
    set_payload(server, 1.0)
    gravity = SetGravity.Request(gravity=Vector3Stamped(vector=Vector3(y=9.81)))
    server.task.payload_gravity.set_gravity(gravity, SetGravity.Response())
    server.trigger_deactivate()
    server.trigger_cleanup()
    server.start()


def test_topics_have_the_types_that_screens_are_compared_with(running):
    found = {}
    for name, node in running.items():
        for query in (node.get_publisher_names_and_types_by_node, node.get_subscriber_names_and_types_by_node):
            found.update({topic.removeprefix('/'): types for topic, types in query(name, '/')})
    own = {topic: [kind] for topic, kind in topics.TYPES.items() if topic not in topics.OF_OTHERS}
    assert {topic: types for topic, types in found.items() if topic in own} == own
    others = {'clock', 'parameter_events', 'rosout', *(f'{name}/transition_event' for name in running)}
    assert {topic for topic in found if '/_action/' not in topic} - others == set(own)


@pytest.mark.parametrize('name', NODES)
def test_policy_and_running_graph_agree(running, name):
    (profile,) = enclaves()[name]
    unused = {'/clock'} if name == 'aubo_node' else set()  # the policy of all nodes has it
    if FollowJointTrajectory is None:  # there is no action without control_msgs
        unused |= {name for names in allowed(profile).values() for name in names if '/_action/' in name}
    differences = []
    for query, names in allowed(profile).items():
        used = {used for used, _ in getattr(running[name], QUERIES[query])(name, '/')}
        differences.extend(f'{name} does, its policy lacks: {query} {one}' for one in sorted(used - set(names)))
        differences.extend(
            f'{name} does not, its policy has: {query} {one}' for one in sorted(set(names) - used - unused)
        )
    assert not differences, 'config/security:\n' + '\n'.join(differences)
