"""Contracts: test classes that every back end of one protocol runs."""

import pytest

pytest.register_assert_rewrite("tests.contracts.store")
