"""Work over a whole archive: functions over parts of it that return values and print nothing."""
