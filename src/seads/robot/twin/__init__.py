"""The arm's twin: firmware, joints, pen and tablet in virtual time, on a pseudo-terminal."""
