"""The Lua scripts of the Redis frontier; each is executed atomically.

Each script is the common part followed by its own part. The call number makes a repetition safe after a
broken connection: the call is not executed twice, only its answer is repeated.
"""

from __future__ import annotations

from archivebot.frontier import budget
from archivebot.frontier.base import EXTRA, LOOK

MEMORY = 3600  # seconds that the last answer to an owner is kept, for calls repeated after a restart

# The positions of an entry's values, all of them strings.
FIELDS = (
    "url", "host", "score", "request", "source", "distance", "parts", "reason",
    "state", "place", "order", "since", "owner", "answered", "relevance", "relevant", "note",
)  # fmt: skip

COMMON = (
    "\n".join(f"local {name.upper()} = {number}" for number, name in enumerate(FIELDS, 1))
    + f"\nlocal LOOK, EXTRA, LEAST = {LOOK}, {EXTRA:.0f}, '({-EXTRA:.0f}'"
    + """
local prefix, owner, now = KEYS[1], ARGV[1], tonumber(ARGV[3])
local CRAWL, ENTRIES, HOSTS = prefix .. 'crawl', prefix .. 'entries', prefix .. 'hosts'
local READY, WAITING, BUSY = prefix .. 'ready', prefix .. 'waiting', prefix .. 'busy'
local OWNERS, FOLLOWED, BUDGET = prefix .. 'owners', prefix .. 'followed', prefix .. 'budget'
local CHARGED, ARRIVED = prefix .. 'charged', prefix .. 'arrived'
local REPLY = prefix .. 'reply:' .. owner
local touched = {}

local function host_key(host) return prefix .. 'host:' .. host end
local function queue_key(host) return prefix .. 'queue:' .. host end
local function leases_key(name) return prefix .. 'leases:' .. name end
local function exact(number) return string.format('%.17g', number) end

local function load(id)
  local text = redis.call('HGET', ENTRIES, id)
  return text and cjson.decode(text)
end

local function count(name, host, by)
  redis.call('HINCRBY', CRAWL, name, by)
  redis.call('HINCRBY', host_key(host), name, by)
end

-- Take an entry out of all that follows from its state; put() enters it there again.
local function take(id, entry)
  local state, host = entry[STATE], entry[HOST]
  count(state, host, -1)
  if state == 'queued' then redis.call('ZREM', queue_key(host), entry[PLACE] .. id) end
  if state == 'leased' then redis.call('SREM', leases_key(entry[OWNER]), id) end
  if redis.call('SREM', ARRIVED, id) == 1 then redis.call('HINCRBY', host_key(host), 'arrived', -1) end
  if state == 'done' and entry[ANSWERED] ~= '' then count('answered', host, -1) end
  touched[host] = true
end

local function put(id, entry)
  local state, host = entry[STATE], entry[HOST]
  count(state, host, 1)
  if state == 'queued' then
    redis.call('ZADD', queue_key(host), exact(-tonumber(entry[SCORE])), entry[PLACE] .. id)
  end
  if state == 'leased' then redis.call('SADD', leases_key(entry[OWNER]), id) end
  if state == 'done' and entry[ANSWERED] ~= '' then count('answered', host, 1) end
  redis.call('HSET', ENTRIES, id, cjson.encode(entry))
  touched[host] = true
end

-- A new entry: what came as JSON, and the values that it gets here.
local function insert(id, entry, state)
  entry[STATE] = state
  entry[PLACE] = string.format('%016d', redis.call('HINCRBY', CRAWL, 'places', 1))
  for field = ORDER, NOTE do entry[field] = '' end
  redis.call('SADD', HOSTS, entry[HOST])
  put(id, entry)
end

-- Put a host where it stands now: without work, busy, waiting for its delay as well, or ready.
local function file(host)
  local key = host_key(host)
  local queued, leased, arrived, concurrency, ready_at, place = unpack(
    redis.call('HMGET', key, 'queued', 'leased', 'arrived', 'concurrency', 'ready_at', 'place'))
  if place then
    redis.call('ZREM', READY, place)
    redis.call('HDEL', key, 'place')
  end
  redis.call('ZREM', WAITING, host)
  redis.call('ZREM', BUSY, host)
  if tonumber(queued or 0) == 0 then return end
  local first = redis.call('ZRANGE', queue_key(host), 0, 0, 'WITHSCORES')
  local free = tonumber(leased or 0) - tonumber(arrived or 0) < tonumber(concurrency or 1)
  if free and tonumber(ready_at or 0) <= now then
    place = string.sub(first[1], 1, 16) .. host
    redis.call('ZADD', READY, first[2], place)
    redis.call('HSET', key, 'place', place)
    return
  end
  redis.call('ZADD', BUSY, first[2], host)
  if free then redis.call('ZADD', WAITING, ready_at, host) end
end

local function put_back(name)
  local ids = redis.call('SMEMBERS', leases_key(name))
  for _, id in ipairs(ids) do
    local entry = load(id)
    take(id, entry)
    entry[STATE], entry[OWNER] = 'queued', ''
    put(id, entry)
  end
  redis.call('ZREM', OWNERS, name)
  return #ids
end

-- Put back the leases of owners given by name and last beat, unless they gave a sign of life since.
local function reap(argument)
  local count = 0
  for i = argument, #ARGV, 2 do
    local beat = redis.call('ZSCORE', OWNERS, ARGV[i])
    if beat and tonumber(beat) == tonumber(ARGV[i + 1]) then count = count + put_back(ARGV[i]) end
  end
  return count
end

-- The archive of the crawl has come as far as this.
local function rely(position)
  if tonumber(position) > tonumber(redis.call('HGET', CRAWL, 'position') or 0) then
    redis.call('HSET', CRAWL, 'position', position)
  end
end

local function empty()
  local count = redis.call('HLEN', ENTRIES)
  for _, host in ipairs(redis.call('SMEMBERS', HOSTS)) do
    redis.call('UNLINK', host_key(host), queue_key(host))
  end
  for _, name in ipairs(redis.call('ZRANGE', OWNERS, 0, -1)) do redis.call('UNLINK', leases_key(name)) end
  redis.call('UNLINK', CRAWL, ENTRIES, HOSTS, READY, WAITING, BUSY, OWNERS)
  redis.call('UNLINK', FOLLOWED, BUDGET, CHARGED, ARRIVED)
  return count
end

local function reply(name)
  local text = redis.call('HGET', REPLY, name)
  local before = text and cjson.decode(text)
  return before and before[1] == ARGV[2] and before
end
"""
)

