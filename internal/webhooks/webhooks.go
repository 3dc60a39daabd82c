// Package webhooks tells organisers, by signed requests to endpoints of theirs,
// what became true (P12).
//
// A delivery is one notice for one endpoint. It waits, is sent, and ends by being
// delivered or dead; dead is a list that people look at, and both can be sent anew.
// Every attempt is in the ledger before a byte of it leaves us. So what nobody knows
// the end of was perhaps delivered, is sent again under the same id, and is never
// gone: at least once, in any order, each with its subject's version.
//
// Whether an endpoint may be sent to is asked in the statement that takes its
// deliveries, under the lock of its row: whoever changes its state has the last
// word from that commit on.
package webhooks
