-- Agents that people make: their files, skills and accounts, and what an inbox item shows.

ALTER TABLE agents ADD COLUMN description TEXT NOT NULL DEFAULT '';
ALTER TABLE agents ADD COLUMN template TEXT;                       -- what it was made from
ALTER TABLE agents ADD COLUMN auto_approve_memory INTEGER NOT NULL DEFAULT 0;

ALTER TABLE inbox ADD COLUMN details TEXT;                         -- JSON: what a kind shows beyond its preview

-- Where untrusted text of a thread came from, without reading the thread.
CREATE INDEX idx_agent_messages_tainted ON agent_messages (thread_n, taint) WHERE taint IS NOT NULL;

-- The one file store. A tree is agents/ID or users/ID; a path is below it.
CREATE TABLE files (
    n INTEGER NOT NULL PRIMARY KEY,
    tree TEXT NOT NULL,
    path TEXT NOT NULL,
    folded TEXT NOT NULL,                          -- path as it is compared: one spelling only
    content_type TEXT NOT NULL DEFAULT 'text/markdown',
    version INTEGER NOT NULL,                      -- the newest
    hash TEXT,                                     -- of its content; NULL: deleted
    size INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX idx_files_tree_folded ON files (tree, folded);
CREATE INDEX idx_files_host_counter ON files (host_n, counter);

-- Every text a file had. A deletion is a version without content.
CREATE TABLE file_versions (
    n INTEGER NOT NULL PRIMARY KEY,
    file_n INTEGER NOT NULL REFERENCES files (n),
    version INTEGER NOT NULL,                      -- 1, 2, 3 ...
    hash TEXT,
    size INTEGER NOT NULL,
    author TEXT NOT NULL,                          -- owner, agent:ID, system
    reason TEXT NOT NULL DEFAULT '',
    taint TEXT,                                    -- where untrusted text in it came from; NULL: nowhere
    inbox_id TEXT,                                 -- what approved it
    run_n INTEGER,
    created_at INTEGER NOT NULL,
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL,
    content BLOB                                   -- last: what is long is not read on the way to what is short
) STRICT;
CREATE UNIQUE INDEX idx_file_versions_file_version ON file_versions (file_n, version);
CREATE INDEX idx_file_versions_host_counter ON file_versions (host_n, counter);

-- What was done to files, written with the doing. An operation is applied once.
CREATE TABLE file_events (
    n INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    tree TEXT NOT NULL,
    file_n INTEGER REFERENCES files (n),
    type TEXT NOT NULL,                            -- created changed deleted restored
    actor TEXT NOT NULL,
    operation_id TEXT UNIQUE,
    version_before INTEGER,
    version_after INTEGER,
    reason TEXT NOT NULL DEFAULT '',
    data TEXT NOT NULL DEFAULT '{}',
    created_at INTEGER NOT NULL,
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_file_events_tree ON file_events (tree, n);
CREATE INDEX idx_file_events_host_counter ON file_events (host_n, counter);

-- Seed names, as views: what an agent knows, and what it asked to remember.
CREATE VIEW memory_files AS
SELECT f.n AS id, substr(f.tree, 8) AS agent_id, f.path, CAST(v.content AS TEXT) AS content,
       f.content_type, f.size AS size_bytes, f.created_at, f.updated_at
FROM files AS f JOIN file_versions AS v ON v.file_n = f.n AND v.version = f.version
WHERE f.deleted_at IS NULL AND f.tree LIKE 'agents/%' AND f.path LIKE 'knowledge/%';

CREATE VIEW memory_edit_requests AS
SELECT i.id, a.id AS agent_id, json_extract(i.details, '$.path') AS path,
       json_extract(i.details, '$.operation') AS operation,
       json_extract(i.details, '$.proposed_content') AS proposed_content,
       json_extract(i.details, '$.current_content') AS previous_content,
       json_extract(i.details, '$.reason') AS reason, i.state AS status, i.created_at,
       i.decided_at AS resolved_at
FROM inbox AS i LEFT JOIN agents AS a ON a.n = i.agent_n
WHERE i.kind = 'memory';

-- One row for each skills/NAME/SKILL.md of an agent, kept beside the file by whoever writes it.
CREATE TABLE skills (
    id TEXT NOT NULL PRIMARY KEY,
    agent_n INTEGER NOT NULL REFERENCES agents (n),
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    license TEXT,
    compatibility TEXT,
    metadata TEXT NOT NULL DEFAULT '{}',
    allowed_tools TEXT NOT NULL DEFAULT '[]',
    source TEXT NOT NULL DEFAULT 'made',           -- made, import, agent, file
    content_hash TEXT NOT NULL,                    -- of the whole directory
    signature TEXT,
    enabled INTEGER NOT NULL DEFAULT 1,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX idx_skills_agent_name ON skills (agent_n, name) WHERE deleted_at IS NULL;
CREATE INDEX idx_skills_host_counter ON skills (host_n, counter);

-- Which skills a run has read, and what they let it use.
CREATE TABLE skill_uses (
    run_n INTEGER NOT NULL,
    skill TEXT NOT NULL,
    allowed_tools TEXT NOT NULL DEFAULT '[]',
    content_hash TEXT NOT NULL,
    used_at INTEGER NOT NULL,
    PRIMARY KEY (run_n, skill)
) STRICT;

-- Scripts that a person has looked at and let run, by content.
CREATE TABLE skill_scripts (
    agent_n INTEGER NOT NULL,
    hash TEXT NOT NULL,
    inbox_id TEXT NOT NULL,
    approved_at INTEGER NOT NULL,
    PRIMARY KEY (agent_n, hash)
) STRICT;

-- Accounts elsewhere: a reference to the secret, never the secret.
CREATE TABLE credentials (
    provider TEXT NOT NULL PRIMARY KEY,            -- slack, google
    secret_ref TEXT NOT NULL,
    account TEXT NOT NULL DEFAULT '{}',            -- JSON: team, user, address
    scopes TEXT NOT NULL DEFAULT '[]',
    checked_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
