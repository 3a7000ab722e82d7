-- name: journal-known
-- Which of these ids the journal has, as one JSON text: a row each would hand the interpreter lock over once each.
SELECT json_group_array(hex(id)) FROM journal WHERE id IN (SELECT unhex(value) FROM json_each(?))

-- name: key-known
SELECT message FROM idempotency WHERE principal = ? AND key = ? AND until > ?

-- name: key-add
INSERT OR REPLACE INTO idempotency (principal, key, message, until) VALUES (?, ?, ?, ?)

-- name: key-forget
DELETE FROM idempotency WHERE (principal, key) IN (SELECT principal, key FROM idempotency WHERE until <= ? LIMIT 200)

-- name: box-find
SELECT id FROM box WHERE name = ?

-- name: boxes-find
SELECT json_group_array(json_array(name, id)) FROM box WHERE name IN (SELECT value FROM json_each(?))

-- name: box-name
SELECT name FROM box WHERE id = ?

-- name: box-content
SELECT count(*), coalesce(sum(size), 0) FROM entry WHERE box = ?

-- name: entries-by-seq
SELECT json_group_array(json_array(seq, token, state, front, box, lane, priority, kind, message, attempt, failures,
    size, ready_at, expires, work, correlation, arrived, next_at))
FROM entry WHERE seq IN (SELECT value FROM json_each(?))

-- name: entries-remove
DELETE FROM entry WHERE seq IN (SELECT value FROM json_each(?))

-- name: lane-kinds
WITH RECURSIVE kinds (kind) AS (
    SELECT min(kind) FROM entry INDEXED BY entry_lane WHERE box = ?1 AND lane = ?2 AND priority = ?3
    UNION ALL
    SELECT (SELECT min(e.kind) FROM entry e INDEXED BY entry_lane
            WHERE e.box = ?1 AND e.lane = ?2 AND e.priority = ?3 AND e.kind > kinds.kind)
    FROM kinds WHERE kinds.kind IS NOT NULL
)
SELECT kind FROM kinds WHERE kind IS NOT NULL

-- name: lane-first
SELECT seq FROM entry INDEXED BY entry_lane
WHERE box = ? AND lane = ? AND priority = ? AND kind = ? ORDER BY seq LIMIT 1

-- name: lane-run
-- The next entries of one lane and kind; only what the index does not hold is read from the table.
SELECT json_group_array(json_array(seq, state, ready_at, expires)) FROM (
    SELECT seq, state, ready_at, expires FROM entry INDEXED BY entry_lane
    WHERE box = ? AND lane = ? AND priority = ? AND kind = ? AND seq > ? ORDER BY seq LIMIT ?)

-- name: fronts
-- `front > 0` is what lets the planner see that the partial index serves.
SELECT json_group_array(json_array(seq, lane, priority, kind, expires)) FROM (
    SELECT seq, lane, priority, kind, expires FROM entry INDEXED BY entry_front
    WHERE box = ?1 AND front > 0 AND front >= 2 AND state = 0 AND (ready_at <= ?2 OR expires <= ?2)
    ORDER BY priority DESC, seq LIMIT ?3)

-- name: fronts-of-kind
SELECT json_group_array(json_array(seq, lane, priority, kind, expires)) FROM (
    SELECT seq, lane, priority, kind, expires FROM entry INDEXED BY entry_front
    WHERE box = ?1 AND front > 0 AND kind = ?2 AND state = 0 AND (ready_at <= ?3 OR expires <= ?3)
    ORDER BY priority DESC, seq LIMIT ?4)

-- name: correlated
SELECT seq, lane, priority, kind, state, ready_at, expires FROM entry INDEXED BY entry_correlation
WHERE box = ? AND correlation = ? AND state <> 2 ORDER BY priority DESC, seq

-- name: front-set
UPDATE entry SET front = ?2 WHERE seq IN (SELECT value FROM json_each(?1))

-- name: front-raise
UPDATE entry SET front = 1 WHERE front = 0 AND seq IN (SELECT value FROM json_each(?))

