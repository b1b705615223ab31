-- Where the texts of a record came from, field by field, as a JSON object; NULL: the person's own.
ALTER TABLE categories ADD COLUMN provenance TEXT;
ALTER TABLE labels ADD COLUMN provenance TEXT;
ALTER TABLE tasks ADD COLUMN provenance TEXT;
ALTER TABLE checklists ADD COLUMN provenance TEXT;
ALTER TABLE checklist_items ADD COLUMN provenance TEXT;
ALTER TABLE time_entries ADD COLUMN provenance TEXT;
ALTER TABLE day_plans ADD COLUMN provenance TEXT;
ALTER TABLE day_plan_blocks ADD COLUMN provenance TEXT;
ALTER TABLE ratings ADD COLUMN provenance TEXT;
ALTER TABLE entries ADD COLUMN provenance TEXT;
ALTER TABLE attachments ADD COLUMN provenance TEXT;
ALTER TABLE entry_links ADD COLUMN provenance TEXT;
