-- Full text of what people look for: messages, conversations, files, agents. Made from the agent
-- domain and never the only copy: `n` counts documents, `ref` names what one is made of, so that a
-- newer text replaces the older one.
CREATE TABLE find_documents (
    n INTEGER NOT NULL PRIMARY KEY,
    ref TEXT NOT NULL UNIQUE,                      -- message:N thread:N file:N agent:N
    kind TEXT NOT NULL,                            -- message thread file agent
    agent_id TEXT NOT NULL,
    thread_n INTEGER,                              -- of messages and threads
    place TEXT NOT NULL DEFAULT '',                -- thread id, or path of a file
    title TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_find_documents_thread ON find_documents (thread_n) WHERE thread_n IS NOT NULL;

CREATE VIRTUAL TABLE find_text USING fts5 (title, body, tokenize = 'unicode61 remove_diacritics 2');

-- How far each source was read.
CREATE TABLE find_cursors (
    source TEXT NOT NULL PRIMARY KEY,              -- messages threads files agents
    position INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
