-- What is shown to the office from afar. The key itself is not here, only its hash.
CREATE TABLE credential (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,           -- a JSON list
    digest BLOB NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER,
    revoked INTEGER
) STRICT, WITHOUT ROWID;
