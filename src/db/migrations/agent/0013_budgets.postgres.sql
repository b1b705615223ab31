-- What agents used on a local day (a number of days since 1970), and what is reserved for requests
-- to models that are under way. agent_n 0 is all agents together. cost is in millionths.
CREATE TABLE budget_days (
    agent_n     BIGINT NOT NULL,
    day         BIGINT NOT NULL,
    tokens      BIGINT NOT NULL DEFAULT 0,
    cost        BIGINT NOT NULL DEFAULT 0,
    tool_calls  BIGINT NOT NULL DEFAULT 0,
    held_tokens BIGINT NOT NULL DEFAULT 0,
    held_cost   BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (agent_n, day)
);

-- One request at a time is under way for a run.
CREATE TABLE budget_held (
    run_n   BIGINT PRIMARY KEY,
    agent_n BIGINT NOT NULL,
    day     BIGINT NOT NULL,
    tokens  BIGINT NOT NULL,
    cost    BIGINT NOT NULL
);
