"""How other joints follow the driven ones: multipliers of mimic joints, and closed loops."""
