"""Scheduling: requests go into a frontier and come out as leases, at the pace of each host."""
