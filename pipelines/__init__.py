"""The stages that every fetched page passes: Page, Snapshot, Capture."""
