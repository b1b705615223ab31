-- What the agent domain needs before anything else: facts about itself.
CREATE TABLE meta (
    key TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);

-- The machines that wrote here, this one among them.
CREATE TABLE hosts (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
