-- +goose Up

-- A confirmed refund of which the provider, asked late, answers that it knows no such
-- refund: a person may end it as failed, by name, and then its money is owed anew.
ALTER TABLE refund_operations
  ADD COLUMN denied_at timestamptz, -- NULL: it was not denied, or was told of again since
  ADD CHECK (denied_at IS NULL OR status IN ('confirmed', 'failed_later'));

-- That person's word stands in for the provider's: its refund counts as failed. Told of
-- again, as anything but failed, it is there after all, and the word stands no more.
ALTER TABLE provider_refunds
  ADD COLUMN disowned boolean NOT NULL DEFAULT false,
  ADD CHECK (NOT disowned OR status = 'failed');

-- A person ends a confirmed refund only where the provider has denied it; and a wrong
-- word of theirs is put right, as a wrong "not refunded" is: as the refund that the
-- provider has told of since, and as long as nothing follows it.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION move_refund() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF (OLD.id, OLD.order_id, OLD.payment_id, OLD.seat_id, OLD.parent, OLD.reason, OLD.amount_minor, OLD.currency, OLD.request)
       IS DISTINCT FROM (NEW.id, NEW.order_id, NEW.payment_id, NEW.seat_id, NEW.parent, NEW.reason, NEW.amount_minor, NEW.currency, NEW.request) THEN
      RAISE EXCEPTION 'refund operation % is frozen: its request is what its key stands for', OLD.id USING ERRCODE = 'check_violation';
    END IF;
    IF OLD.status = NEW.status THEN
      RETURN NULL;
    END IF;
    IF NEW.status <> ALL (CASE OLD.status
      WHEN 'queued' THEN '{submitted, pending, confirmed, failed_later, manual}'
      WHEN 'submitted' THEN '{queued, unknown, pending, confirmed, rejected, failed_later, manual}'
      WHEN 'unknown' THEN '{submitted, pending, confirmed, failed_later, manual}'
      WHEN 'pending' THEN '{confirmed, failed_later}'
      WHEN 'confirmed' THEN '{failed_later}'
      WHEN 'rejected' THEN '{confirmed}'
      WHEN 'failed_later' THEN '{confirmed}'
      WHEN 'manual' THEN '{queued, unknown, pending, confirmed, rejected, failed_later}'
      ELSE '{}' END::text[]) THEN
      RAISE EXCEPTION 'refund operation % cannot go from % to %', OLD.id, OLD.status, NEW.status USING ERRCODE = 'check_violation';
    END IF;
    IF OLD.status = 'confirmed' AND NEW.outcome = 'person_decided' AND OLD.denied_at IS NULL THEN
      RAISE EXCEPTION 'refund operation % was refunded, as far as the provider has told', OLD.id USING ERRCODE = 'check_violation';
    END IF;
    IF OLD.status IN ('rejected', 'failed_later') AND (EXISTS (SELECT FROM refund_operations f WHERE f.parent = OLD.id)
      OR NOT EXISTS (SELECT FROM provider_refunds r WHERE r.id = NEW.provider_refund_id AND r.status = 'succeeded'
        AND (r.operation = OLD.id OR OLD.status = 'failed_later' AND r.payment_id = OLD.payment_id))) THEN
      RAISE EXCEPTION 'refund operation % was not refunded, as far as the provider has told', OLD.id USING ERRCODE = 'check_violation';
    END IF;
  END IF;
  INSERT INTO refund_changes (operation, from_status, to_status, outcome, sends, looks, by)
  VALUES (NEW.id, CASE WHEN TG_OP = 'UPDATE' THEN OLD.status END, NEW.status, NEW.outcome, NEW.sends, NEW.looks, said_by());
  RETURN NULL;
END $$;
-- +goose StatementEnd

-- +goose Down
SELECT 'forward only';
