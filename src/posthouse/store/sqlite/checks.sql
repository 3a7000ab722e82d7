-- What a check of the whole store asks, and a backup of its copy. Each statement looks at one piece, so that no
-- snapshot is held for long: `?1` is where the piece begins, `?2` the number of rows in it.

-- name: piece-of-entries
SELECT max(seq) FROM (SELECT seq FROM entry WHERE seq > ?1 ORDER BY seq LIMIT ?2)

-- name: piece-of-journal
SELECT max(seq) FROM (SELECT seq FROM journal WHERE seq > ?1 ORDER BY seq LIMIT ?2)

-- name: piece-of-trace
SELECT max(message) FROM (SELECT message FROM trace WHERE message > ?1 ORDER BY message LIMIT ?2)

-- name: entries-without-message
SELECT e.seq FROM entry e WHERE e.seq > ?1 AND e.seq <= ?2
    AND NOT EXISTS (SELECT 1 FROM journal j WHERE j.seq = e.message)

-- name: entries-without-box
SELECT e.seq FROM entry e WHERE e.seq > ?1 AND e.seq <= ?2 AND NOT EXISTS (SELECT 1 FROM box b WHERE b.id = e.box)

-- name: entries-askew
SELECT e.seq FROM entry e WHERE e.seq > ?1 AND e.seq <= ?2
    AND (e.state NOT IN (0, 1, 2) OR e.front NOT IN (0, 1, 2) OR e.work NOT IN (0, 1, 2)
        OR (e.state = 2) <> (e.priority < 0) OR (e.state = 1) <> (e.holder <> ''))

-- name: letters-askew
-- A body stands in the row or in a file, never in both, and has the length the row says.
SELECT j.seq FROM journal j WHERE j.seq > ?1 AND j.seq <= ?2
    AND (length(j.id) <> 16 OR (j.body IS NULL) <> (j.sha256 IS NOT NULL)
        OR (j.body IS NOT NULL AND length(j.body) <> j.size))

-- name: traces-without-message
SELECT DISTINCT t.message FROM trace t WHERE t.message > ?1 AND t.message <= ?2
    AND NOT EXISTS (SELECT 1 FROM journal j WHERE j.seq = t.message)

-- name: dead-without-message
SELECT d.number FROM dead d WHERE NOT EXISTS (SELECT 1 FROM journal j WHERE j.seq = d.message)

-- name: asides-without-message
SELECT a.number FROM aside a WHERE NOT EXISTS (SELECT 1 FROM journal j WHERE j.seq = a.message)

-- name: boxes
SELECT id, name FROM box WHERE id > ?1 ORDER BY id LIMIT ?2

-- name: lanes-with-wrong-head
-- Every lane of a box has, at each priority, one entry marked as its head, and it is the first.
SELECT lane, priority FROM entry WHERE box = ?1 AND state <> 2 GROUP BY lane, priority
    HAVING sum(front = 2) <> 1 OR min(seq) <> min(CASE WHEN front = 2 THEN seq END)

-- name: kinds-with-wrong-first
-- Of each kind in a lane the first is marked, and no other.
SELECT lane, priority, kind FROM entry WHERE box = ?1 AND state <> 2 GROUP BY lane, priority, kind
    HAVING sum(front > 0) <> 1 OR min(seq) <> min(CASE WHEN front > 0 THEN seq END)

-- name: files
SELECT sha256, size FROM journal INDEXED BY journal_file
WHERE sha256 IS NOT NULL AND sha256 > ?1 GROUP BY sha256 ORDER BY sha256 LIMIT ?2

-- name: file-known
SELECT EXISTS (SELECT 1 FROM journal WHERE sha256 = ?1)

-- name: letters
SELECT count(*) FROM journal

-- name: skip-entries
-- Numbers of entries given out after a backup was made are not given out again for other messages.
INSERT OR REPLACE INTO version SELECT 'entry', ?1 + max(coalesce((SELECT max(seq) FROM entry), 0),
    coalesce((SELECT value FROM version WHERE name = 'entry'), 0))

-- name: piece-of-cases
SELECT max(seq) FROM (SELECT seq FROM gated WHERE seq > ?1 ORDER BY seq LIMIT ?2)

-- name: cases-without-message
SELECT hex(id) FROM gated WHERE seq > ?1 AND seq <= ?2
    AND NOT EXISTS (SELECT 1 FROM journal j WHERE j.id = gated.message)

-- name: piece-of-dockets
-- The first piece begins behind the number 0, which stands before all bytes.
SELECT max(case_id) FROM (SELECT case_id FROM docket WHERE case_id > ?1 ORDER BY case_id LIMIT ?2)

-- name: dockets-without-case
SELECT hex(case_id) FROM docket WHERE case_id > ?1 AND case_id <= ?2
    AND NOT EXISTS (SELECT 1 FROM gated WHERE gated.id = docket.case_id)

-- name: dockets-without-pile
SELECT hex(case_id) FROM docket WHERE case_id > ?1 AND case_id <= ?2
    AND NOT EXISTS (SELECT 1 FROM pile WHERE pile.id = docket.pile)

-- name: piles-miscounted
SELECT gatekeeper || ', ' || folder FROM pile
WHERE held <> (SELECT count(*) FROM docket WHERE docket.pile = pile.id AND is_open = 1)

-- name: activations-without-edition
SELECT seq FROM activation WHERE number > 0
    AND NOT EXISTS (SELECT 1 FROM edition WHERE edition.book = activation.book AND edition.number = activation.number)