-- name: lease
UPDATE entry SET state = 1, token = token + 1, attempt = attempt + 1, next_at = ?2, ready_at = 0, holder = ?3
WHERE seq IN (SELECT value FROM json_each(?1))

-- name: leased
-- All rows as one: the columns that are numbers as JSON, the blobs joined end to end with their lengths beside them.
-- Stepping row by row would hand the interpreter lock over once a row, and each time wait for the busy event loop.
SELECT json_group_array(json_array(seq, token, attempt, failures, work, priority, arrived, accepted, sha256, size,
        length(luggage), length(id), length(head), length(body), length(envelope), length(features), length(step),
        length(sections)) ORDER BY place),
    CAST(group_concat(CAST(luggage || id || head || coalesce(body, x'') || envelope || features || step
        || coalesce(sections, x'') AS TEXT), '' ORDER BY place) AS BLOB)
FROM (SELECT key AS place, e.seq, e.token, e.attempt, e.failures, e.work, e.priority, e.arrived, e.luggage,
        j.accepted, j.sha256, j.size, j.id, j.head, j.body, j.envelope, j.features, j.step, j.sections
    FROM json_each(?) CROSS JOIN entry e ON e.seq = value JOIN journal j ON j.seq = e.message)

-- name: entry-renew
UPDATE entry SET next_at = ?2 WHERE seq = ?1

-- name: entry-back
UPDATE entry SET state = 0, token = token + 1, attempt = max(attempt - 1, 0), ready_at = 0, next_at = expires, holder = ''
WHERE seq = ?1

-- name: entry-retry
UPDATE entry SET state = 0, token = token + 1, failures = failures + 1, ready_at = ?2,
    next_at = min(?2, coalesce(expires, ?2)), holder = '' WHERE seq = ?1

-- name: entry-wake
UPDATE entry SET token = token + 1, ready_at = 0, next_at = expires WHERE seq = ?1

-- name: entries-add
-- All arrivals of a group at once, each as the list of its fields; ?2 holds their luggage, end to end. An arrival gets
-- the mark it may get where nothing older stands in its lane: 2 in an empty lane, 1 where only other kinds are, else 0.
-- `LIMIT -1` keeps the planner from reading a field anew wherever it is named.
INSERT INTO entry (seq, box, lane, priority, kind, state, front, ready_at, next_at, expires, token, attempt, failures,
    arrived, work, size, message, correlation, holder, luggage)
SELECT new_seq, new_box, new_lane, new_priority, new_kind, state,
    CASE mark
        WHEN 2 THEN
            CASE (SELECT kind = new_kind FROM entry INDEXED BY entry_lane
                    WHERE box = new_box AND lane = new_lane AND priority = new_priority AND seq < new_seq LIMIT 1)
                WHEN 1 THEN 0
                WHEN 0 THEN 1 - EXISTS (SELECT 1 FROM entry INDEXED BY entry_lane WHERE box = new_box
                    AND lane = new_lane AND priority = new_priority AND kind = new_kind AND seq < new_seq)
                ELSE 2 END
        WHEN 1 THEN 1 - EXISTS (SELECT 1 FROM entry INDEXED BY entry_lane WHERE box = new_box
            AND lane = new_lane AND priority = new_priority AND kind = new_kind AND seq < new_seq)
        ELSE 0 END,
    0, next_at, expires, 0, 0, 0, arrived, work, size, message, correlation, '',
    CASE luggage_size WHEN 0 THEN x'' ELSE substr(?2, luggage_at, luggage_size) END
FROM (SELECT value ->> 0 AS new_seq, value ->> 1 AS new_box, value ->> 2 AS new_lane, value ->> 3 AS new_priority,
        value ->> 4 AS new_kind, value ->> 5 AS state, value ->> 6 AS mark, value ->> 7 AS next_at,
        value ->> 8 AS expires, value ->> 9 AS arrived, value ->> 10 AS work, value ->> 11 AS size,
        value ->> 12 AS message, value ->> 13 AS correlation, value ->> 14 AS luggage_at, value ->> 15 AS luggage_size
    FROM jsonb_each(?1) LIMIT -1)

