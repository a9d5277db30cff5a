"""How public URDFs state closed loops: elements that close one, joints that mimic others, joints with a motor."""
