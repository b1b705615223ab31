-- The person's own records: what there is to do, what was done, planned, felt and noted.
--
-- Every record has an id for the outside world and a number (n) for the order in which it came
-- here. Records refer to each other by id: they travel between devices, and a reference may
-- arrive before what it names. Nothing is removed: deleted_at stays as a tombstone.
-- (host_n, counter) says which write of which host made the row what it is; vector_clock is a JSON
-- object of host id and counter.

CREATE TABLE hosts (
    n INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE categories (
    n INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    folded TEXT NOT NULL,                          -- the name as it is compared
    color TEXT NOT NULL DEFAULT '',                -- "#3b82f6"; empty: the page chooses
    archived INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    vector_clock TEXT NOT NULL,
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_categories_folded ON categories (folded) WHERE deleted_at IS NULL;
CREATE INDEX idx_categories_host_counter ON categories (host_n, counter);

CREATE TABLE labels (
    n INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    folded TEXT NOT NULL,
    color TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    vector_clock TEXT NOT NULL,
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_labels_folded ON labels (folded) WHERE deleted_at IS NULL;
CREATE INDEX idx_labels_host_counter ON labels (host_n, counter);

CREATE TABLE tasks (
    n INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    notes TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL DEFAULT 'OPEN',           -- OPEN GROOMED IN_PROGRESS BLOCKED ON_HOLD DONE REJECTED
    closed INTEGER NOT NULL DEFAULT 0,             -- 1: DONE or REJECTED
    priority INTEGER NOT NULL DEFAULT 2,           -- 0 (first) to 3: P0 P1 P2 P3
    estimate_min INTEGER,
    due TEXT NOT NULL DEFAULT '9999-12-31',        -- a local day or "2026-02-17T16:00"; the last: none
    language TEXT,                                 -- BCP 47
    category_id TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    closed_at INTEGER,
    deleted_at INTEGER,
    vector_clock TEXT NOT NULL,
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL
) STRICT;
-- Each list that people look at is read in the order of one of these. What is looked for in it
-- stands at their end, so that rows that do not fit are passed over without being read.
CREATE INDEX idx_tasks_closed_due ON tasks (closed, due, priority, n, title, status, category_id, id) WHERE deleted_at IS NULL;
CREATE INDEX idx_tasks_closed_priority ON tasks (closed, priority, due, n, title, status, category_id, id) WHERE deleted_at IS NULL;
CREATE INDEX idx_tasks_category_closed_due ON tasks (category_id, closed, due, priority, n, title, status, id) WHERE deleted_at IS NULL;
CREATE INDEX idx_tasks_status_due ON tasks (status, due, priority, n, title, category_id, id) WHERE deleted_at IS NULL;
CREATE INDEX idx_tasks_updated ON tasks (updated_at, n) WHERE deleted_at IS NULL;
CREATE INDEX idx_tasks_host_counter ON tasks (host_n, counter);

CREATE TABLE task_labels (
    n INTEGER NOT NULL PRIMARY KEY,
    task_id TEXT NOT NULL,
    label_id TEXT NOT NULL,
    deleted_at INTEGER,
    vector_clock TEXT NOT NULL,
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX idx_task_labels_task_label ON task_labels (task_id, label_id);
CREATE INDEX idx_task_labels_label ON task_labels (label_id, task_id) WHERE deleted_at IS NULL;
CREATE INDEX idx_task_labels_host_counter ON task_labels (host_n, counter);

CREATE TABLE checklists (
    n INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    task_id TEXT,
    title TEXT NOT NULL,
    position INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    vector_clock TEXT NOT NULL,
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_checklists_task ON checklists (task_id, position, n) WHERE deleted_at IS NULL;
CREATE INDEX idx_checklists_host_counter ON checklists (host_n, counter);

CREATE TABLE checklist_items (
    n INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    checklist_id TEXT NOT NULL,
    title TEXT NOT NULL,
    checked INTEGER NOT NULL DEFAULT 0,
    position INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    vector_clock TEXT NOT NULL,
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_checklist_items_list ON checklist_items (checklist_id, position, n) WHERE deleted_at IS NULL;
CREATE INDEX idx_checklist_items_host_counter ON checklist_items (host_n, counter);

CREATE TABLE time_entries (
    n INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    task_id TEXT,
    category_id TEXT,                              -- of time that belongs to no task
    started_at INTEGER NOT NULL,
    ended_at INTEGER,                              -- NULL: the timer runs
    description TEXT NOT NULL DEFAULT '',
    source_entry_id TEXT,                          -- the entry it was told in (a recording)
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    vector_clock TEXT NOT NULL,
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_time_entries_started ON time_entries (started_at, n) WHERE deleted_at IS NULL;
CREATE INDEX idx_time_entries_task ON time_entries (task_id, started_at) WHERE deleted_at IS NULL;
CREATE INDEX idx_time_entries_running ON time_entries (started_at) WHERE ended_at IS NULL AND deleted_at IS NULL;
CREATE INDEX idx_time_entries_host_counter ON time_entries (host_n, counter);

-- One plan a local day; its id is made of the day, so that two devices make the same one.
CREATE TABLE day_plans (
    n INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,                       -- dayplan-2026-02-18
    plan_date TEXT NOT NULL UNIQUE,
    note TEXT NOT NULL DEFAULT '',
    pinned_task_ids TEXT NOT NULL DEFAULT '[]',    -- JSON list, in order
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    vector_clock TEXT NOT NULL,
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_day_plans_host_counter ON day_plans (host_n, counter);

CREATE TABLE day_plan_blocks (
    n INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    plan_id TEXT NOT NULL,
    category_id TEXT,
    task_id TEXT,
    start_at INTEGER NOT NULL,
    end_at INTEGER NOT NULL,
    note TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    vector_clock TEXT NOT NULL,
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_day_plan_blocks_plan ON day_plan_blocks (plan_id, start_at, n) WHERE deleted_at IS NULL;
CREATE INDEX idx_day_plan_blocks_task ON day_plan_blocks (task_id) WHERE deleted_at IS NULL;
CREATE INDEX idx_day_plan_blocks_host_counter ON day_plan_blocks (host_n, counter);

-- How something was, from 1 to 5. One rating for a target and dimension.
CREATE TABLE ratings (
    n INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,                       -- made of target and dimension
    target_type TEXT NOT NULL,                     -- task, timeEntry, dayPlan, entry
    target_id TEXT NOT NULL,
    dimension TEXT NOT NULL,                       -- productivity, energy, focus, mood ...
    value INTEGER NOT NULL,
    note TEXT NOT NULL DEFAULT '',
    rated_at INTEGER NOT NULL,                     -- the moment that is rated
    category_id TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    vector_clock TEXT NOT NULL,
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX idx_ratings_target ON ratings (target_type, target_id, dimension);
CREATE INDEX idx_ratings_rated ON ratings (rated_at, n) WHERE deleted_at IS NULL;
CREATE INDEX idx_ratings_host_counter ON ratings (host_n, counter);

CREATE TABLE entries (
    n INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,                            -- note workout audio measurement
    subtype TEXT NOT NULL DEFAULT '',              -- of a workout: running; of a measurement: weight
    category_id TEXT,
    title TEXT NOT NULL DEFAULT '',
    body TEXT NOT NULL DEFAULT '',
    at INTEGER NOT NULL,
    duration_ms INTEGER,
    value REAL,
    unit TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    vector_clock TEXT NOT NULL,
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_entries_at ON entries (at, n) WHERE deleted_at IS NULL;
CREATE INDEX idx_entries_kind_at ON entries (kind, at, n) WHERE deleted_at IS NULL;
CREATE INDEX idx_entries_host_counter ON entries (host_n, counter);

CREATE TABLE attachments (
    n INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    entry_id TEXT NOT NULL,
    file_name TEXT NOT NULL,
    content_type TEXT NOT NULL,
    size INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    vector_clock TEXT NOT NULL,
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL,
    content BLOB                                   -- last: what is long is not read on the way to what is short
) STRICT;
CREATE INDEX idx_attachments_entry ON attachments (entry_id, n) WHERE deleted_at IS NULL;
CREATE INDEX idx_attachments_host_counter ON attachments (host_n, counter);

CREATE TABLE entry_links (
    n INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,                       -- made of relation and ends
    relation TEXT NOT NULL,                        -- about, follow_up, source, report
    from_type TEXT NOT NULL,
    from_id TEXT NOT NULL,
    to_type TEXT NOT NULL,
    to_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    deleted_at INTEGER,
    vector_clock TEXT NOT NULL,
    host_n INTEGER NOT NULL,
    counter INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_entry_links_from ON entry_links (from_id, relation) WHERE deleted_at IS NULL;
CREATE INDEX idx_entry_links_to ON entry_links (to_id, relation) WHERE deleted_at IS NULL;
CREATE INDEX idx_entry_links_host_counter ON entry_links (host_n, counter);

-- What was applied here for somebody in another domain: doing it again gives the same answer.
CREATE TABLE journal_operations (
    operation_id TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,                            -- the tool or command
    author TEXT NOT NULL,                          -- human agent sync
    arguments_hash TEXT NOT NULL,
    result TEXT NOT NULL,                          -- JSON
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_journal_operations_created ON journal_operations (author, created_at);

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
-- Every write of every host, in the order of its counter.
CREATE VIEW sequence_log AS
    SELECT host_n, counter, 'category' AS payload_type, id AS payload_id FROM categories
    UNION ALL SELECT host_n, counter, 'label', id FROM labels
    UNION ALL SELECT host_n, counter, 'task', id FROM tasks
    UNION ALL SELECT host_n, counter, 'taskLabel', task_id || ':' || label_id FROM task_labels
    UNION ALL SELECT host_n, counter, 'checklist', id FROM checklists
    UNION ALL SELECT host_n, counter, 'checklistItem', id FROM checklist_items
    UNION ALL SELECT host_n, counter, 'timeEntry', id FROM time_entries
    UNION ALL SELECT host_n, counter, 'dayPlan', id FROM day_plans
    UNION ALL SELECT host_n, counter, 'dayPlanBlock', id FROM day_plan_blocks
    UNION ALL SELECT host_n, counter, 'rating', id FROM ratings
    UNION ALL SELECT host_n, counter, 'entry', id FROM entries
    UNION ALL SELECT host_n, counter, 'attachment', id FROM attachments
    UNION ALL SELECT host_n, counter, 'entryLink', id FROM entry_links;
