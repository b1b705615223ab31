-- What lists of agents and conversations are read by.

-- Tokens of today.
CREATE INDEX idx_runs_created ON runs (created_at);

-- Conversations by their last word; those that were deleted stay out.
DROP INDEX idx_threads_agent_updated;
CREATE INDEX idx_threads_agent_updated ON threads (agent_n, updated_at DESC, n DESC) WHERE deleted_at IS NULL;

-- Runs that have not ended. By a column that is NULL until then: for a list of words the database
-- would build a table of them at every write.
UPDATE runs SET ended_at = updated_at WHERE ended_at IS NULL AND status IN ('done', 'cancelled', 'failed');
DROP INDEX idx_runs_open;
CREATE INDEX idx_runs_open ON runs (created_at, n) WHERE ended_at IS NULL;
DROP INDEX idx_runs_thread_open;
CREATE UNIQUE INDEX idx_runs_thread_open ON runs (thread_n) WHERE ended_at IS NULL;

-- What made an agent: asking the same again finds it instead of making a second one.
ALTER TABLE agents ADD COLUMN operation_id TEXT;
ALTER TABLE agents ADD COLUMN operation_hash TEXT;                 -- of what was asked; NULL: not compared
CREATE UNIQUE INDEX idx_agents_operation ON agents (operation_id) WHERE operation_id IS NOT NULL;

-- Shared skills that an agent does without.
CREATE TABLE skills_off (
    agent_n INTEGER NOT NULL REFERENCES agents (n),
    name TEXT NOT NULL,
    off_at INTEGER NOT NULL,
    PRIMARY KEY (agent_n, name)
) STRICT;
