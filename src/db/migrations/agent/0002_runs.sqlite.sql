-- Agents, what they said and did, and the log of every run.
--
-- Rows refer to each other by local integers (n); the ids of the outside world are text beside
-- them. What is synced later carries (host_n, counter). Messages and events are appended in the
-- order they happen and never rewritten.

-- Rows name a host by its number.
ALTER TABLE hosts ADD COLUMN n INTEGER;
UPDATE hosts SET n = (SELECT count(*) FROM hosts AS h WHERE h.id <= hosts.id);
CREATE UNIQUE INDEX idx_hosts_n ON hosts (n);

CREATE TABLE agents (
    n INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    display_name TEXT NOT NULL,
    lifecycle TEXT NOT NULL DEFAULT 'active',      -- created, active, dormant, destroyed
    paused INTEGER NOT NULL DEFAULT 0,
    mode TEXT NOT NULL DEFAULT 'interactive',      -- autonomous, interactive, hybrid
    allowed_category_ids TEXT NOT NULL DEFAULT '[]',
    current_state_id TEXT,
    config_schema_version INTEGER NOT NULL DEFAULT 1,
    model_id TEXT,
    prompt_id TEXT,
    instructions TEXT NOT NULL DEFAULT '',
    tools TEXT,                                    -- JSON list of tool names; NULL: the kind's
    extension TEXT NOT NULL DEFAULT '{}',
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    destroyed_at INTEGER,
    vector_clock TEXT NOT NULL DEFAULT '{}',
    host_n INTEGER NOT NULL DEFAULT 0,
    counter INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX idx_agents_host_counter ON agents (host_n, counter);

CREATE TABLE agent_states (
    id TEXT NOT NULL PRIMARY KEY,
    agent_n INTEGER NOT NULL REFERENCES agents (n),
    revision INTEGER NOT NULL DEFAULT 0,
    updated_at INTEGER NOT NULL,
    last_wake_at INTEGER,
    next_wake_at INTEGER,
    sleep_until INTEGER,
    recent_head_message_id TEXT,
    latest_summary_message_id TEXT,
    consecutive_failure_count INTEGER NOT NULL DEFAULT 0,
    processed_counter_by_host TEXT NOT NULL DEFAULT '{}',
    primary_goal TEXT,
    primary_goal_version INTEGER NOT NULL DEFAULT 0,
    active_task_id TEXT,
    active_task_id_version INTEGER NOT NULL DEFAULT 0,
    open_loop_ids TEXT NOT NULL DEFAULT '[]',
    open_loop_ids_version INTEGER NOT NULL DEFAULT 0,
    preference_by_key TEXT NOT NULL DEFAULT '{}',
    preference_by_key_version INTEGER NOT NULL DEFAULT 0,
    extension TEXT NOT NULL DEFAULT '{}',
    extension_version INTEGER NOT NULL DEFAULT 0,
    vector_clock TEXT NOT NULL DEFAULT '{}',
    host_n INTEGER NOT NULL DEFAULT 0,
    counter INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX idx_agent_states_agent ON agent_states (agent_n);
CREATE INDEX idx_agent_states_host_counter ON agent_states (host_n, counter);

CREATE TABLE threads (
    n INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,                       -- agentId:run:W or agentId:session:S
    agent_n INTEGER NOT NULL REFERENCES agents (n),
    title TEXT NOT NULL DEFAULT '',
    last_seq INTEGER NOT NULL DEFAULT 0,           -- of public events
    last_message_n INTEGER,
    message_count INTEGER NOT NULL DEFAULT 0,
    tokens_total INTEGER NOT NULL DEFAULT 0,           -- of its messages, each as it counts in a prompt
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER
) STRICT;
CREATE INDEX idx_threads_agent_updated ON threads (agent_n, updated_at DESC);

CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    agent_n INTEGER NOT NULL REFERENCES agents (n),
    thread_n INTEGER NOT NULL REFERENCES threads (n),
    created_at INTEGER NOT NULL,
    expires_at INTEGER
) STRICT;

CREATE TABLE agent_messages (
    n INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL,                          -- made from run and row: unique as it is, and no query needs an index
    agent_n INTEGER NOT NULL,
    thread_n INTEGER NOT NULL,
    run_n INTEGER,
    kind TEXT NOT NULL,                            -- observation user thought action toolResult summary system
    created_at INTEGER NOT NULL,
    prev_n INTEGER,                                -- prevMessageId
    tokens_approx INTEGER NOT NULL DEFAULT 0,
    ordinal INTEGER NOT NULL,                          -- 1, 2, 3 ... in the thread
    tokens_total INTEGER NOT NULL,                     -- of the thread up to and with this one
    content TEXT,                                  -- inline below 4 KB
    content_entry_n INTEGER,                       -- contentEntryId: else in agent_message_payloads
    trigger_source_id TEXT,
    summary_start_message_id TEXT,
    summary_end_message_id TEXT,
    summary_depth INTEGER NOT NULL DEFAULT 0,
    -- metadata
    action_type TEXT,                              -- tool_call propose_plan ask_user lifecycle_transition
    tool_name TEXT,
    call_id TEXT,                                  -- as the model named it
    operation_n INTEGER,                           -- operationId
    arguments_hash TEXT,
    scope_snapshot TEXT,
    action_ref_n INTEGER,                          -- actionRefId
    status TEXT,                                   -- success error partial
    error_code TEXT,
    error_message TEXT,
    changed_entity_ids TEXT,
    changed_tokens TEXT,
    prompt_id TEXT,
    prompt_version TEXT,
    model_id TEXT,
    taint TEXT,                                    -- where untrusted text in it came from; NULL: nowhere
    extension TEXT,
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_agent_messages_thread ON agent_messages (thread_n, n);
CREATE INDEX idx_agent_messages_agent_created ON agent_messages (agent_n, created_at DESC);
CREATE INDEX idx_agent_messages_host_counter ON agent_messages (host_n, counter);

CREATE TABLE agent_message_payloads (
    n INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,                       -- content hash
    agent_n INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    content TEXT NOT NULL,
    content_type TEXT NOT NULL DEFAULT 'application/json',
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_agent_message_payloads_agent_created ON agent_message_payloads (agent_n, created_at DESC);
CREATE INDEX idx_agent_message_payloads_host_counter ON agent_message_payloads (host_n, counter);

CREATE TABLE agent_links (
    id TEXT NOT NULL PRIMARY KEY,
    type TEXT NOT NULL,                            -- relation
    from_id TEXT NOT NULL,
    to_id TEXT NOT NULL,
    metadata TEXT NOT NULL DEFAULT '{}',
    hidden INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    host_n INTEGER NOT NULL DEFAULT 0,
    counter INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX idx_agent_links_type_from_hidden_created ON agent_links (type, from_id, hidden, created_at DESC);
CREATE INDEX idx_agent_links_type_to_hidden_created ON agent_links (type, to_id, hidden, created_at DESC);
CREATE INDEX idx_agent_links_host_counter ON agent_links (host_n, counter);

CREATE TABLE runs (
    n INTEGER NOT NULL PRIMARY KEY,
    run_key TEXT NOT NULL UNIQUE,                  -- runId = wakeId = runKey
    agent_n INTEGER NOT NULL,
    thread_n INTEGER NOT NULL,
    wake_reason TEXT NOT NULL,                     -- subscription timer userInitiated recoveryCatchup manual
    status TEXT NOT NULL,                          -- queued running waiting done cancelled failed
    mode TEXT NOT NULL,                            -- structured wiggum
    model_id TEXT NOT NULL,
    cwd TEXT NOT NULL,
    program_hash BLOB NOT NULL,
    settings TEXT NOT NULL DEFAULT '{}',           -- limits as given, sandbox, what a rerun needs
    prompt_n INTEGER,                              -- the message that it began with
    result_n INTEGER,                              -- the one that it ended with
    wait_kind TEXT,                                -- inbox, rate_limit, tool
    wait_until INTEGER,
    hand_state TEXT,                               -- what a new hand of this run must know
    hand_pid INTEGER,
    hand_stamp INTEGER,
    iterations INTEGER NOT NULL DEFAULT 0,
    tool_calls INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0,
    active_ms INTEGER NOT NULL DEFAULT 0,          -- without waiting
    stop_reason TEXT,                              -- end_turn cancelled error
    error_code TEXT,
    error_message TEXT,
    rerun_of_n INTEGER,
    override_code TEXT,
    host_n INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    ended_at INTEGER
) STRICT;
CREATE INDEX idx_runs_open ON runs (created_at, n) WHERE status IN ('queued', 'running', 'waiting');
CREATE INDEX idx_runs_wait ON runs (wait_until) WHERE wait_until IS NOT NULL;
CREATE UNIQUE INDEX idx_runs_thread_open ON runs (thread_n) WHERE status IN ('queued', 'running', 'waiting');
CREATE INDEX idx_runs_agent ON runs (agent_n);

-- Every selected event. Content is referred to, never copied.
CREATE TABLE run_events (
    n INTEGER NOT NULL PRIMARY KEY,
    run_n INTEGER NOT NULL,
    thread_n INTEGER NOT NULL,
    seq INTEGER,                                   -- of the thread's public events; NULL: internal
    type INTEGER NOT NULL,
    key INTEGER NOT NULL DEFAULT 0,
    bits INTEGER NOT NULL DEFAULT 0,
    ref INTEGER,                                   -- message, inbox item or operation, by type
    data TEXT,                                     -- what is said nowhere else, small JSON
    at INTEGER NOT NULL,
    chain BLOB NOT NULL                            -- 16 bytes: this row, its content and all before it
) STRICT;
CREATE INDEX idx_run_events_run ON run_events (run_n);
CREATE UNIQUE INDEX idx_run_events_thread_seq ON run_events (thread_n, seq) WHERE seq IS NOT NULL;

-- The effect ledger and saga log in one.
CREATE TABLE operations (
    n INTEGER NOT NULL PRIMARY KEY,
    operation_id TEXT NOT NULL UNIQUE,
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
CREATE INDEX idx_operations_run ON operations (run_n);

CREATE TABLE action_plans (
    run_n INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    action_stable_id TEXT NOT NULL,
    operation_id TEXT NOT NULL,
    plan TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (run_n, ordinal)
) STRICT;

CREATE TABLE inbox (
    n INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'pending',
    agent_n INTEGER,
    thread_n INTEGER,
    run_n INTEGER,
    call_key INTEGER NOT NULL DEFAULT 0,
    tool_name TEXT,
    title TEXT NOT NULL,
    body TEXT NOT NULL DEFAULT '{}',               -- JSON: arguments, question, choices
    preview_kind TEXT,                             -- diff, command, text
    preview TEXT,
    digest TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    decided_at INTEGER,
    decided_by TEXT,
    scope TEXT,                                    -- once run always
    reason TEXT,
    answer TEXT,                                   -- JSON: edited arguments, or what was said
    taint TEXT,
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_inbox_pending ON inbox (created_at, n) WHERE state = 'pending';
CREATE INDEX idx_inbox_expiry ON inbox (expires_at) WHERE state = 'pending' AND expires_at IS NOT NULL;
CREATE INDEX idx_inbox_run ON inbox (run_n);
CREATE INDEX idx_inbox_host_counter ON inbox (host_n, counter);

-- "For this run" and "always for this agent and this exact pattern".
CREATE TABLE approval_grants (
    id TEXT NOT NULL PRIMARY KEY,
    agent_n INTEGER NOT NULL,
    run_n INTEGER,                                 -- NULL: always
    tool_name TEXT NOT NULL,
    pattern TEXT NOT NULL,                         -- canonical JSON of what was approved
    inbox_id TEXT NOT NULL,
    granted_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;
CREATE INDEX idx_approval_grants_agent_tool_run ON approval_grants (agent_n, tool_name, run_n);

CREATE TABLE kill_switches (
    scope TEXT NOT NULL,                           -- all agent tools
    value TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    since INTEGER NOT NULL,
    set_by TEXT NOT NULL DEFAULT 'owner',
    PRIMARY KEY (scope, value)
) STRICT;

CREATE TABLE consent_receipts (
    id TEXT NOT NULL PRIMARY KEY,
    model_id TEXT NOT NULL,
    provider TEXT NOT NULL,
    host TEXT NOT NULL,
    policy_version TEXT NOT NULL,
    retention TEXT NOT NULL,
    jurisdiction TEXT NOT NULL,
    trains INTEGER NOT NULL,
    given_by TEXT NOT NULL,
    given_at INTEGER NOT NULL,
    withdrawn_at INTEGER
) STRICT;
CREATE INDEX idx_consent_receipts_model ON consent_receipts (model_id);

CREATE TABLE leases (
    name TEXT NOT NULL PRIMARY KEY,
    holder TEXT NOT NULL,
    fence INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

CREATE TABLE wake_runs (
    run_key TEXT NOT NULL PRIMARY KEY,
    agent_n INTEGER NOT NULL,
    reason TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    status TEXT NOT NULL,
    coalesced_into TEXT,
    created_at INTEGER NOT NULL,
    ended_at INTEGER
) STRICT;

CREATE TABLE wake_queue (
    n INTEGER NOT NULL PRIMARY KEY,
    run_key TEXT NOT NULL UNIQUE,
    agent_n INTEGER NOT NULL,
    reason TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    payload TEXT NOT NULL DEFAULT '{}',
    not_before INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_wake_queue_due ON wake_queue (not_before);

CREATE TABLE dead_letters (
    n INTEGER NOT NULL PRIMARY KEY,
    source TEXT NOT NULL,
    ref TEXT NOT NULL,
    error_code TEXT NOT NULL,
    error_message TEXT NOT NULL,
    payload TEXT NOT NULL DEFAULT '{}',
    created_at INTEGER NOT NULL
) STRICT;
