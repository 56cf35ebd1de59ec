"""The stages every fetched page goes through: Page, Snapshot, Capture."""
