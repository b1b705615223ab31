-- Of an agent's messages only those that changed something are looked for in the order of time.
-- (Where several hosts write, their heads are compared by the index that goes here.)
DROP INDEX idx_agent_messages_agent_created;
CREATE INDEX idx_agent_messages_effects ON agent_messages (agent_n, created_at DESC, n DESC)
    WHERE changed_entity_ids IS NOT NULL;

-- A host's newest message has its highest counter, and here one host writes.
DROP INDEX idx_agent_messages_host_counter;
