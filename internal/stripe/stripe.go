// Package stripe is the payment provider's protocol as we speak it: payments
// are created, looked at and cancelled by Client, notices are verified by
// Verifier and read by ParseNotice, amounts are changed between our minor
// units and the provider's by ToProvider and FromProvider.
//
// Why the three calls are written by hand, and the vendor's SDK is used by the
// tests alone: a call here is exactly one send, and its caller must know
// whether it left. The SDK sets GetBody on every request, which lets Go's
// transport silently send a POST with an Idempotency-Key again on a connection
// that died; it takes a 2xx with any JSON for success; and its errors do not
// tell "never sent" from "sent, and no answer".
package stripe
