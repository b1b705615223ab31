-- What an item offers to allow for longer: the pattern that its person sees, and no other.
ALTER TABLE inbox ADD COLUMN pattern TEXT;

-- Earlier grants knew neither the walls nor where a command runs, and those of a run covered every
-- call of a tool: such calls ask again.
ALTER TABLE approval_grants ADD COLUMN used_at BIGINT;
UPDATE approval_grants SET revoked_at = created_at WHERE revoked_at IS NULL;

-- A yes to a skill's script covered all arguments and directories: now it is a grant like others.
DROP TABLE skill_scripts;
