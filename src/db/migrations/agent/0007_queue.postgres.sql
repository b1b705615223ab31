-- The queue has one order: not_before, then n. What a person waits for has -1 there, what waits for the
-- end of a run 1 << 62. So one range of one index is what is due, in the order in which it is taken.
DROP INDEX idx_wake_queue_due;
CREATE INDEX idx_wake_queue_due ON wake_queue (not_before, n);
UPDATE wake_queue SET not_before = -1 WHERE priority = 0 AND not_before < 4611686018427387904;

-- Lists of wakes by what became of them, and by what woke.
CREATE INDEX idx_wake_runs_status ON wake_runs (status, n);
CREATE INDEX idx_wake_runs_reason ON wake_runs (reason_id, n);
-- How often an agent woke within the hour.
CREATE INDEX idx_wake_runs_begun ON wake_runs (agent_n, started_at) WHERE run_n IS NOT NULL;

-- Nothing is looked for by these.
DROP INDEX idx_wake_runs_open;
DROP INDEX idx_wake_runs_coalesced;
DROP INDEX idx_leases_holder;

-- Until now modes were not looked at. Whatever wakes by itself goes on doing so.
UPDATE agents SET mode = 'hybrid' WHERE mode = 'interactive'
    AND n IN (SELECT agent_n FROM agent_subscriptions UNION SELECT agent_n FROM agent_timers);
