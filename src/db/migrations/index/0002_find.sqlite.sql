-- Full text of messages and files, made from the agent domain and never the only copy. A document is
-- named by what it was made from, so that a newer text takes the place of the older one.
CREATE TABLE find_documents (
    n INTEGER NOT NULL PRIMARY KEY,                -- also the row of find_text
    ref TEXT NOT NULL UNIQUE,                      -- message:N, file:N
    kind TEXT NOT NULL,                            -- message, file
    agent_id TEXT NOT NULL,
    thread_n INTEGER,                              -- of a message
    path TEXT NOT NULL DEFAULT '',                 -- of a file
    at INTEGER NOT NULL
) STRICT;

CREATE VIRTUAL TABLE find_text USING fts5 (body, tokenize = 'unicode61 remove_diacritics 2');

-- How far each source was read.
CREATE TABLE find_cursors (
    source TEXT NOT NULL PRIMARY KEY,              -- messages, files
    position INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
