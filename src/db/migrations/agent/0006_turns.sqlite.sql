-- Fewer pages for a turn to write.

-- An operation's id is made from its run's key: it is unique within the run, and looked for there. Ids
-- in the order of nothing had a page of the index split every few turns.
CREATE TABLE operations_by_run (
    n INTEGER NOT NULL PRIMARY KEY,
    operation_id TEXT NOT NULL,
    run_n INTEGER NOT NULL,
    action_stable_id TEXT,
    tool_name TEXT NOT NULL,
    keyed INTEGER NOT NULL,                        -- 0 unkeyed, 1 keyed, 2 read_only
    phase TEXT NOT NULL DEFAULT 'effect',
    status TEXT NOT NULL,                          -- prepared settled unknown
    attempts INTEGER NOT NULL DEFAULT 1,
    last_error TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
INSERT INTO operations_by_run (n, operation_id, run_n, action_stable_id, tool_name, keyed, phase, status, attempts,
    last_error, created_at, updated_at)
    SELECT n, operation_id, run_n, action_stable_id, tool_name, keyed, phase, status, attempts,
    last_error, created_at, updated_at FROM operations ORDER BY n;
DROP TABLE operations;
ALTER TABLE operations_by_run RENAME TO operations;
CREATE UNIQUE INDEX idx_operations_run ON operations (run_n, operation_id);

-- Runs that have not ended are found by idx_runs_thread_open, which has to be there.
DROP INDEX idx_runs_open;
