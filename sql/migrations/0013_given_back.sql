-- +goose Up

-- Passes whose holders said that they buy nothing (more). The pass itself stays
-- as it was written, and good: whoever claims by it all the same is inside again.
CREATE TABLE passes_given_back (
  event_id        text NOT NULL,
  epoch           bigint NOT NULL,
  take            bigint NOT NULL,
  at              timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (event_id, epoch, take),
  FOREIGN KEY (event_id, epoch, take) REFERENCES passes
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON passes_given_back
  FOR EACH STATEMENT EXECUTE FUNCTION append_only();

-- +goose Down
SELECT 'forward only';
