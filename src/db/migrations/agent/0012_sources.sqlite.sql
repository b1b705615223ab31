-- Where text came from, kept with the text. A message says it of its whole thread, so that nobody
-- has to look at the messages before it; of threads that are older than this, the row says it.
ALTER TABLE agent_messages ADD COLUMN thread_taint TEXT;
ALTER TABLE threads ADD COLUMN taint TEXT;
UPDATE threads SET taint = (SELECT group_concat(DISTINCT m.taint) FROM agent_messages m
    WHERE m.thread_n = threads.n AND m.taint IS NOT NULL);
DROP INDEX idx_agent_messages_tainted;

-- Of an agent's name, instructions and prompts; and of what it keeps in its slots.
ALTER TABLE agents ADD COLUMN taint TEXT;
ALTER TABLE agent_states ADD COLUMN slot_taint TEXT;

-- The same content under another name has come from the same place.
CREATE INDEX idx_file_versions_tainted ON file_versions (hash) WHERE taint IS NOT NULL;
