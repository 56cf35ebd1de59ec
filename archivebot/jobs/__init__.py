"""Jobs over a whole archive: functions that return values and print nothing."""
