-- What lists of agents and conversations are read by.

-- Tokens of today.
CREATE INDEX idx_runs_created ON runs (created_at);

-- An agent's newest run.
DROP INDEX idx_runs_agent;
CREATE INDEX idx_runs_agent ON runs (agent_n, n);

-- Conversations by their last word; those that were deleted stay out.
DROP INDEX idx_threads_agent_updated;
CREATE INDEX idx_threads_agent_updated ON threads (agent_n, updated_at DESC, n DESC) WHERE deleted_at IS NULL;
