"""Studies: many runs from one file, trained and evaluated side by side; each run's directory is all
that is known of it."""
