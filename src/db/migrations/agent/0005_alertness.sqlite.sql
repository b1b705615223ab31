-- Alertness: what agents wait for, when they wake, and what became of every wake.

-- ---- agents ----

ALTER TABLE agents ADD COLUMN session_ttl_ms INTEGER NOT NULL DEFAULT 1800000;   -- idle sessions end
ALTER TABLE agents ADD COLUMN profile TEXT;                -- what its kind may do; NULL: as its kind says
ALTER TABLE sessions ADD COLUMN last_at INTEGER;
ALTER TABLE sessions ADD COLUMN closed_at INTEGER;
ALTER TABLE sessions ADD COLUMN closed_why TEXT;           -- idle, person, destroyed
CREATE INDEX idx_sessions_expiry ON sessions (expires_at) WHERE closed_at IS NULL;
CREATE INDEX idx_sessions_agent ON sessions (agent_n) WHERE closed_at IS NULL;

-- A host writes its own row of an agent's state; reading merges the rows of all hosts.
ALTER TABLE agent_states ADD COLUMN lifecycle TEXT NOT NULL DEFAULT 'active';
ALTER TABLE agent_states ADD COLUMN head_at TEXT;          -- JSON: clock and place of recent_head_message_id
ALTER TABLE agent_states ADD COLUMN summary_at TEXT;       -- ... of latest_summary_message_id
ALTER TABLE agent_states ADD COLUMN success_count INTEGER NOT NULL DEFAULT 0;   -- epoch of the failure count
ALTER TABLE agent_states ADD COLUMN host_seen_at TEXT NOT NULL DEFAULT '{}';    -- JSON: when each host was last heard
ALTER TABLE agent_states ADD COLUMN slot_hosts TEXT NOT NULL DEFAULT '{}';      -- JSON: who wrote each slot

-- ---- reports ----

