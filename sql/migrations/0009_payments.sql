-- +goose Up

-- Payments in depth: what late money does, what becomes of payments whose
-- answer or notice was lost, more time for buyers whom the provider's outage
-- kept from paying, and what each process may ask of the provider.

ALTER TABLE events
  -- What money does that comes after its order has expired: it goes back, or
  -- takes the same seats again if all of them are free.
  ADD COLUMN late text NOT NULL DEFAULT 'refund' CHECK (late IN ('refund', 'reclaim'));

-- More time for the orders of an event that were pending at one instant. Its
-- orders are extended a few at a time; the row says how many so far, and when
-- all were.
CREATE TABLE order_extensions (
  id              bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id        text NOT NULL REFERENCES events,
  -- Who asked, and by which Idempotency-Key: the same again goes on with it.
  organiser       text NOT NULL,
  attempt         text NOT NULL CHECK (length(attempt) BETWEEN 1 AND 200),
  by              text NOT NULL,
  extend_by       interval NOT NULL CHECK (extend_by BETWEEN '1 second' AND '1 hour'),
  reason          text NOT NULL DEFAULT '' CHECK (length(reason) <= 500),
  at              timestamptz NOT NULL DEFAULT clock_timestamp(),
  orders          int NOT NULL DEFAULT 0 CHECK (orders >= 0),
  done_at         timestamptz,
  UNIQUE (organiser, attempt)
);
CREATE INDEX order_extensions_of ON order_extensions (event_id, id);
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON order_extensions
  FOR EACH STATEMENT EXECUTE FUNCTION append_only();

ALTER TABLE orders
  -- It expired, and late money took the same seats again: then it is paid.
  ADD COLUMN reclaimed_at timestamptz,
  -- The one extension that moved its pay_by beside its entering of payment.
  ADD COLUMN extension bigint REFERENCES order_extensions,
  ADD CHECK (reclaimed_at IS NULL OR status = 'paid');

ALTER TABLE payments
  -- When the provider is to be asked about it next. NULL: there is nothing to ask.
  ADD COLUMN look_at timestamptz,
  -- Somebody is asking until then: nobody else does meanwhile.
  ADD COLUMN looking_until timestamptz,
  -- How often it was taken up: an answer is for the turn that it was asked in.
  ADD COLUMN looks int NOT NULL DEFAULT 0,
  -- Answers after the order's end that settled nothing.
  ADD COLUMN unknowns int NOT NULL DEFAULT 0,
  ADD CHECK (look_at IS NULL OR status IN ('opening', 'open', 'failed'));
UPDATE payments SET look_at = now() WHERE status IN ('opening', 'open')
  OR status = 'failed' AND provider_payment_id IS NOT NULL;
-- It fits only who asks what is to be looked at, and no other question about a
-- payment's status; and it fits that better than any other index, also in a plan
-- that was made while there were no payments.
CREATE INDEX payments_to_look ON payments (provider, look_at) WHERE look_at IS NOT NULL;

-- What each process declares that it may ask of the provider, written anew
-- while it runs, so that each can add all of them up before it starts.
CREATE TABLE provider_shares (
  process         text PRIMARY KEY,
  replicas        int NOT NULL CHECK (replicas > 0),
  calls_per_s     double precision NOT NULL CHECK (calls_per_s > 0),
  -- What the account may be asked in all, as this process was told.
  account_per_s   double precision NOT NULL CHECK (account_per_s > 0),
  at              timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE human_list
  DROP CONSTRAINT human_list_kind_check,
  ADD CONSTRAINT human_list_kind_check CHECK (kind IN (
    'wrong_amount', 'wrong_currency', 'wrong_order', 'unknown_order', 'unreadable', 'payment_unknown',
    'refund_manual', 'refund_rejected', 'refund_failed', 'refund_late', 'refund_by_hand', 'refund_differs',
    'outlet_stopped'));

-- +goose Down
SELECT 'forward only';