-- name: entry-enter
-- What was held enters its lane: the mark as above, and what arrives in the same group is behind or does not count yet.
UPDATE entry SET seq = ?2, state = 0, priority = -priority, token = token + 1, next_at = expires,
    front = CASE ?3
        WHEN 2 THEN
            CASE (SELECT e.kind = entry.kind FROM entry e INDEXED BY entry_lane WHERE e.box = entry.box
                    AND e.lane = entry.lane AND e.priority = -entry.priority AND e.seq < ?2 LIMIT 1)
                WHEN 1 THEN 0
                WHEN 0 THEN 1 - EXISTS (SELECT 1 FROM entry e INDEXED BY entry_lane WHERE e.box = entry.box
                    AND e.lane = entry.lane AND e.priority = -entry.priority AND e.kind = entry.kind AND e.seq < ?2)
                ELSE 2 END
        WHEN 1 THEN 1 - EXISTS (SELECT 1 FROM entry e INDEXED BY entry_lane WHERE e.box = entry.box
            AND e.lane = entry.lane AND e.priority = -entry.priority AND e.kind = entry.kind AND e.seq < ?2)
        ELSE 0 END
WHERE seq = ?1

-- name: bury
INSERT INTO dead (box, lane, priority, kind, correlation, work, size, message, luggage, at, attempts, reason)
SELECT box.name, lane, abs(priority), kind, correlation, work, size, message, luggage, ?2, attempt, ?3
FROM entry JOIN box ON box.id = entry.box WHERE seq = ?1

-- name: dead-row
SELECT box, lane, priority, kind, correlation, work, size, message, luggage FROM dead WHERE number = ?

-- name: dead-remove
DELETE FROM dead WHERE number = ?

-- name: aside-add
INSERT INTO aside (message, at, reason) VALUES (?, ?, ?)

-- name: aside-row
SELECT message FROM aside WHERE number = ?

-- name: aside-remove
DELETE FROM aside WHERE number = ?

-- name: mailbox-set
INSERT OR REPLACE INTO mailbox (name, setup) VALUES (?, ?)

-- name: mailbox-remove
DELETE FROM mailbox WHERE name = ?

-- name: mailboxes
SELECT name, setup FROM mailbox

-- name: register-version
SELECT value FROM version WHERE name = 'register'

-- name: register-raise
UPDATE version SET value = value + 1 WHERE name = 'register'

-- name: last-numbers
SELECT coalesce((SELECT max(seq) FROM journal), 0),
    max(coalesce((SELECT max(seq) FROM entry), 0), coalesce((SELECT value FROM version WHERE name = 'entry'), 0)),
    coalesce((SELECT max(id) FROM box), 0), coalesce((SELECT max(id) FROM journal), x'')

-- name: remember-entry
INSERT OR REPLACE INTO version VALUES ('entry', ?)

-- name: letter
SELECT id, accepted, head, body, sha256, size, envelope, features, step, sections FROM journal WHERE id = ?

-- name: letter-step
SELECT seq, step FROM journal WHERE id = ?

-- name: trace
SELECT step FROM trace WHERE message = ? ORDER BY stamp

-- name: journal-find
SELECT id FROM journal WHERE id >= ? AND id < ? ORDER BY id LIMIT ?

-- name: journal-count
SELECT coalesce(max(seq), 0) FROM journal

-- name: entries-of-box-near
-- The next entries of a box among the next entries of all boxes: quick for a box that holds a large share of them.
SELECT e.seq, e.token, b.name, e.work, e.state, abs(e.priority), e.kind, e.correlation, e.size, e.arrived, e.attempt,
    e.failures, e.next_at, e.expires, e.holder, j.id
FROM (SELECT * FROM entry WHERE seq > ?2 ORDER BY seq LIMIT ?4) e CROSS JOIN box b ON b.id = e.box
    CROSS JOIN journal j ON j.seq = e.message
WHERE b.name = ?1 ORDER BY e.seq LIMIT ?3

