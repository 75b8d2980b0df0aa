"""The real robot: an arm with a pen that plays on a touch screen, its protocol, and its twin."""
