-- Everything ever accepted, in the order it was. Rows are only ever appended, so the file grows at its right edge.
CREATE TABLE journal (
    seq INTEGER PRIMARY KEY,
    id BLOB NOT NULL,
    accepted INTEGER NOT NULL,
    head BLOB NOT NULL,
    body BLOB,                      -- NULL where the body is a file
    sha256 TEXT,                    -- the file's content address
    size INTEGER NOT NULL,
    envelope BLOB NOT NULL,
    features BLOB NOT NULL,
    step BLOB NOT NULL,             -- the first line of the trace
    sections BLOB
) STRICT;
CREATE UNIQUE INDEX journal_id ON journal (id);
CREATE INDEX journal_file ON journal (sha256) WHERE sha256 IS NOT NULL;

-- The later lines of each message's trace.
CREATE TABLE trace (
    message INTEGER NOT NULL,
    stamp INTEGER NOT NULL,
    step BLOB NOT NULL,
    PRIMARY KEY (message, stamp)
) STRICT, WITHOUT ROWID;

CREATE TABLE box (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

-- What waits. `front` marks the entries a take looks at first: 2 the first of its lane and priority, 1 the first of its
-- kind there, 0 all others. Thus a take never walks over the rest of a lane, however long it is.
CREATE TABLE entry (
    seq INTEGER PRIMARY KEY,
    box INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    priority INTEGER NOT NULL,      -- negative while the entry is held, for it has no place in its lane yet
    kind TEXT NOT NULL,
    state INTEGER NOT NULL,         -- 0 waiting, 1 leased, 2 held
    front INTEGER NOT NULL,
    ready_at INTEGER NOT NULL,      -- the end of a pause, 0 without one
    next_at INTEGER,
    expires INTEGER,
    token INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    arrived INTEGER NOT NULL,
    work INTEGER NOT NULL,          -- 0 take, 1 deliver, 2 resume
    size INTEGER NOT NULL,
    message INTEGER NOT NULL,
    correlation TEXT,
    holder TEXT NOT NULL,
    luggage BLOB NOT NULL
) STRICT;
CREATE INDEX entry_lane ON entry (box, lane, priority, kind, seq);
CREATE INDEX entry_front ON entry (box, priority DESC, seq, front, kind, state, ready_at, expires, lane) WHERE front > 0;
CREATE INDEX entry_correlation ON entry (box, correlation, priority DESC, seq) WHERE correlation IS NOT NULL;
CREATE INDEX entry_next ON entry (next_at) WHERE next_at IS NOT NULL;
CREATE INDEX entry_work ON entry (box, work) WHERE work > 0;

CREATE TABLE dead (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    box TEXT NOT NULL,
    lane INTEGER NOT NULL,
    priority INTEGER NOT NULL,
    kind TEXT NOT NULL,
    correlation TEXT,
    work INTEGER NOT NULL,
    size INTEGER NOT NULL,
    message INTEGER NOT NULL,
    luggage BLOB NOT NULL,
    at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    reason TEXT NOT NULL
) STRICT;
CREATE INDEX dead_box ON dead (box, number);

CREATE TABLE aside (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    message INTEGER NOT NULL,
    at INTEGER NOT NULL,
    reason TEXT NOT NULL
) STRICT;

CREATE TABLE mailbox (
    name TEXT PRIMARY KEY,
    setup BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
    principal TEXT NOT NULL,
    key TEXT NOT NULL,
    message BLOB NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (principal, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_until ON idempotency (until);

CREATE TABLE version (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO version VALUES ('register', 0);
