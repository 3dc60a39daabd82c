-- +goose Up

-- Deliveries are looked for by what they are of and by when that became true. What
-- their notice says of both never changes, and is kept with them: an index finds
-- no column of another table.
ALTER TABLE deliveries ADD COLUMN notice_kind text, ADD COLUMN notice_at timestamptz;
UPDATE deliveries d SET notice_kind = n.kind, notice_at = n.at FROM notices n WHERE n.id = d.notice_id;
ALTER TABLE deliveries ALTER COLUMN notice_kind SET NOT NULL, ALTER COLUMN notice_at SET NOT NULL;

-- Whoever writes deliveries of many notices, as the relay does, says it himself.
-- +goose StatementBegin
CREATE FUNCTION name_delivery() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT n.kind, n.at INTO NEW.notice_kind, NEW.notice_at FROM notices n WHERE n.id = NEW.notice_id;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER name_delivery BEFORE INSERT ON deliveries FOR EACH ROW
  WHEN (NEW.notice_kind IS NULL OR NEW.notice_at IS NULL) EXECUTE FUNCTION name_delivery();

-- The newest first: by when it became true. Replays go by the numbers alone.
CREATE INDEX deliveries_newest ON deliveries (endpoint_id, notice_at, id);
CREATE INDEX deliveries_newest_of_kind ON deliveries (endpoint_id, notice_kind, notice_at, id);
DROP INDEX deliveries_dead;
CREATE INDEX deliveries_dead ON deliveries (endpoint_id, notice_at, id) WHERE status = 'dead';

-- +goose Down
SELECT 'forward only';
