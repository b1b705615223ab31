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
