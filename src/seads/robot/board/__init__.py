"""The board on a touch screen: who owns it, the page that shows it, and what touches it."""
