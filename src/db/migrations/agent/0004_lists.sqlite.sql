-- What lists of agents and conversations are read by.

-- Tokens of today.
CREATE INDEX idx_runs_created ON runs (created_at);

-- Conversations by their last word; those that were deleted stay out.
DROP INDEX idx_threads_agent_updated;
CREATE INDEX idx_threads_agent_updated ON threads (agent_n, updated_at DESC, n DESC) WHERE deleted_at IS NULL;
