-- A host's newest message has its highest counter.
DROP INDEX idx_agent_messages_host_counter;
CREATE INDEX idx_agent_messages_host ON agent_messages (host_n, n);
