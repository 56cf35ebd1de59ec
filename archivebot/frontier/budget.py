"""The budgets in a frontier: the number of URLs charged to each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from archivebot.frontier.base import Charge

if TYPE_CHECKING:
    from archivebot.frontier.file import FrontierFile

# What the functions below do, for a Redis server: see archivebot.frontier.scripts.
SCRIPTS = {
    # For each URL its id, the number of its budgets, and for each of these its name and how many it has room
    # for. Returns for each URL the place of the first budget that is spent, or 0. A URL that was counted
    # stays in CHARGED until it is added: two workers may meet it before either adds it.
    "charge": """
local function act()
  local full, i = {}, 4
  while i <= #ARGV do
    local known, last, spent = load(ARGV[i]), i + 2 * tonumber(ARGV[i + 1]), 0
    local counts = not known or known[STATE] == 'rejected'
    if counts and redis.call('SISMEMBER', CHARGED, ARGV[i]) == 0 then
      for at = i + 2, last, 2 do
        if spent == 0 and tonumber(redis.call('HGET', BUDGET, ARGV[at]) or 0) >= tonumber(ARGV[at + 1]) then
          spent = (at - i) / 2
        end
      end
      if spent == 0 then
        for at = i + 2, last, 2 do redis.call('HINCRBY', BUDGET, ARGV[at], 1) end
        redis.call('SADD', CHARGED, ARGV[i])
      end
    end
    full[#full + 1] = spent
    i = last + 2
  end
  return full
end
""",
    # The name, the count.
    "spend": """
local function act() return redis.call('HINCRBY', BUDGET, ARGV[4], ARGV[5]) end
""",
}


def charge(file: FrontierFile, crawl: int, charges: Sequence[Charge]) -> str:
    """Charge a URL to all its budgets, or return the reason of the first budget that is spent."""
    for each in charges:
        row = file.one("SELECT spent FROM budget WHERE crawl = ? AND name = ?", crawl, each.name)
        if row and row[0] >= each.most:
            return each.reason
    for each in charges:
        spend(file, crawl, each.name, 1)
    return ""


def spend(file: FrontierFile, crawl: int, name: str, count: int) -> None:
    """Charge an amount to a budget."""
    file.change(
        "INSERT INTO budget (crawl, name, spent) VALUES (?, ?, ?)"
        " ON CONFLICT DO UPDATE SET spent = spent + excluded.spent",
        crawl,
        name,
        count,
    )
