-- Fewer pages for a turn to write.

-- An operation's id is made from its run's key: it is unique within the run, and looked for there.
ALTER TABLE operations DROP CONSTRAINT operations_operation_id_key;
DROP INDEX idx_operations_run;
CREATE UNIQUE INDEX idx_operations_run ON operations (run_n, operation_id);

-- Runs that have not ended are found by idx_runs_thread_open, which has to be there.
DROP INDEX idx_runs_open;
