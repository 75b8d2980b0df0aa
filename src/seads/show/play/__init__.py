"""The page of `seads play`: a board in the browser, and an agent that solves it."""