FIRST = """
local before = reply('{name}')
if before then return before[2] end
"""

EXISTS = """
if redis.call('EXISTS', CRAWL) == 0 then return redis.error_reply('GONE') end
"""

LAST = f"""
local answer = act()
for host in pairs(touched) do file(host) end
redis.call('HSET', REPLY, '{{name}}', cjson.encode({{{{ARGV[2], answer}}}}))
redis.call('EXPIRE', REPLY, {MEMORY})
return answer
"""

# By name; the comments list the arguments from the fourth on.
ACTS = {
    # The arguments of the crawl, its limit or nothing, the identity of the archive or nothing and its
    # position, those that are distrusted, names and last beats of owners to reap.
    "begin": """
local function act()
  reap(10)
  local ended, limit, answered, queued = unpack(
    redis.call('HMGET', CRAWL, 'ended', 'most', 'answered', 'queued'))
  local most, answered = tonumber(ARGV[5]), tonumber(answered or 0)
  local at_limit = limit and limit ~= '' and answered >= tonumber(limit)
  local goes_on = ended and (ended == '' or
    (at_limit and tonumber(queued or 0) > 0 and (not most or most > answered)))
  local archive, position = unpack(redis.call('HMGET', CRAWL, 'archive', 'position'))
  local is_other = archive and ARGV[6] ~= '' and archive ~= ARGV[6]
  if goes_on and (is_other or (archive == ARGV[8] and position == ARGV[9])) then
    if #redis.call('ZRANGE', OWNERS, 0, -1) > 0 then return 'shared' end
    goes_on = false
  end
  if not goes_on then
    empty()
    touched = {}
    redis.call('HSET', CRAWL, 'began', ARGV[3])
    redis.call('ZADD', KEYS[2], ARGV[3], KEYS[3])
  end
  redis.call('HSET', CRAWL, 'arguments', ARGV[4], 'most', ARGV[5], 'ended', '')
  if ARGV[6] ~= '' then redis.call('HSET', CRAWL, 'archive', ARGV[6]) rely(ARGV[7]) end
  return goes_on and 'old' or 'new'
end
""",
    # The reason.
    "end": """
local function act()
  redis.call('HSET', CRAWL, 'ended', ARGV[4])
  return 1
end
""",
    # Pairs of an id and an entry.
    "add": """
local function act()
  local new = 0
  for i = 4, #ARGV, 2 do
    local id, entry, known = ARGV[i], cjson.decode(ARGV[i + 1]), load(ARGV[i])
    redis.call('SREM', CHARGED, id)
    if not known then
      insert(id, entry, 'queued')
      new = new + 1
    elseif known[STATE] == 'rejected' or
        (known[STATE] == 'queued' and tonumber(entry[SCORE]) > tonumber(known[SCORE])) then
      take(id, known)
      for field = SCORE, REASON do known[field] = entry[field] end
      known[STATE] = 'queued'
      put(id, known)
    end
  end
  return new
end
""",
    # Pairs of an id and an entry.
    "reject": """
local function act()
  local new = 0
  for i = 4, #ARGV, 2 do
    if redis.call('HEXISTS', ENTRIES, ARGV[i]) == 0 then
      insert(ARGV[i], cjson.decode(ARGV[i + 1]), 'rejected')
      new = new + 1
    end
  end
  return new
end
""",
    **budget.SCRIPTS,
    # The host, the maximum of concurrent requests, the delay.
    "pace": """
local function act()
  local key = host_key(ARGV[4])
  local delay, ready_at = unpack(redis.call('HMGET', key, 'delay', 'ready_at'))
  redis.call('SADD', HOSTS, ARGV[4])
  redis.call('HSET', key, 'concurrency', ARGV[5], 'delay', ARGV[6],
    'ready_at', exact(tonumber(ready_at or 0) - tonumber(delay or 0) + tonumber(ARGV[6])))
  touched[ARGV[4]] = true
  return 1
end
""",
    # The page limit and the slack, each or nothing; the hold. Returns the entry, and the time of the first of
    # its lost leases.
    "lease": """
-- Scores are negated: a host is better where its score is below the bound.
local function is_worth_waiting(bound, hold)
  local better = redis.call('ZRANGEBYSCORE', BUSY, LEAST, '+inf', 'WITHSCORES', 'LIMIT', 0, LOOK)
  for i = 1, #better, 2 do
    if tonumber(better[i + 1]) >= bound then return false end
    local ready_at = tonumber(redis.call('HGET', host_key(better[i]), 'ready_at'))
    if math.abs(ready_at - now) <= hold then return true end
  end
  return false
end

local function act()
  local most, answered, leased = tonumber(ARGV[4]), unpack(redis.call('HMGET', CRAWL, 'answered', 'leased'))
  for _, host in ipairs(redis.call('ZRANGEBYSCORE', WAITING, '-inf', ARGV[3])) do file(host) end
  local place, score = unpack(redis.call('ZRANGE', READY, 0, 0, 'WITHSCORES'))
  local is_full = most and tonumber(answered or 0) + tonumber(leased or 0) >= most
  if not place or (is_full and -tonumber(score) < EXTRA) then return false end
  local slack = tonumber(ARGV[5])
  if slack and is_worth_waiting(tonumber(score) - slack, tonumber(ARGV[6])) then return false end
  local host = string.sub(place, 17)
  local id = string.sub(redis.call('ZRANGE', queue_key(host), 0, 0)[1], 17)
  local entry = load(id)
  local lost = entry[SINCE]
  take(id, entry)
  entry[STATE], entry[OWNER] = 'leased', owner
  entry[ORDER] = tostring(redis.call('HINCRBY', CRAWL, 'leases', 1))
  if lost == '' then entry[SINCE] = ARGV[3] end
  put(id, entry)
  redis.call('HSET', host_key(host), 'ready_at',
    exact(now + tonumber(redis.call('HGET', host_key(host), 'delay') or 0)))
  redis.call('ZADD', OWNERS, ARGV[3], owner)
  return {cjson.encode(entry), redis.call('SISMEMBER', FOLLOWED, id) == 1 and lost or ''}
end
""",
    # Ids.
    "mark_arrived": """
local function act()
  for i = 4, #ARGV do
    local entry = load(ARGV[i])
    if entry and entry[STATE] == 'leased' and entry[OWNER] == owner
        and redis.call('SADD', ARRIVED, ARGV[i]) == 1 then
      redis.call('HINCRBY', host_key(entry[HOST]), 'arrived', 1)
      touched[entry[HOST]] = true
    end
  end
  return 1
end
""",
    # Ids.
    "mark_followed": """
local function act()
  for i = 4, #ARGV do
    if redis.call('HEXISTS', ENTRIES, ARGV[i]) == 1 then redis.call('SADD', FOLLOWED, ARGV[i]) end
  end
  return 1
end
""",
    # The id, then the new values: state, answered, reason, relevance, relevant, note; the position.
    "settle": """
local function act()
  local id, entry = ARGV[4], load(ARGV[4])
  if not entry or entry[STATE] ~= 'leased' or entry[OWNER] ~= owner then return 0 end
  take(id, entry)
  entry[STATE], entry[ANSWERED], entry[REASON] = ARGV[5], ARGV[6], ARGV[7]
  entry[RELEVANCE], entry[RELEVANT], entry[NOTE] = ARGV[8], ARGV[9], ARGV[10]
  entry[OWNER] = ''
  if ARGV[5] ~= 'queued' then
    entry[SINCE] = ''
    redis.call('SREM', FOLLOWED, id)
  end
  put(id, entry)
  rely(ARGV[11])
  return 1
end
""",
    # Names and last beats of owners to reap.
    "renew": """
local function act()
  redis.call('ZADD', OWNERS, ARGV[3], owner)
  return reap(4)
end
""",
    "release": """
local function act() return put_back(owner) end
""",
    # Pairs of an id and a score.
    "reprioritise": """
local function act()
  local moved = 0
  for i = 4, #ARGV, 2 do
    local entry = load(ARGV[i])
    if entry and entry[STATE] == 'queued' and tonumber(entry[SCORE]) ~= tonumber(ARGV[i + 1]) then
      take(ARGV[i], entry)
      entry[SCORE] = ARGV[i + 1]
      put(ARGV[i], entry)
      moved = moved + 1
    end
  end
  return moved
end
""",
    # Ids.
    "forget": """
local function act()
  local gone = 0
  for i = 4, #ARGV do
    local entry = load(ARGV[i])
    if entry then
      take(ARGV[i], entry)
      redis.call('SREM', FOLLOWED, ARGV[i])
      gone = gone + redis.call('HDEL', ENTRIES, ARGV[i])
    end
  end
  return gone
end
""",
    "forget_all": """
local function act()
  redis.call('ZREM', KEYS[2], KEYS[3])
  return empty()
end
""",
    # Ids of entries that were settled when they were looked up.
    "retry": """
local function act()
  local count = 0
  for i = 4, #ARGV do
    local entry = load(ARGV[i])
    if entry and entry[STATE] ~= 'queued' and entry[STATE] ~= 'leased' then
      take(ARGV[i], entry)
      entry[STATE], entry[ANSWERED], entry[REASON] = 'queued', '', ''
      put(ARGV[i], entry)
      count = count + 1
    end
  end
  if tonumber(redis.call('HGET', CRAWL, 'queued') or 0) > 0 then redis.call('HSET', CRAWL, 'ended', '') end
  return count
end
""",
}


def script(name: str) -> str:
    """Return the script with a name; without a crawl only `begin` and `forget` succeed."""
    exists = "" if name in ("begin", "forget_all") else EXISTS
    return COMMON + FIRST.format(name=name) + exists + ACTS[name] + LAST.format(name=name)
