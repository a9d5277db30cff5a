"""Rules that the outputs of the nodes must keep under any input; doc/concepts/safety.md and others describe them."""

RULES = {
    'CALLBACK': 'no exception leaves a callback, none needs its last net, the internal error, and no transition fails',
    'WHOLE': 'a torque is finite, of every joint, within the effort limits, and the same on all topics',
    'ONCE': 'a state gets at most one torque, with its stamp; nothing else gets one, and stamps do not go back',
    'REJECTED': 'no torque for a state that is incomplete, too old, from the future or out of order, for positions '
    'beyond the limits, or by velocities that cannot be right',
    'TERMS': 'a torque is the sum of the documented terms, each once, along a motion that may be followed, or holds '
    'the arm, with a payload and gravity that may be in force',
    'PUBLISHED': 'a usable state gets a torque where nothing that the torque needs is missing',
    'RATE': 'a torque differs from the last one by at most the rate limit times the time since then',
    'TIMEOUT': 'without states nothing is published, or what on_stale says, once the age limit is over',
    'DIAGNOSED': 'diagnostics are OK only where a torque was published within 1 s, and otherwise say why none is',
    'PROMPT': 'a state costs little time, and nothing is compiled in a callback',
    'PAYLOAD KNOWN': 'no torque before payload and gravity are known',
    'DEACTIVATED': 'a node ends with what on_deactivate says, then publishes nothing and refuses trajectories',
    'SKIPPED': 'states of other joints alone are skipped while those of the arm come, and rejected by name otherwise',
    'SERVED': 'a good request is served, a wrong one is refused, and numbers have their shape',
    'LOADED': 'the server publishes the payload and gravity that it accepts, without a step, and computes with them',
    'DESCRIBED': 'a node is the robot that was described last, or says why it is none',
}
BROKEN = {
    'REFUSED': 'a wrong trajectory, payload or gravity is refused by name, and a good payload or gravity is not',
    'SET': 'a parameter is set as it was sent or refused with a reason, and the node is configured or says why not',
    'MEMORY': 'memory is flat',
}
"""Under random and broken messages, too."""