CREATE TABLE agent_reports (
    n INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    agent_n INTEGER NOT NULL REFERENCES agents (n),
    scope TEXT NOT NULL,                           -- current daily weekly monthly
    created_at INTEGER NOT NULL,
    content TEXT NOT NULL,                         -- JSON: {"title","text"}
    confidence REAL,
    provenance TEXT NOT NULL DEFAULT '{}',
    cursor TEXT NOT NULL DEFAULT '{}',             -- JSON: what it had seen, host id and counter
    run_n INTEGER,
    taint TEXT,
    deleted_at INTEGER,
    vector_clock TEXT NOT NULL DEFAULT '{}',
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_agent_reports_agent_scope_created ON agent_reports (agent_n, scope, created_at DESC);
CREATE INDEX idx_agent_reports_host_counter ON agent_reports (host_n, counter);

CREATE TABLE agent_report_heads (
    id TEXT NOT NULL PRIMARY KEY,                  -- made of agent and scope
    agent_n INTEGER NOT NULL REFERENCES agents (n),
    scope TEXT NOT NULL,
    report_id TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    vector_clock TEXT NOT NULL DEFAULT '{}',
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX idx_agent_report_heads_agent_scope ON agent_report_heads (agent_n, scope);
CREATE INDEX idx_agent_report_heads_host_counter ON agent_report_heads (host_n, counter);

CREATE TABLE agent_source_refs (
    n INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    agent_n INTEGER NOT NULL REFERENCES agents (n),
    report_id TEXT,
    section_id TEXT NOT NULL DEFAULT '',
    claim_id TEXT NOT NULL DEFAULT '',
    source_type TEXT NOT NULL,                     -- journal agent web tool_output
    source_id TEXT NOT NULL,                       -- sourceLocator
    captured_at INTEGER NOT NULL,
    freshness_at INTEGER NOT NULL,
    confidence REAL,
    inference_flag TEXT NOT NULL DEFAULT 'observed',
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_agent_source_refs_agent_source ON agent_source_refs (agent_n, source_type, source_id);
CREATE INDEX idx_agent_source_refs_report ON agent_source_refs (report_id);
CREATE INDEX idx_agent_source_refs_host_counter ON agent_source_refs (host_n, counter);

-- ---- what wakes an agent ----

CREATE TABLE agent_subscriptions (
    n INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    agent_n INTEGER NOT NULL REFERENCES agents (n),
    name TEXT NOT NULL DEFAULT '',                 -- for people
    source TEXT NOT NULL,                          -- journal agent files webhook
    notification_key TEXT,                         -- its first semantic key
    predicate TEXT NOT NULL DEFAULT '',            -- as it was written; empty: everything
    authors TEXT NOT NULL DEFAULT 'human',         -- human,agent,sync
    active_hours TEXT,                             -- JSON; NULL: always
    cooldown_ms INTEGER NOT NULL DEFAULT 0,
    folder TEXT,                                   -- of source files
    glob TEXT,                                     -- ... which of them; NULL: all
    prompt TEXT NOT NULL DEFAULT '',               -- what the agent is told when it wakes
    active INTEGER NOT NULL DEFAULT 1,
    last_wake_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    vector_clock TEXT NOT NULL DEFAULT '{}',
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_agent_subscriptions_agent_active ON agent_subscriptions (agent_n, active);
CREATE INDEX idx_agent_subscriptions_key_active ON agent_subscriptions (notification_key, active);
CREATE INDEX idx_agent_subscriptions_folder ON agent_subscriptions (folder) WHERE folder IS NOT NULL AND active = 1;
CREATE INDEX idx_agent_subscriptions_host_counter ON agent_subscriptions (host_n, counter);

CREATE TABLE agent_subscription_tokens (
    subscription_n INTEGER NOT NULL REFERENCES agent_subscriptions (n),
    token_class TEXT NOT NULL,                     -- semanticKey subtypeToken entityId
    token_namespace TEXT NOT NULL DEFAULT '',      -- empty: none
    token_value TEXT NOT NULL,
    active INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (subscription_n, token_class, token_namespace, token_value)
) STRICT, WITHOUT ROWID;
CREATE INDEX idx_agent_subscription_tokens_class_namespace_value_active
    ON agent_subscription_tokens (token_class, token_namespace, token_value, active);
CREATE INDEX idx_agent_subscription_tokens_subscription_active ON agent_subscription_tokens (subscription_n, active);

CREATE TABLE webhooks (
    n INTEGER NOT NULL PRIMARY KEY,
    subscription_n INTEGER NOT NULL UNIQUE REFERENCES agent_subscriptions (n),
    token_hash TEXT NOT NULL UNIQUE,               -- the token itself is shown once
    created_at INTEGER NOT NULL,
    last_at INTEGER,
    received INTEGER NOT NULL DEFAULT 0,
    refused INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE agent_timers (
    n INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    agent_n INTEGER NOT NULL REFERENCES agents (n),
    name TEXT NOT NULL DEFAULT '',
    kind TEXT NOT NULL,                            -- rrule once interval
    rrule TEXT,                                    -- of kind rrule: "FREQ=DAILY"
    start_local TEXT,                              -- "2026-02-18T07:00:00": of rrule and once, on the zone's clocks
    zone TEXT,                                     -- IANA name; NULL: wherever this machine is
    interval_ms INTEGER,                           -- of kind interval
    missed TEXT NOT NULL DEFAULT 'once',           -- once skip all
    missed_cap INTEGER NOT NULL DEFAULT 10,        -- of all
    prompt TEXT NOT NULL DEFAULT '',
    next_run_at INTEGER,                           -- NULL: it has ended
    next_local TEXT,                               -- the occurrence that this is, on the zone's clocks
    last_run_at INTEGER,                           -- scheduledAt of the last firing or skip
    active INTEGER NOT NULL DEFAULT 1,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    vector_clock TEXT NOT NULL DEFAULT '{}',
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_agent_timers_due ON agent_timers (active, next_run_at);
CREATE INDEX idx_agent_timers_agent ON agent_timers (agent_n, active);
CREATE INDEX idx_agent_timers_host_counter ON agent_timers (host_n, counter);

-- Firings that did not become wakes, and why.
CREATE TABLE timer_skips (
    n INTEGER NOT NULL PRIMARY KEY,
    timer_n INTEGER NOT NULL REFERENCES agent_timers (n),
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    count INTEGER NOT NULL,
    reason TEXT NOT NULL,                          -- missed, gap, cap, paused, destroyed
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_timer_skips_timer ON timer_skips (timer_n, n);

-- How far a domain's batches were read.
CREATE TABLE wake_cursors (
    domain TEXT NOT NULL PRIMARY KEY,
    txid INTEGER NOT NULL,
    n INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

-- ---- wakes ----
-- A wake stands in wake_queue until it is taken; what became of it stands in wake_runs, under the
-- same key. A wake changes hands in one transaction. (Nothing was written to the former tables.)

DROP TABLE wake_queue;
CREATE TABLE wake_queue (
    n INTEGER PRIMARY KEY AUTOINCREMENT,           -- never given twice: it goes along into wake_runs
    run_key TEXT NOT NULL UNIQUE,
    agent_n INTEGER NOT NULL,
    reason TEXT NOT NULL,                          -- subscription timer userInitiated recoveryCatchup manual
    reason_id TEXT NOT NULL DEFAULT '',            -- the subscription or timer
    thread_id TEXT NOT NULL,
    scheduled_at INTEGER,                          -- of a timer
    logical_change_key TEXT,                       -- of a subscription
    payload TEXT NOT NULL DEFAULT '{}',            -- JSON: batch, tokens, counters, what was said
    priority INTEGER NOT NULL DEFAULT 1,           -- 0: a person waits
    not_before INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_wake_queue_due ON wake_queue (priority, not_before, n);
CREATE INDEX idx_wake_queue_agent ON wake_queue (agent_n, n);

DROP TABLE wake_runs;
CREATE TABLE wake_runs (
    n INTEGER NOT NULL PRIMARY KEY,                -- what it was in the queue
    run_key TEXT NOT NULL UNIQUE,
    agent_n INTEGER NOT NULL,
    reason TEXT NOT NULL,
    reason_id TEXT NOT NULL DEFAULT '',
    thread_id TEXT NOT NULL,
    scheduled_at INTEGER,
    logical_change_key TEXT,
    payload TEXT NOT NULL DEFAULT '{}',
    status TEXT NOT NULL,                          -- running, or a terminal one
    flying INTEGER NOT NULL DEFAULT 0,             -- 1: its run executes, and no other wake of the agent does
    why TEXT NOT NULL DEFAULT '',                  -- a sentence for people
    error_code TEXT,
    coalesced_into TEXT,                           -- the key of the wake that did its work
    run_n INTEGER,                                 -- NULL: no run was needed
    attempts INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,                   -- when it was queued
    started_at INTEGER,
    ended_at INTEGER
) STRICT;
CREATE UNIQUE INDEX idx_wake_runs_flight ON wake_runs (agent_n) WHERE flying = 1;
CREATE INDEX idx_wake_runs_open ON wake_runs (n) WHERE ended_at IS NULL;
CREATE INDEX idx_wake_runs_agent ON wake_runs (agent_n, n);
CREATE INDEX idx_wake_runs_coalesced ON wake_runs (coalesced_into) WHERE coalesced_into IS NOT NULL;
CREATE INDEX idx_leases_holder ON leases (holder);

-- Whose the run is: a daemon that shares the database takes over what another one left.
ALTER TABLE runs ADD COLUMN wake_key TEXT;                                   -- of wake_runs; NULL: somebody spoke
ALTER TABLE runs ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;

-- What one transaction changed. Written in it, read by cursor (txid, n): whoever waits for changes
-- misses none and sees none twice. txid orders the writers of a shared database by commit; with one
-- writer it is 0.
CREATE TABLE change_batches (
    n INTEGER NOT NULL PRIMARY KEY,
    txid INTEGER NOT NULL DEFAULT 0,
    local_batch_id TEXT NOT NULL,                  -- for people and logs; says nothing elsewhere
    logical_change_key TEXT NOT NULL,              -- the same on every device
    change_unit_keys TEXT NOT NULL,                -- JSON list, sorted
    units TEXT NOT NULL,                           -- JSON list of [hostId, counter, payloadType, payloadId]
    typed_tokens TEXT NOT NULL,                    -- JSON list of [class, namespace or null, value]
    author TEXT NOT NULL,                          -- human agent sync
    author_id TEXT,                                -- the agent
    operation_id TEXT,
    host_n INTEGER NOT NULL,
    last_counter INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_change_batches_cursor ON change_batches (txid, n);
CREATE INDEX idx_change_batches_host_counter ON change_batches (host_n, last_counter);
CREATE INDEX idx_change_batches_created ON change_batches (created_at);
-- Those that no earlier one can follow any more.
CREATE VIEW change_batches_settled AS SELECT * FROM change_batches;
