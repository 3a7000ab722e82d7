-- Gated messages. `content` is the whole case with its wrapper, which may be large; nothing that lists reads it.
CREATE TABLE gated (
    seq INTEGER PRIMARY KEY,
    id BLOB NOT NULL,
    message BLOB NOT NULL,
    opened INTEGER NOT NULL,
    version INTEGER NOT NULL,
    content BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX gated_id ON gated (id);
CREATE INDEX gated_message ON gated (message);

-- One folder of one gatekeeper, and how many open dockets lie in it.
CREATE TABLE pile (
    id INTEGER PRIMARY KEY,
    gatekeeper TEXT NOT NULL,
    folder TEXT NOT NULL,
    held INTEGER NOT NULL,
    UNIQUE (gatekeeper, folder)
) STRICT;

-- What lies in the piles. Each order has an index that goes on with the key of the row, so that a page begins where the
-- one before it ended, however many dockets are alike; the status is there for those who ask for one.
CREATE TABLE docket (
    seq INTEGER PRIMARY KEY,
    case_id BLOB NOT NULL,
    turn INTEGER NOT NULL,
    version INTEGER NOT NULL,
    pile INTEGER NOT NULL,
    is_open INTEGER NOT NULL,
    due INTEGER NOT NULL,           -- 9223372036854775807 where nothing happens by itself
    arrived INTEGER NOT NULL,
    sender TEXT NOT NULL,
    status TEXT NOT NULL,
    message BLOB NOT NULL,
    content BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX docket_case ON docket (case_id, turn);
CREATE INDEX docket_due ON docket (pile, is_open, due, case_id, turn, status);
CREATE INDEX docket_arrived ON docket (pile, is_open, arrived, case_id, turn, status);
CREATE INDEX docket_sender ON docket (pile, is_open, sender, case_id, turn, status);
CREATE INDEX docket_message ON docket (message);
CREATE INDEX docket_timer ON docket (due) WHERE due < 9223372036854775807;

CREATE TABLE mailbag (
    gatekeeper TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    is_removed INTEGER NOT NULL,
    next_run INTEGER,               -- NULL as well where it is removed
    content BLOB NOT NULL,
    PRIMARY KEY (gatekeeper, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mailbag_next ON mailbag (next_run) WHERE next_run IS NOT NULL;

-- What the office goes by. Editions and activations are only ever appended.
CREATE TABLE edition (
    seq INTEGER PRIMARY KEY,
    book TEXT NOT NULL,
    number INTEGER NOT NULL,
    content BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX edition_number ON edition (book, number);

CREATE TABLE activation (
    seq INTEGER PRIMARY KEY,
    book TEXT NOT NULL,
    number INTEGER NOT NULL,
    content BLOB NOT NULL
) STRICT;
CREATE INDEX activation_book ON activation (book, seq);

CREATE TABLE account (
    name TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    content BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- The audit. `record` is the JSON list the chain is made of: [number, epoch, at, actor, act, subject, commitment]. What
-- is looked for by is computed from it, so that nothing beside the chain can say otherwise.
CREATE TABLE audit (
    number INTEGER PRIMARY KEY,
    record BLOB NOT NULL,
    chain BLOB NOT NULL,
    salt BLOB,                      -- NULL, with the payload, once it was erased
    payload BLOB,
    subject TEXT GENERATED ALWAYS AS (CAST(record AS TEXT) ->> 5) VIRTUAL
) STRICT;
CREATE INDEX audit_subject ON audit (subject);

CREATE TABLE seal (
    seq INTEGER PRIMARY KEY,
    number INTEGER NOT NULL,
    content BLOB NOT NULL
) STRICT;
CREATE INDEX seal_number ON seal (number, seq);
