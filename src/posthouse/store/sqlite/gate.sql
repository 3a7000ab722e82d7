-- The rows of the gate: cases, dockets, mailbags, books, accounts, the audit.

-- name: cases-versions
SELECT json_group_array(json_array(hex(id), version)) FROM gated WHERE id IN (SELECT unhex(value) FROM json_each(?))

-- name: dockets-versions
SELECT json_group_array(json_array(hex(case_id), turn, version, pile, is_open))
FROM json_each(?) CROSS JOIN docket ON case_id = unhex(value ->> 0) AND turn = value ->> 1

-- name: piles
SELECT gatekeeper, folder, id FROM pile

-- name: pile-add
INSERT INTO pile (gatekeeper, folder, held) VALUES (?, ?, 0) RETURNING id

-- name: pile-count
UPDATE pile SET held = held + ?2 WHERE id = ?1

-- name: mailbag-version
SELECT version FROM mailbag WHERE gatekeeper = ? AND id = ?

-- name: mailbag-write
INSERT OR REPLACE INTO mailbag (gatekeeper, id, version, is_removed, next_run, content) VALUES (?, ?, ?, ?, ?, ?)

-- name: account-version
SELECT version FROM account WHERE name = ?

-- name: account-write
INSERT OR REPLACE INTO account (name, version, content) VALUES (?, ?, ?)

-- name: edition-last
SELECT coalesce(max(number), 0) FROM edition WHERE book = ?

-- name: edition-add
INSERT INTO edition (book, number, content) VALUES (?, ?, ?)

-- name: activation-add
INSERT INTO activation (book, number, content) VALUES (?, ?, ?)

-- name: books-in-force
SELECT book, number FROM activation WHERE seq IN (SELECT max(seq) FROM activation GROUP BY book) AND number > 0

-- name: audit-end
SELECT number, chain, CAST(record AS TEXT) ->> 1 FROM audit ORDER BY number DESC LIMIT 1

-- name: audit-chain
SELECT chain FROM audit WHERE number = ?

-- name: audit-erase
UPDATE audit SET salt = NULL, payload = NULL WHERE subject = ? AND payload IS NOT NULL

-- name: seal-add
INSERT INTO seal (number, content) VALUES (?, ?)

-- name: case
SELECT content FROM gated WHERE id = ?

-- name: cases-of-message
SELECT content FROM gated WHERE message = ? ORDER BY opened, id

-- name: cases-find
SELECT id FROM gated WHERE id >= ? AND id < ? ORDER BY id LIMIT ?

-- name: piles-chosen
SELECT id, held FROM pile WHERE (?1 IS NULL OR gatekeeper = ?1) AND (?2 IS NULL OR folder = ?2)

-- name: docket-keys
-- A run of one pile in one order; `@order` is the column of that order.
SELECT @order, case_id, turn, seq FROM docket INDEXED BY docket_@order
WHERE pile = ?1 AND is_open = ?2 AND (@order, case_id, turn) > (?3, ?4, ?5) ORDER BY @order, case_id, turn LIMIT ?6

-- name: docket-keys-of-status
SELECT @order, case_id, turn, seq FROM docket INDEXED BY docket_@order
WHERE pile = ?1 AND is_open = ?2 AND (@order, case_id, turn) > (?3, ?4, ?5) AND status = ?7
ORDER BY @order, case_id, turn LIMIT ?6

-- name: docket-keys-of-sender
-- All of one sender in a pile, sorted: they are few beside the pile.
SELECT @order, case_id, turn, seq FROM docket INDEXED BY docket_sender
WHERE pile = ?1 AND is_open = ?2 AND sender = ?8 AND (@order, case_id, turn) > (?3, ?4, ?5)
    AND (?7 IS NULL OR status = ?7)
ORDER BY @order, case_id, turn LIMIT ?6

-- name: docket
SELECT content FROM docket WHERE seq = ?

-- name: dockets-of-case
SELECT content FROM docket WHERE case_id = ?

-- name: dockets-of-message
SELECT content FROM docket WHERE message = ?

-- name: counts
SELECT gatekeeper, folder, held FROM pile WHERE held > 0 AND (?1 IS NULL OR gatekeeper = ?1) ORDER BY gatekeeper, folder

-- name: piles-due
-- The piles in which something is due: each is asked for its first docket only.
SELECT gatekeeper, pile.id, state.value FROM pile, json_each('[0, 1]') AS state
WHERE (SELECT due FROM docket INDEXED BY docket_due WHERE pile = pile.id AND is_open = state.value
    ORDER BY due LIMIT 1) <= ?1
ORDER BY gatekeeper

-- name: next-due-of-gate
SELECT min(instant) FROM (
    SELECT min(due) AS instant FROM docket INDEXED BY docket_timer WHERE due < 9223372036854775807
    UNION ALL SELECT min(next_run) FROM mailbag WHERE next_run IS NOT NULL)

-- name: mailbags
SELECT content FROM mailbag WHERE is_removed = 0 AND (?1 IS NULL OR gatekeeper = ?1)

-- name: edition
SELECT content FROM edition WHERE book = ? AND number = ?

-- name: editions
SELECT content FROM edition WHERE book = ? ORDER BY number

-- name: activations
SELECT content FROM activation WHERE book = ? ORDER BY seq

-- name: titles
SELECT DISTINCT book FROM edition ORDER BY book

-- name: accounts
SELECT content FROM account ORDER BY name

-- name: audit-lines
SELECT record, chain, salt, payload FROM audit WHERE number > ? ORDER BY number LIMIT ?

-- name: audit-of-subject
SELECT record, chain, salt, payload FROM audit WHERE subject = ? AND number > ? ORDER BY number LIMIT ?

-- name: audit-last
SELECT record, chain, salt, payload FROM audit ORDER BY number DESC LIMIT 1

-- name: seals
SELECT content FROM seal WHERE number > ? ORDER BY number, seq LIMIT ?

-- name: seals-page
SELECT seq, content FROM seal WHERE seq > ? ORDER BY seq LIMIT ?

-- name: audit-block
SELECT number, record, chain, salt, payload FROM audit WHERE number > ? ORDER BY number LIMIT ?
