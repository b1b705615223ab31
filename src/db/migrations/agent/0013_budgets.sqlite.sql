-- What agents used on a local day (a number of days since 1970), and what is reserved for requests
-- to models that are under way. agent_n 0 is all agents together. cost is in millionths.
CREATE TABLE budget_days (
    agent_n     INTEGER NOT NULL,
    day         INTEGER NOT NULL,
    tokens      INTEGER NOT NULL DEFAULT 0,
    cost        INTEGER NOT NULL DEFAULT 0,
    tool_calls  INTEGER NOT NULL DEFAULT 0,
    held_tokens INTEGER NOT NULL DEFAULT 0,
    held_cost   INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (agent_n, day)
) WITHOUT ROWID;

-- One request at a time is under way for a run.
CREATE TABLE budget_held (
    run_n   INTEGER PRIMARY KEY,
    agent_n INTEGER NOT NULL,
    day     INTEGER NOT NULL,
    tokens  INTEGER NOT NULL,
    cost    INTEGER NOT NULL
);