-- name: entries-of-box
-- All entries of a box, sorted: quick for a box that holds a small share.
SELECT e.seq, e.token, b.name, e.work, e.state, abs(e.priority), e.kind, e.correlation, e.size, e.arrived, e.attempt, e.failures,
    e.next_at, e.expires, e.holder, j.id
FROM box b JOIN entry e ON e.box = b.id JOIN journal j ON j.seq = e.message
WHERE b.name = ? AND e.seq > ? ORDER BY e.seq LIMIT ?

-- name: entries-due
SELECT e.seq, e.token, b.name, e.work, e.state, abs(e.priority), e.kind, e.correlation, e.size, e.arrived, e.attempt, e.failures,
    e.next_at, e.expires, e.holder, j.id
FROM entry e INDEXED BY entry_next JOIN box b ON e.box = b.id JOIN journal j ON j.seq = e.message
WHERE e.next_at <= ? ORDER BY e.next_at LIMIT ?

-- name: next-due
SELECT min(next_at) FROM entry WHERE next_at IS NOT NULL

-- name: oldest-entry
SELECT arrived FROM entry ORDER BY seq LIMIT 1

-- name: depths
SELECT name, content ->> 0, content ->> 1 FROM (
    SELECT name, (SELECT json_array(count(*), sum(size)) FROM entry WHERE entry.box = box.id) AS content
    FROM box WHERE name > ? AND EXISTS (SELECT 1 FROM entry WHERE entry.box = box.id) ORDER BY name LIMIT ?)

-- name: destinations
-- From box to box along the index, however many entries each holds.
WITH RECURSIVE boxes (id) AS (
    SELECT min(box) FROM entry INDEXED BY entry_work WHERE work > 0
    UNION ALL
    SELECT (SELECT min(box) FROM entry INDEXED BY entry_work WHERE work > 0 AND box > boxes.id)
    FROM boxes WHERE boxes.id IS NOT NULL
)
SELECT name FROM box JOIN boxes USING (id) ORDER BY name

-- name: dead-page
SELECT d.number, d.box, d.kind, j.id, d.at, d.attempts, d.reason FROM dead d JOIN journal j ON j.seq = d.message
WHERE d.number > ?1 AND (?2 IS NULL OR d.box = ?2) AND (?3 IS NULL OR d.kind = ?3) ORDER BY d.number LIMIT ?4

-- name: dead-count
SELECT count(*) FROM dead

-- name: aside-page
SELECT a.number, j.id, a.at, a.reason FROM aside a JOIN journal j ON j.seq = a.message
WHERE a.number > ? ORDER BY a.number LIMIT ?

-- name: aside-count
SELECT count(*) FROM aside

-- name: lanes-first
-- For each [box, lane, priority, kind]: the first and the last kind of the lane, and the first entry of the kind.
SELECT json_group_array(json_array(
    (SELECT min(kind) FROM entry INDEXED BY entry_lane
        WHERE box = value ->> 0 AND lane = value ->> 1 AND priority = value ->> 2),
    (SELECT max(kind) FROM entry INDEXED BY entry_lane
        WHERE box = value ->> 0 AND lane = value ->> 1 AND priority = value ->> 2),
    (SELECT min(seq) FROM entry INDEXED BY entry_lane
        WHERE box = value ->> 0 AND lane = value ->> 1 AND priority = value ->> 2 AND kind = value ->> 3)) ORDER BY key)
FROM json_each(?)

-- name: pulse
SELECT max(value) FROM version WHERE name = 'pulse'

-- name: pulse-set
INSERT OR REPLACE INTO version (name, value) VALUES ('pulse', ?)

-- name: credentials
SELECT id, name, scopes, digest, created, expires, revoked FROM credential WHERE id > ? ORDER BY id LIMIT ?

-- name: credential-stands
SELECT revoked IS NULL FROM credential WHERE id = ?

-- name: credential-add
INSERT INTO credential (id, name, scopes, digest, created, expires, revoked) VALUES (?, ?, ?, ?, ?, ?, ?)

-- name: credential-revoke
UPDATE credential SET revoked = ?2 WHERE id = ?1
